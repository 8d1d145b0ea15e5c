import { fileURLToPath } from "node:url";
import type { Result } from "../model/result.ts";
import { fixture } from "../run/fixture.fake.ts";
import { buildResult } from "./result.ts";
import { readResult } from "./result-files.ts";

/** For tests: the result of a stored run, a copy for each who asks: it may be changed. */
export function fixtureResult(name: string): Result {
	return storedResult(fixture(name));
}

/** For tests: the folder of a published report. */
export function publishedFolder(name: string): string {
	return fileURLToPath(new URL(`../../reports/published/${name}`, import.meta.url));
}

/** For tests: what is published, of the repeats the first alone: each system meets each case once. */
export function publishedOnce(name: string): Result {
	const result = readResult(publishedFolder(name));
	return { ...result, runs: result.runs.filter(({ repeat }) => repeat === 1) };
}

const read = new Map<string, Result>();

/** For tests: the result of a folder that nobody changes. It is read once: 20 runs take more than a second. */
export function storedResult(folder: string): Result {
	const result = read.get(folder) ?? buildResult(folder);
	read.set(folder, result);
	return structuredClone(result);
}
