import {
	copyFileSync,
	cpSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	statSync,
	writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { buildResult } from "../../compare/build.ts";
import type { Result } from "../../model/result.ts";
import { packageFolder } from "../../package.ts";
import { writeReports } from "../../render/write.ts";
import { maskUrls } from "../../secrets.ts";
import { sum } from "../../stats/sum.ts";
import { formatBytes } from "../../units.ts";
import { ARCHIVE, pack, unpack } from "./archive.ts";

/** Names that no published file may contain, and their meaning. */
export type Private = Readonly<Record<string, string>>;

/**
 * Packs the raw data of a run folder, and puts the reports made from it next to the archive. Returns their size, and the reasons against
 * publishing them, each as a sentence: with any reason nothing is written.
 */
export function copyPublished(
	folder: string,
	target: string,
	commit: string | null,
	here: Private = thisMachine(folder),
): { readonly bytes: number; readonly refused: readonly string[] } {
	return inTemporary((raw) => {
		for (const file of filesOf(folder).filter(isRaw)) {
			mkdirSync(path.dirname(path.join(raw, file)), { recursive: true });
			cpSync(path.join(folder, file), path.join(raw, file));
		}
		writeFileSync(path.join(raw, ABOUT), `${JSON.stringify({ schema: 1, commit })}\n`);
		const part = `${target}.part`;
		rmSync(part, { recursive: true, force: true });
		mkdirSync(part, { recursive: true });
		try {
			pack(raw, filesOf(raw), path.join(part, ARCHIVE));
			const { environment } = showFrom(raw, part);
			const { brokers = [], clients = [] } = environment?.rig ?? {};
			const hosts = [...brokers, ...clients].map((name) => [name, "a host"]);
			const names = { ...here, ...Object.fromEntries(hosts) };
			const bytes = sum(filesOf(part).map((file) => statSync(path.join(part, file)).size));
			const refused = [
				...tooLarge(path.basename(target), bytes),
				...filesOf(raw).flatMap((file) => secretsIn(raw, file, names)),
			];
			if (refused.length === 0) renameSync(part, target);
			return { bytes, refused };
		} finally {
			rmSync(part, { recursive: true, force: true });
		}
	});
}

/** Makes the reports of a published folder again, from its archive. */
export function renderPublished(folder: string): Result {
	return inTemporary((raw) => {
		unpack(folder, raw);
		return showFrom(raw, folder);
	});
}

// --- internal ---

/** The commit of the sources that measured. */
const ABOUT = "published.json";

/** The repository keeps it forever: 60 runs of 20 s take 13 MB. */
const MOST = 32 * 2 ** 20;

/** The files next to the archive, readable without unpacking it. */
const SHOWN = ["report.html", "report.md", "result.json", "scenario.yaml", "environment.json"];

/** Computes everything from the raw data in `raw`, and copies the files to show. */
function showFrom(raw: string, into: string): Result {
	const result = buildResult(raw);
	writeReports(raw, result);
	for (const name of SHOWN) copyFileSync(path.join(raw, name), path.join(into, name));
	return result;
}

function inTemporary<T>(use: (folder: string) => T): T {
	const folder = mkdtempSync(path.join(os.tmpdir(), "mqbench-publish-"));
	try {
		return use(folder);
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

/** The raw data (reports/README.md, "The folder of a run"). No logs: brokers and k6 write whatever they like there. */
const RAW =
	/^(?:scenario\.yaml|(?:environment|command|against)\.json|(?:runs|floors)\/[^/]+\/(?:plan\.json|script\.js|run\.json|client-\d+\.(?:hlog|jsonl|ledger)|resources[\w-]*\.jsonl|broker-metrics\.jsonl))$/;

function isRaw(file: string): boolean {
	return RAW.test(file);
}

/** Below the folder, as paths within it. */
function filesOf(folder: string): string[] {
	return readdirSync(folder, { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile())
		.map((entry) =>
			path.relative(folder, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, "/"),
		)
		.sort();
}

function tooLarge(file: string, bytes: number): string[] {
	return bytes <= MOST
		? []
		: [
				`${file} has ${formatBytes(bytes)}, and ${formatBytes(MOST)} is the most: measure fewer cases, or shorter windows`,
			];
}

/** Histograms are numbers, and the page has the content of result.json, plus a library that may contain any short name. */
const READ = /\.(?:json|jsonl|js|yaml|md|csv|xml)$/;

function secretsIn(folder: string, file: string, names: Private): string[] {
	if (!READ.test(file)) return [];
	const text = readFileSync(path.join(folder, file), "utf8");
	const address = /(?<![\d.])(?!127\.|0\.0\.0\.0)\d{1,3}(?:\.\d{1,3}){3}(?![\d.])/;
	const found = [
		...(maskUrls(text) === text ? [] : ["a password"]),
		...(address.exec(text) ?? []),
		...Object.entries(names)
			.filter(([name]) => isIn(name, text))
			.map(([, what]) => what),
	];
	return [...new Set(found)].map(
		(what) =>
			`${file} names ${what}: take it out of the scenario, or measure where nothing has to be hidden`,
	);
}

/** As a whole word. */
function isIn(name: string, text: string): boolean {
	const at = text.indexOf(name);
	if (name.length < 3 || at < 0) return false;
	const word = RegExp(`(?<![\\w-])${name.replaceAll(/[^\w\s]/g, "\\$&")}(?![\\w-])`);
	return word.test(text);
}

function thisMachine(folder: string): Private {
	return {
		...(os.hostname() === "localhost" ? {} : { [os.hostname()]: "this machine" }),
		[os.homedir()]: "a folder of this machine",
		[packageFolder]: "a folder of this machine",
		[path.resolve(folder)]: "a folder of this machine",
	};
}
