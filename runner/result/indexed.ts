import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { damageIn, readJson } from "../evidence/json.ts";
import { smallestOf } from "../extremes.ts";
import { Metric } from "../model/plan.ts";
import { MetricSummary, Result, Run, Search } from "../model/result.ts";

/** The index reads only these. Other fields, also in later versions, are skipped. */
const IndexedRun = z.object({
	...Run.pick({ system: true, case: true, repeat: true, search: true, verdict: true }).shape,
	...Run.pick({ state: true, startedAt: true, brokerVersion: true, main: true }).shape,
	...Run.pick({ load: true, versions: true, throughput: true }).shape,
	metrics: z.partialRecord(
		Metric,
		z.object(MetricSummary.pick({ percentiles: true }).shape).nullable(),
	),
});
export type IndexedRun = z.infer<typeof IndexedRun>;

const IndexedResult = z.object({
	...Result.pick({ schema: true, scenario: true, runId: true, quick: true, verdict: true }).shape,
	environment: Result.shape.environment,
	runs: z.array(IndexedRun),
	searches: z.array(z.object(Search.omit({ runs: true }).shape)),
});
export type IndexedResult = z.infer<typeof IndexedResult>;

export type Entry = ReturnType<typeof entryOf>;

/** Newest first, undated ones last. Reads only each result.json, and no files that it names. */
export function readRuns(root: string): Entry[] {
	return runFolders(root)
		.map((folder) => entryOf(root, folder))
		.sort((a, b) => (b.at ?? -Infinity) - (a.at ?? -Infinity) || (a.folder < b.folder ? 1 : -1));
}

/** In `root` or one folder deeper, relative to it, by name. Symbolic links are left out because their folders would appear twice. */
export function runFolders(root: string): string[] {
	const own = (folder: string) => isRunFolder(join(root, folder));
	return foldersIn(root).flatMap((folder) =>
		own(folder)
			? [folder]
			: foldersIn(join(root, folder))
					.map((inner) => `${folder}/${inner}`)
					.filter(own),
	);
}

/** Whether the result can be computed again from measured files. */
export function holdsRuns(folder: string): boolean {
	return foldersIn(join(folder, "runs")).some((name) =>
		existsSync(join(folder, "runs", name, "plan.json")),
	);
}

/** Enough for the index and reports: raw files of old runs may be gone. */
export function holdsResult(folder: string): boolean {
	return existsSync(join(folder, "result.json"));
}

export function isRunFolder(folder: string): boolean {
	return holdsResult(folder) || holdsRuns(folder);
}

/** `folder`: relative to the index's folder, with "/": "published/nats-stall". */
export function entryOf(root: string, folder: string) {
	const where = join(root, folder);
	const report = ["report.html", "report.md"].find((name) => existsSync(join(where, name)));
	// Relative to the index, and encoded as a link.
	const href =
		report === undefined ? null : [...folder.split("/"), report].map(encodeURIComponent).join("/");
	const { result, problem } = read(where);
	const starts = [...(result?.runs ?? []), result?.environment]
		.map((begun) => Date.parse(begun?.startedAt ?? ""))
		.filter(Number.isFinite);
	// ms since 1970 at which the first run began.
	const at = starts.length === 0 ? null : smallestOf(starts);
	return { folder, href, at, result, problem };
}

// --- internal ---

function foldersIn(folder: string): string[] {
	try {
		return readdirSync(folder, { withFileTypes: true })
			.filter((e) => e.isDirectory() && !e.name.startsWith("."))
			.map((e) => e.name)
			.sort();
	} catch {
		return [];
	}
}

function read(where: string) {
	try {
		return { result: readJson(join(where, "result.json"), IndexedResult), problem: null };
	} catch (error) {
		const way = holdsRuns(where)
			? "npx mqbench report on this folder makes it"
			: "the measured files are not there to make it again";
		return { result: null, problem: `The result.json cannot be read: ${damageIn(error)}; ${way}` };
	}
}
