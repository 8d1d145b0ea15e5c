import path from "node:path";
import { withoutOf } from "../../compare/baseline-of-result.ts";
import { buildResult } from "../../compare/build.ts";
import { failure, MqbenchError } from "../../errors.ts";
import type { Result, Run, Search } from "../../model/result.ts";
import { TALLIES, type Tally } from "../../model/tallies.ts";
import { type Figure, field, figuresOf, HIGHEST_RATE, shownFigures } from "../../result/fields.ts";
import { isRunFolder, runFolders } from "../../result/indexed.ts";
import { readResult } from "../../result/result-files.ts";
import { runTitle } from "../../result/words.ts";
import type { World } from "../../world.ts";

export interface Point {
	readonly result: Result;
	/** For a search its first. */
	readonly run: Run;
	readonly search: Search | null;
	/** ms since 1970. */
	readonly atMs: number;
	readonly figures: readonly Known[];
}

export type Known = Figure & { readonly value: number };

/** `name` is relative to the export's folder, and may have a folder itself. */
export interface ExportedFile {
	readonly name: string;
	readonly text: string;
}

export type Format = (points: readonly Point[]) => ExportedFile[];

interface LeftOut {
	readonly said: string;
	/** null if no run in it could be read. */
	readonly verdict: Run["verdict"] | null;
}

/** From run folders, and from all runs in folders that hold some; copies of a run count once. Throws for a folder without any run. */
export function readPoints(folders: readonly string[], { cwd }: Pick<World, "cwd">) {
	const unread: LeftOut[] = [];
	const found = new Map<string, ReturnType<typeof pointsOf>>();
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

/** Those that passed or failed as planned, without `--quick`. Searches have their answer instead of their runs. */
export function pointsOf(result: Result, shown: string) {
	const own = result.runs
		.filter((run) => run.search === null)
		.map((run) => ({ run, search: null, whyNot: whyNotRun(run), title: runTitle(run, result) }));
	const searches = result.searches.map((search) => ({
		run: result.runs.find(({ index }) => index === search.runs[0]?.index),
		search,
		// A bound of the generator, or of the search, is not the system's.
		whyNot:
			search.verdict === "pass" && search.lo !== null && search.limitedBy === "system"
				? null
				: search.answer,
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

/** The figures shown by default: more would raise more false alarms. Weak percentiles stay, because a stall makes its own weak. */
export function watchedFigures({ run, figures }: Point): Known[] {
	const { main, load } = run;
	const values = Object.fromEntries(figures.map(({ id, value }) => [id, value]));
	const shown = shownFigures([{ main, closed: load.schedule.kind === "closed", figures: values }]);
	return shown
		.filter((id) => !TALLIES[id as Tally]?.cost)
		.flatMap((id) => figures.filter((figure) => figure.id === id));
}

// --- internal ---

/** From result.json, else from the measured files; returns a string with the reason if it is neither. */
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

function whyNotRun(run: Run): string | null {
	if (run.verdict === "pass" || run.verdict === "fail") return withoutOf(run);
	return [run.verdict.toUpperCase(), run.why].filter((part) => part !== null).join(", ");
}
