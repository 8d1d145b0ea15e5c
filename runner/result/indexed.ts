import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { damageIn, readJson } from "../evidence/json.ts";
import { smallestOf } from "../extremes.ts";
import { Metric } from "../model/plan.ts";
import { MetricSummary, Result, Run, Search } from "../model/result.ts";

/** What the index takes from a result.json. Other fields of the result, its runs and searches are skipped, also those of a later version. */
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

/** A run folder, as the index knows it. */
export interface Entry {
	/** Relative to the folder of the index, with "/": "published/nats-stall". */
	readonly folder: string;
	/** What the row opens, relative to the index and encoded as a link; null: there is no report. */
	readonly href: string | null;
	/** ms since 1970 at which its first run began; null: not known. */
	readonly at: number | null;
	/** null: see `problem`. */
	readonly result: IndexedResult | null;
	/** One sentence: why its figures cannot be shown. */
	readonly problem: string | null;
}

/** Every run folder, the newest first, those without a date at the end. Only each result.json is read, and nothing that it names. */
export function readRuns(root: string): Entry[] {
	return runFolders(root)
		.map((folder) => entryOf(root, folder))
		.sort(
			(a, b) =>
				(b.at ?? Number.NEGATIVE_INFINITY) - (a.at ?? Number.NEGATIVE_INFINITY) ||
				(a.folder < b.folder ? 1 : -1),
		);
}

/**
 * The run folders in `root`, and in those of its folders that are none themselves, relative to it and by name. A folder reached by a
 * symbolic link is left out: it would be there twice.
 */
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

/** Is this the folder of a run, with its measured files? Then its result can be computed again. */
export function holdsRuns(folder: string): boolean {
	return foldersIn(join(folder, "runs")).some((name) =>
		existsSync(join(folder, "runs", name, "plan.json")),
	);
}

/** The result alone is enough for the index, and for reports: somebody may keep no more of old runs. */
export function holdsResult(folder: string): boolean {
	return existsSync(join(folder, "result.json"));
}

/** Is there anything of a run in it? */
export function isRunFolder(folder: string): boolean {
	return holdsResult(folder) || holdsRuns(folder);
}

/** What the index says of a run folder in `root`. */
export function entryOf(root: string, folder: string): Entry {
	const where = join(root, folder);
	const report = ["report.html", "report.md"].find((name) => existsSync(join(where, name)));
	const href =
		report === undefined ? null : [...folder.split("/"), report].map(encodeURIComponent).join("/");
	const { result, problem } = read(where);
	const starts = [...(result?.runs ?? []), result?.environment]
		.map((begun) => Date.parse(begun?.startedAt ?? ""))
		.filter(Number.isFinite);
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
		// Not there, or nobody may look into it: then it holds nothing that could be listed.
		return [];
	}
}

function read(where: string): Pick<Entry, "result" | "problem"> {
	try {
		return { result: readJson(join(where, "result.json"), IndexedResult), problem: null };
	} catch (error) {
		const way = holdsRuns(where)
			? "mqbench report on this folder makes it anew"
			: "the measured files are not there to make it anew";
		return { result: null, problem: `The result.json cannot be read: ${damageIn(error)}; ${way}` };
	}
}
