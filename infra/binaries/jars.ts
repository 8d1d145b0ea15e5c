import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { failure } from "../../runner/errors.ts";
import { reasonOf } from "../../runner/reason.ts";
import { sha256 } from "../../runner/sha256.ts";
import { commandLine } from "../../runner/shell.ts";
import { orInterrupted } from "../../runner/stop.ts";
import type { World } from "../../runner/world.ts";
import { takeLock } from "../lock.ts";
import { startSupervised } from "../process.ts";
import { makeCache } from "./build.ts";
import { cacheFolder } from "./cache.ts";
import { formatSums, parseSums, sumsOf, type WrongFile, wrongFile } from "./sums.ts";
import { keepUsed } from "./used.ts";

export interface JarsOptions {
	/** What is fetched, for the folder's name and for messages: "kafka". */
	readonly name: string;
	/** The pom that pins all versions. */
	readonly pom: string;
	/** Properties of the pom to override: {kafka: "4.0.0"}. */
	readonly properties: Readonly<Record<string, string>>;
	/** File with the sha256 of each jar. null: none are pinned, so what Maven has fetched is taken as it is, and may not change after that. */
	readonly sums: string | null;
	/** Path of Maven's program. */
	readonly mvn: string;
	readonly agent: string;
	readonly world: World;
	/** Key of the system, for errors. */
	readonly system: string;
}

/**
 * Folder with the jars of a pom and everything they need at run time: from the cache, or fetched by this machine's Maven with its own
 * settings.xml. Fetched once for each state of the pom, under a lock; checked after that and before each use. Fails with `broker-missing`, naming
 * the jar that is not what it should be.
 */
export async function resolveJars(options: JarsOptions): Promise<string> {
	const { name, pom, properties, world } = options;
	const parent = path.join(cacheFolder(world.env, process.platform), "jars");
	const hash = sha256((await readFile(pom, "utf8")) + JSON.stringify(properties));
	const folder = path.join(parent, `${name}-${hash.slice(0, 16)}`);
	keepUsed(folder);
	if (await isThere(options, folder)) return folder;
	await makeCache(parent);
	const lock = await takeLock(`${folder}.lock`, world.stop, () => {}).catch((error) => {
		orInterrupted(world.stop);
		throw failure("cache-unwritable", { path: parent, reason: reasonOf(error) });
	});
	try {
		// The holder of the lock may have fetched them meanwhile.
		if (!(await isThere(options, folder))) await fetch(options, parent, folder);
	} finally {
		await lock.release();
	}
	return folder;
}

// --- internal ---

/** A slow download may go on; one that stands still is given up. */
const FETCH_MS = 600_000;

/** What the jars of a folder were when Maven had fetched them: lies beside it, as Java loads all that lies in it. */
function recordOf(folder: string): string {
	return `${folder}.sha256`;
}

/** The folder gets its name only when it is complete. One of which nobody knows what was fetched is fetched anew. */
async function isThere({ sums, system }: JarsOptions, folder: string): Promise<boolean> {
	if (!existsSync(folder)) return false;
	if (sums === null && !existsSync(recordOf(folder))) return false;
	const wrong = await wrongIn(folder, sums ?? recordOf(folder));
	if (wrong === null) return true;
	throw failure("broker-missing", {
		system,
		what: wrongText(wrong, folder),
		remedy: `Remove that folder, and Maven fetches it again: rm -r ${commandLine([folder])}`,
	});
}

async function wrongIn(folder: string, sums: string) {
	return wrongFile(folder, parseSums(await readFile(sums, "utf8")));
}

function wrongText({ file, found, wanted }: WrongFile, where: string): string {
	if (found === null) return `${file} is missing in ${where}`;
	if (wanted === null) return `${file} in ${where} is not one of the files that mqbench knows`;
	return `${file} in ${where} is not the file that mqbench knows (its sha256 is ${found}, not ${wanted})`;
}

async function fetch(options: JarsOptions, parent: string, folder: string): Promise<void> {
	const { world } = options;
	const prefix = `.${path.basename(folder)}-`;
	for (const left of await readdir(parent))
		if (left.startsWith(prefix))
			await rm(path.join(parent, left), { recursive: true, force: true });
	const temporary = await mkdtemp(path.join(parent, prefix));
	try {
		await maven(options, temporary);
		orInterrupted(world.stop);
		await checkFetched(options, temporary, recordOf(folder));
		await rm(folder, { recursive: true, force: true });
		await rename(temporary, folder);
	} finally {
		await rm(temporary, { recursive: true, force: true });
	}
}

/** Maven checks what it downloads, but not what it has kept from earlier; and a repository may have exchanged file and checksum. */
async function checkFetched(
	{ sums, system }: JarsOptions,
	fetched: string,
	record: string,
): Promise<void> {
	if (sums === null) return writeFile(record, formatSums(await sumsOf(fetched)));
	const wrong = await wrongIn(fetched, sums);
	if (wrong === null) return;
	throw failure("broker-missing", {
		system,
		what: wrongText(wrong, "what Maven fetched"),
		remedy: `Remove it from the folder in which Maven keeps it, and try again: find ~/.m2 -name ${wrong.file} -delete`,
	});
}

async function maven(options: JarsOptions, output: string): Promise<void> {
	const { mvn, agent, pom, properties, world, name, system } = options;
	const said: string[] = [];
	const hear = (line: string) => {
		if (line.trim() !== "") said.push(line);
		if (said.length > 50) said.shift();
	};
	const child = startSupervised({
		agent,
		argv: [
			mvn,
			"--batch-mode",
			"--quiet",
			// Its default for a wrong checksum is a warning.
			"--strict-checksums",
			"-Dstyle.color=never",
			"-f",
			pom,
			...Object.entries(properties).map(([key, value]) => `-D${key}=${value}`),
			"dependency:copy-dependencies",
			"-DincludeScope=runtime",
			`-DoutputDirectory=${output}`,
		],
		cwd: output,
		// Maven uses the user's own settings, mirrors and proxies.
		env: Object.fromEntries(
			Object.entries(world.env).filter(
				(entry): entry is [string, string] => entry[1] !== undefined,
			),
		),
		graceMs: 3_000,
		onStdout: hear,
		onStderr: hear,
	});
	const over = new AbortController();
	const limit = sleep(FETCH_MS, "late" as const, {
		signal: AbortSignal.any([world.stop, over.signal]),
	}).catch(() => "stopped" as const);
	const first = await Promise.race([child.ended, limit]);
	over.abort();
	child.abandon();
	await child.ended;
	orInterrupted(world.stop);
	if (typeof first === "object" && first.code === 0) return;
	throw failure("broker-missing", {
		system,
		what: `Maven cannot fetch ${name}${first === "late" ? ` within ${FETCH_MS / 60_000} minutes` : ""}: ${explain(said)}`,
		remedy: `Configure a Maven repository that this machine can reach (settings.xml), or use an installation of yours: binary: /path/to/${name}`,
	});
}

/** The first line that says what is wrong; Maven prints a screenful after it. */
function explain(said: readonly string[]): string {
	const wrong = said.find((line) => /ERROR/.test(line)) ?? said.at(-1) ?? "";
	return wrong
		.replace(/^\[ERROR\]\s*/, "")
		.replace(/\s*->\s*\[Help 1\].*$/, "")
		.slice(0, 500);
}
