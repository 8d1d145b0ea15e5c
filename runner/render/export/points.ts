import path from "node:path";
import { withoutOf } from "../../compare/baseline-of-result.ts";
import { buildResult } from "../../compare/build.ts";
import { failure, MqbenchError } from "../../errors.ts";
import type { Result, Run, Search } from "../../model/result.ts";
import { type Figure, field, figuresOf, HIGHEST_RATE, shownFigures } from "../../result/fields.ts";
import { isRunFolder, runFolders } from "../../result/indexed.ts";
import { readResult } from "../../result/result-files.ts";
import { runTitle } from "../../result/words.ts";
import type { World } from "../../world.ts";

/** A run whose figures count, or the answer of a search. */
export interface Point {
	readonly result: Result;
	/** Of a search its first. */
	readonly run: Run;
	readonly search: Search | null;
	/** ms since 1970. */
	readonly atMs: number;
	/** Those that have a value. */
	readonly figures: readonly Known[];
}

export type Known = Figure & { readonly value: number };

/** A file of an export; its name is relative to the export's folder, and one may lie in a folder of its own. */
export interface ExportedFile {
	readonly name: string;
	readonly text: string;
}

/** What `--export` writes for a tool. */
export type Format = (points: readonly Point[]) => ExportedFile[];

interface Points {
	readonly points: readonly Point[];
	readonly leftOut: readonly LeftOut[];
}

/** A run or a folder that has no figures. */
interface LeftOut {
	/** A sentence: which one, and why. */
	readonly said: string;
	/** null: there is no run in it that could be read. */
	readonly verdict: Run["verdict"] | null;
}

/**
 * The figures of run folders, and of all runs in folders that hold some, as the index finds them. Each run counts once, however often it was
 * copied. Throws for a folder without any run.
 */
export function readPoints(folders: readonly string[], { cwd }: Pick<World, "cwd">): Points {
	const unread: LeftOut[] = [];
	const found = new Map<string, Points>();
	for (const given of folders) {
		const where = path.resolve(cwd, given);
		const names = isRunFolder(where) ? ["."] : runFolders(where);
		if (names.length === 0) throw failure("no-runs", { path: given });
		for (const name of names) {
			const shown = path.join(given, name);
			const result = resultIn(path.join(where, name));
			if (typeof result === "string")
				unread.push({ said: `${shown}: left out: ${result}`, verdict: null });
			else if (!found.has(result.runId)) found.set(result.runId, pointsOf(result, shown));
		}
	}
	const all = [...found.values()];
	return {
		points: all.flatMap(({ points }) => points),
		leftOut: [...unread, ...all.flatMap(({ leftOut }) => leftOut)],
	};
}

/**
 * The runs of a report that say something about their systems: those that passed or failed, as they were planned. INVALID, INCONCLUSIVE,
 * interrupted, broken and stopped ones are left out, and so is all that `--quick` has shortened. Of a search its answer counts, not its runs.
 */
export function pointsOf(result: Result, shown: string): Points {
	const own = result.runs
		.filter((run) => run.search === null)
		.map((run) => ({ run, search: null, whyNot: whyNotRun(run), title: runTitle(run, result) }));
	const searches = result.searches.map((search) => ({
		run: result.runs.find(({ index }) => index === search.runs[0]?.index),
		search,
		whyNot: whyNotSearch(search),
		title: `${search.system}, ${search.case}`,
	}));
	const points: Point[] = [];
	const leftOut: LeftOut[] = [];
	for (const { run, search, whyNot, title } of [...own, ...searches]) {
		const atMs = Date.parse(run?.startedAt ?? "");
		const quick = result.quick ? "shortened by --quick, which gives no result" : null;
		const why = quick ?? whyNot ?? (Number.isNaN(atMs) ? "it is not known when it was made" : null);
		if (why === null && run !== undefined)
			points.push({ result, run, search, atMs, figures: known(run, search) });
		else
			leftOut.push({
				said: `${shown}: ${title}: left out: ${why}`,
				verdict: (search ?? run)?.verdict ?? null,
			});
	}
	return { points, leftOut };
}

/**
 * What tools are given that watch each figure: percentiles and max of the main metric, and rates where the system decides them. More would
 * only raise more false alarms. Weak percentiles are among them: a stall makes its own percentiles weak, so without them a figure would be
 * missing just when it is bad.
 */
export function watchedFigures({ run, figures }: Point): Known[] {
	const { main, load } = run;
	const values = Object.fromEntries(figures.map(({ id, value }) => [id, value]));
	const shown = shownFigures([{ main, closed: load.schedule.kind === "closed", figures: values }]);
	return shown.flatMap((id) => figures.filter((figure) => figure.id === id));
}

// --- internal ---

/** From its result.json, else from its measured files; a text says why from neither. */
function resultIn(folder: string): Result | string {
	let why = "";
	for (const read of [readResult, buildResult])
		try {
			return read(folder);
		} catch (error) {
			if (!(error instanceof MqbenchError)) throw error;
			why ||= error.message;
		}
	return why;
}

function known(run: Run, search: Search | null): Known[] {
	const figures = search === null ? figuresOf(run) : [{ ...field(HIGHEST_RATE), value: search.lo }];
	return figures.filter((figure): figure is Known => figure.value !== null);
}

/** null: its figures count. */
function whyNotRun(run: Run): string | null {
	if (run.verdict === "pass" || run.verdict === "fail") return withoutOf(run);
	return [run.verdict.toUpperCase(), run.why].filter((part) => part !== null).join(", ");
}

/** What the generator, or the end of the search, has bounded is no figure of the system. */
function whyNotSearch({ verdict, lo, limitedBy, answer }: Search): string | null {
	return verdict === "pass" && lo !== null && limitedBy === "system" ? null : answer;
}
