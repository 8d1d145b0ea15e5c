import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { smallestOf } from "../extremes.ts";
import { readGiven } from "../given-folder.ts";
import { EnvironmentFile } from "../model/environment-file.ts";
import { Metric } from "../model/plan.ts";
import { Percentile, Result, Run, Search } from "../model/result.ts";

/**
 * What the index takes from a result.json. All else in it is skipped, so that a file with more fields can be read too; what is
 * missing without a default makes a file one of another version.
 */
const IndexedRun = Run.pick({
	system: true,
	case: true,
	repeat: true,
	search: true,
	verdict: true,
	state: true,
	startedAt: true,
	brokerVersion: true,
	main: true,
})
	.extend({
		load: Run.shape.load.strip(),
		versions: z.object({ server: z.string().nullable() }).nullable(),
		metrics: z.partialRecord(
			Metric,
			z.object({ percentiles: z.array(Percentile.strip()) }).nullable(),
		),
		throughput: Run.shape.throughput.strip(),
	})
	.strip();
export type IndexedRun = z.infer<typeof IndexedRun>;

const IndexedSearch = Search.omit({ hi: true, limitedBy: true, confirmed: true, runs: true });

const IndexedResult = Result.pick({
	schema: true,
	scenario: true,
	runId: true,
	quick: true,
	verdict: true,
})
	.extend({
		environment: EnvironmentFile.strip().nullable(),
		runs: z.array(IndexedRun),
		searches: z.array(IndexedSearch.strip()).default([]),
	})
	.strip();
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
	/** null: no result. */
	readonly scenario: string | null;
	readonly verdict: IndexedResult["verdict"] | null;
	readonly systems: readonly string[];
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
	const starts = [...(result?.runs ?? []), ...(result?.environment ? [result.environment] : [])]
		.map(({ startedAt }) => Date.parse(startedAt ?? ""))
		.filter(Number.isFinite);
	return {
		folder,
		href,
		at: starts.length === 0 ? null : smallestOf(starts),
		result,
		problem,
		scenario: result?.scenario ?? null,
		verdict: result?.verdict ?? null,
		systems: [...new Set(result?.runs.map((run) => run.system) ?? [])],
	};
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
	const path = join(where, "result.json");
	const no = (problem: string) => ({ result: null, problem });
	const way = holdsRuns(where)
		? "mqbench report on this folder makes it anew"
		: "the measured files are not there to make it anew";
	if (!existsSync(path))
		return no(`There is no result.json: its command still runs, or was killed; ${way}`);
	let value: unknown;
	try {
		value = JSON.parse(readGiven(path));
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		return no(
			code === undefined
				? `The result.json is not JSON; it may be cut off; ${way}`
				: `The result.json cannot be read (${code})`,
		);
	}
	const parsed = IndexedResult.safeParse(value);
	if (parsed.success) return { result: parsed.data, problem: null };
	const schema = (value as { schema?: unknown } | null)?.schema;
	if (typeof schema === "number" && schema !== 2)
		return no(
			`The result.json has schema ${schema}, and this mqbench knows 2: use the version that made it`,
		);
	const field = parsed.error.issues[0]?.path.join(".");
	return no(
		`The result.json is not of this version of mqbench${field ? ` (${field} does not fit)` : ""}; ${way}`,
	);
}
