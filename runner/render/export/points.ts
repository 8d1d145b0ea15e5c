import { withoutOf } from "../../compare/baseline-of-result.ts";
import type { GitCommit } from "../../model/environment-file.ts";
import type { Result, Run, Search } from "../../model/result.ts";
import { commitAt } from "../../result/commit.ts";
import { type Figure, field, figuresOf, HIGHEST_RATE, shownFigures } from "../../result/fields.ts";
import { runTitle } from "../../result/words.ts";

/** A result that is exported, and where it is. */
export interface Source {
	readonly folder: string;
	/** The folder as people have written it. */
	readonly shown: string;
	readonly result: Result;
}

/** A run whose figures count, or the answer of a search. */
export interface Point {
	readonly source: Source;
	readonly system: string;
	readonly case: string;
	readonly repeat: number;
	/** ms since 1970. */
	readonly atMs: number;
	readonly commit: GitCommit | null;
	/** Of a search its first. */
	readonly run: Run;
	readonly search: Search | null;
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
	readonly points: Point[];
	/** Sentences: which runs have no figures, and why. */
	readonly leftOut: string[];
	/** Verdicts of those. */
	readonly verdicts: Run["verdict"][];
}

/**
 * The runs of a report that say something about their systems: those that passed or failed, as they were planned. INVALID, INCONCLUSIVE,
 * interrupted, broken and stopped ones are left out, and so is all that `--quick` has shortened. Of a search its answer counts, not its runs.
 */
export function pointsOf(source: Source): Points {
	const { result, shown } = source;
	const found: Points = { points: [], leftOut: [], verdicts: [] };
	const add = (
		of: Run | Search,
		title: string,
		whyNot: string | null,
		run: Run | undefined,
		figures: readonly Figure[],
	) => {
		const { system, case: name, repeat, verdict } = of;
		const atMs = Date.parse(run?.startedAt ?? result.environment?.startedAt ?? "");
		const undated = Number.isFinite(atMs) ? null : "nobody wrote down when it was made";
		const why = (result.quick ? "shortened by --quick, which gives no result" : whyNot) ?? undated;
		if (why !== null || run === undefined) {
			found.leftOut.push(`${shown}: ${title}: left out: ${why ?? ""}`);
			found.verdicts.push(verdict);
			return;
		}
		found.points.push({
			source,
			system,
			case: name,
			repeat,
			atMs,
			commit: commitAt(result.environment, run.startedAt),
			run,
			search: of === run ? null : (of as Search),
			figures: figures.filter((figure): figure is Known => figure.value !== null),
		});
	};
	for (const run of result.runs)
		if (run.search === null) add(run, runTitle(run, result), whyNotRun(run), run, figuresOf(run));
	for (const search of result.searches) {
		const run = result.runs.find(({ index }) => index === search.runs[0]?.index);
		const whyNot = run === undefined ? search.answer : whyNotSearch(search);
		const answer = { ...field(HIGHEST_RATE), value: search.lo };
		add(search, `${search.system}, ${search.case}`, whyNot, run, [answer]);
	}
	return found;
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

/** beyond-timeout: among messages that never completed; the timeout is written, the true value is larger. more-than: what a fault did had not ended. */
export function supportOf({ atLeast, weak, metric }: Figure) {
	if (atLeast) return metric === null ? "more-than" : "beyond-timeout";
	return weak ? "weak" : "ok";
}

// --- internal ---

/** null: its figures count. */
function whyNotRun(run: Run): string | null {
	if (run.verdict !== "pass" && run.verdict !== "fail")
		return [run.verdict.toUpperCase(), run.why].filter((part) => part !== null).join(", ");
	return withoutOf(run);
}

/** What the generator, or the end of the search, has bounded is no figure of the system. */
function whyNotSearch({ verdict, lo, limitedBy, answer }: Search): string | null {
	return verdict === "pass" && lo !== null && limitedBy === "system" ? null : answer;
}
