import {
	cpSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	statSync,
	writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { packageFolder } from "../../package.ts";
import { buildResult } from "../../report/result.ts";
import { writeReports } from "../../report/write.ts";
import { maskUrls } from "../../secrets.ts";
import { sum } from "../../stats/sum.ts";
import { tell } from "../../text/tell.ts";
import { formatBytes } from "../../units.ts";

/** What no published file may name, and what that is. */
export type Private = Readonly<Record<string, string>>;

/**
 * Copies of a run folder what its figures are computed from, and makes the reports anew from the copy. Gives its size, and what keeps it from
 * being published, each as a sentence: then there is no copy.
 */
export function copyPublished(
	folder: string,
	target: string,
	commit: string | null,
	here: Private = thisMachine(folder),
): { readonly bytes: number; readonly refused: readonly string[] } {
	const part = `${target}.part`;
	rmSync(part, { recursive: true, force: true });
	try {
		for (const file of filesOf(folder).filter(isRaw)) {
			mkdirSync(path.dirname(path.join(part, file)), { recursive: true });
			cpSync(path.join(folder, file), path.join(part, file));
		}
		const result = buildResult(part);
		writeReports(part, result);
		const about = { schema: 1, commit };
		writeFileSync(path.join(part, ABOUT), `${JSON.stringify(about)}\n`);
		const { brokers = [], clients = [] } = result.environment?.rig ?? {};
		const hosts = [...brokers, ...clients].map((name) => [name, "a host"]);
		const names = { ...here, ...Object.fromEntries(hosts) };
		const files = filesOf(part);
		const sizes = files.map((file) => statSync(path.join(part, file)).size);
		const bytes = sum(sizes);
		const refused = [
			...files.flatMap((file, i) => tooLarge(file, sizes[i] ?? 0, MOST_OF_FILE)),
			...tooLarge(path.basename(target), bytes, MOST),
			...files.flatMap((file) => secretsIn(part, file, names)),
		];
		if (refused.length === 0) renameSync(part, target);
		return { bytes, refused };
	} finally {
		rmSync(part, { recursive: true, force: true });
	}
}

// --- internal ---

/** Of which commit the sources were that measured. */
const ABOUT = "published.json";

/** The repository keeps them forever: 20 runs of 20 s take 8 MB. */
const MOST = 32 * 2 ** 20;
const MOST_OF_FILE = 6 * 2 ** 20;

/** The raw data (reports/README.md, "The folder of a run"). No logs: brokers and k6 write whatever they like there. */
const RAW =
	/^(?:scenario\.yaml|(?:environment|command|against)\.json|(?:runs|floors)\/[^/]+\/(?:plan\.json|script\.js|run\.json|client-\d+\.(?:hlog|jsonl|ledger)|resources[\w-]*\.jsonl))$/;

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

function tooLarge(file: string, bytes: number, most: number): string[] {
	return bytes <= most
		? []
		: [tell("publish-large", { file, size: formatBytes(bytes), most: formatBytes(most) })];
}

/** Histograms are numbers, and the page holds what result.json holds, beside a library of which any short name may be a part. */
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
	return [...new Set(found)].map((what) => tell("publish-private", { file, what }));
}

/** As a word of its own. */
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
