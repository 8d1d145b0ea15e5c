import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { buildResult } from "../compare/build.ts";
import { fixture } from "../evidence/fixture.fake.ts";
import type { Result } from "../model/result.ts";
import { packageFolder } from "../package.ts";
import { writeReports } from "../render/write.ts";
import { sources } from "../sources.fake.ts";
import { readResult } from "./result-files.ts";

/** For tests: the result of a stored run, copied for each caller because it may be changed. */
export function fixtureResult(name: string): Result {
	return storedResult(fixture(name));
}

/** For tests: the published reports. */
export const PUBLISHED = path.join(packageFolder, "reports", "published");

/**
 * For tests: a published report's run folder, unpacked, with its reports as these sources make them. Making them takes up to five
 * seconds and many tests need them, so they are kept in the temporary folder until the archive or the sources change.
 */
export function publishedFolder(name: string): string {
	const kept = path.join(tmpdir(), "mqbench-published", `${name}-${stateOf(name)}`);
	if (existsSync(kept)) return kept;
	const folder = path.dirname(kept);
	mkdirSync(folder, { recursive: true });
	for (const old of readdirSync(folder).map((entry) => path.join(folder, entry)))
		if (Date.now() - (statSync(old, { throwIfNoEntry: false })?.mtimeMs ?? 0) > 24 * 3600e3)
			rmSync(old, { recursive: true, force: true });
	const part = mkdtempSync(`${kept}-`);
	execFileSync("tar", ["-xzf", path.join(PUBLISHED, name, "runs.tar.gz"), "-C", part]);
	writeReports(part, buildResult(part));
	try {
		renameSync(part, kept);
	} catch {
		rmSync(part, { recursive: true });
	}
	return kept;
}

/** For tests: the published result, with only the first repeat: each system meets each case once. */
export function publishedOnce(name: string): Result {
	const folder = publishedFolder(name);
	const result = published.get(folder) ?? readResult(folder);
	published.set(folder, result);
	return structuredClone({ ...result, runs: result.runs.filter(({ repeat }) => repeat === 1) });
}

const published = new Map<string, Result>();
const read = new Map<string, Result>();

/** For tests: the result of a folder that is never changed. It is read once: 20 runs take more than a second. */
export function storedResult(folder: string): Result {
	const result = read.get(folder) ?? buildResult(folder);
	read.set(folder, result);
	return structuredClone(result);
}

const states = new Map<string, string>();

function stateOf(name: string): string {
	const known = states.get(name);
	if (known !== undefined) return known;
	const hash = createHash("sha256");
	for (const file of [...sources(), `reports/published/${name}/runs.tar.gz`])
		hash.update(readFileSync(path.join(packageFolder, file)));
	const state = hash.digest("hex").slice(0, 16);
	states.set(name, state);
	return state;
}
