import { withoutOf } from "../../compare/baseline-of-result.ts";
import { HIGHEST_RATE, shownFigures } from "../../compare/figures.ts";
import type { GitCommit } from "../../model/environment-file.ts";
import { Metric } from "../../model/plan.ts";
import type { Percentile, Result, Run, Search } from "../../model/result.ts";
import { TALLIES, type TallyUnit } from "../../model/tallies.ts";
import { commitAt } from "../../result/commit.ts";
import { runTitle } from "../../result/words.ts";
import { tell } from "../../text/tell.ts";
import { worstOfFaults } from "../../verdict/fault-figures.ts";
import { ratesAndTimes } from "../../verdict/tally.ts";

/** A result that is exported, and where it is. */
export interface Source {
	readonly folder: string;
	/** The folder as people have written it. */
	readonly shown: string;
	readonly result: Result;
}

/** A number of a run, under the name that baselines have it under: "response p99", "ack max", "throughput", "highest rate". */
export interface Figure {
	readonly name: string;
	readonly metric: Metric | null;
	/** "p99.9", "max"; null: no latency. */
	readonly statistic: string | null;
	readonly unit: TallyUnit;
	readonly value: number;
	/** 95 % interval; null: it has no such end. */
	readonly low: number | null;
	readonly high: number | null;
	/** beyond-timeout: among messages that never completed; the timeout is written, the true value is larger. So it is of more-than: what a fault did had not ended. */
	readonly support: "ok" | "weak" | "beyond-timeout" | "more-than";
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
	readonly figures: readonly Figure[];
}

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
	const leave = (title: string, verdict: Run["verdict"], why: string) => {
		found.leftOut.push(tell("export-left-out", { report: shown, run: title, why }));
		found.verdicts.push(verdict);
	};
	const add = (
		of: Pick<Run, "system" | "case" | "repeat" | "verdict">,
		title: string,
		why: string | null,
		{ run, search, figures }: Pick<Point, "run" | "search" | "figures">,
	) => {
		if (why !== null) return leave(title, of.verdict, why);
		const at = run.startedAt ?? result.environment?.startedAt ?? "";
		const atMs = Date.parse(at);
		if (!Number.isFinite(atMs)) return leave(title, of.verdict, tell("export-no-date"));
		const { system, case: name, repeat } = of;
		const commit = commitAt(result.environment, run.startedAt);
		const own = { source, system, case: name, repeat };
		found.points.push({ ...own, atMs, commit, run, search, figures });
	};
	for (const run of result.runs)
		if (run.search === null)
			add(run, runTitle(run, result), whyNotRun(run, result), {
				run,
				search: null,
				figures: figuresOf(run),
			});
	for (const search of result.searches) {
		const run = result.runs.find((r) => r.index === search.runs[0]?.index);
		const title = `${search.system}, ${search.case}`;
		if (run === undefined) leave(title, search.verdict, search.answer);
		else
			add(search, title, whyNotSearch(search, result), { run, search, figures: answerOf(search) });
	}
	return found;
}

/**
 * What tools are given that watch each figure: percentiles and max of the main metric, and rates where the system decides them. More would
 * only raise more false alarms. Weak percentiles are among them: a stall makes its own percentiles weak, so without them a figure would be
 * missing just when it is bad.
 */
export function watchedFigures({ run, figures }: Point): Figure[] {
	const shown = shownFigures([
		{
			main: run.main,
			closed: run.load.schedule.kind === "closed",
			figures: Object.fromEntries(figures.map((f) => [f.name, f.value])),
		},
	]);
	return shown.flatMap((name) => figures.filter((f) => f.name === name));
}

// --- internal ---

/** null: its figures count. */
function whyNotRun(run: Run, result: Result): string | null {
	if (result.quick) return tell("export-quick");
	if (run.verdict !== "pass" && run.verdict !== "fail")
		return [run.verdict.toUpperCase(), run.why].filter((part) => part !== null).join(", ");
	return withoutOf(run);
}

/** What the generator, or the end of the search, has bounded is no figure of the system. */
function whyNotSearch(search: Search, { quick }: Result): string | null {
	if (quick) return tell("export-quick");
	const { verdict, lo, limitedBy, answer } = search;
	return verdict === "pass" && lo !== null && limitedBy === "system" ? null : answer;
}

function answerOf({ lo }: Search): Figure[] {
	return lo === null ? [] : [plain(HIGHEST_RATE, "messages/s", lo)];
}

function figuresOf(run: Run): Figure[] {
	const latencies = Metric.options.flatMap((metric) => {
		const m = run.metrics[metric];
		if (m === null || m.n === 0) return [];
		const of = (statistic: string) => ({
			name: `${metric} ${statistic}`,
			metric,
			statistic,
			unit: "ns" as const,
		});
		const { timeoutNs } = run.load;
		const percentiles = m.percentiles.flatMap((p): Figure[] => {
			const found = numberOf(p, timeoutNs);
			return found === null ? [] : [{ ...of(`p${p.p}`), ...found }];
		});
		const max = Math.max(m.censored > 0 ? timeoutNs : 0, m.max ?? 0);
		const support = m.censored > 0 ? "beyond-timeout" : "ok";
		const last = { value: max, low: null, high: null, support } as const;
		return [...percentiles, { ...of("max"), ...last }];
	});
	const others = ratesAndTimes(run).flatMap(([name, value]) =>
		value === null || TALLIES[name].sameAs !== undefined
			? []
			: [plain(name, TALLIES[name].unit, value)],
	);
	const { failover, window } = run;
	const faults = worstOfFaults({ failover, endNs: window.endNs }).map(
		({ figure, ns, open }): Figure => ({
			...plain(figure, "ns", ns),
			support: open ? "more-than" : "ok",
		}),
	);
	return [...latencies, ...others, ...faults];
}

/** null: the samples do not carry it. */
function numberOf(
	{ value, low, high, support, beyondTimeout }: Percentile,
	timeoutNs: number,
): Pick<Figure, "value" | "low" | "high" | "support"> | null {
	if (beyondTimeout) return { value: timeoutNs, low, high: null, support: "beyond-timeout" };
	return value === null || support === "none" ? null : { value, low, high, support };
}

function plain(name: string, unit: TallyUnit, value: number): Figure {
	return { name, metric: null, statistic: null, unit, value, low: null, high: null, support: "ok" };
}
