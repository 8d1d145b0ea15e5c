import { largestOf } from "../extremes.ts";
import { marginAt } from "../model/baseline-sla.ts";
import type { Baseline, Calibration, Comparison } from "../model/comparison.ts";
import type { BaselineSla } from "../model/plan.ts";
import type { Verdict } from "../model/verdict.ts";
import { field, isRate, judgedFigures, shownFigures } from "../result/fields.ts";
import { medianOf, ratioOf } from "../stats/ratio.ts";
import { type Said, say } from "../text/say.ts";
import { formatDurationExact } from "../units.ts";
import { ACROSS } from "../verdict/checks/clock.ts";
import { type Clocks, judge } from "./judge.ts";
import { type Kinship, marginOf, noiseOf } from "./margin.ts";
import { machineDifference } from "./same-machine.ts";
import { workDifference } from "./work.ts";

type Allowed = Pick<BaselineSla, "margin" | "allowanceNs">;

interface CompareOptions {
	/**
	 * By name of a figure ("response p99", "throughput"): the part by which B may be worse. These are judged, present or not,
	 * beside those that are judged anyway; `marginsFrom` says who asks for it, by default "the SLA".
	 */
	readonly margins?: Readonly<Record<string, number | Allowed>>;
	readonly marginsFrom?: string;
	readonly calibration?: Calibration | null;
	/** System of B -> system of A: only these. Default: those of the same name. */
	readonly pairs?: Readonly<Record<string, string>>;
	/** What the two sides are called; default: their run ids, or the systems where those have other names. */
	readonly names?: { readonly a: string; readonly b: string };
	/** True: one command made both sides, in turns. Default: what run ids and starts say. */
	readonly oneRun?: boolean;
}

/** Something that could not be compared, or a run that does not count, and why. */
export interface NotCompared {
	readonly system: string;
	readonly case: string;
	readonly why: string;
}

export interface Compare {
	readonly comparisons: Comparison[];
	readonly notCompared: NotCompared[];
}

/**
 * B against A, the baseline: one comparison for every system, case and figure, over all of their runs. Runs are compared only when
 * they had the same work to do; on another machine nothing is judged. Runs that do not count are named, and what is left without them
 * proves no more than a regression: the slowest runs are those that get stopped.
 */
export function compareRuns(a: Baseline, b: Baseline, options: CompareOptions = {}): Compare {
	const comparisons: Comparison[] = [];
	const notCompared: NotCompared[] = [];
	const pairs = options.pairs && new Map(Object.entries(options.pairs));
	const oneRun = options.oneRun ?? isOneRun(a, b);
	const kinship = oneRun ? "same" : kinshipOf(a, b);
	const advisory = advisoryOf(a, b, kinship);
	const seen = new Set<string>();
	for (const group of groupsOf(b)) {
		const { system, case: name } = group;
		const of = pairs ? pairs.get(system) : system;
		if (of === undefined) continue;
		seen.add(keyOf(of, name));
		const no = ({ text: why }: Said) => notCompared.push({ system, case: name, why });
		const base = a.runs.filter((r) => r.system === of && r.case === name);
		if (base.length === 0) {
			no(say("no-run", { side: options.names?.a ?? a.runId, system: of, case: name }));
			continue;
		}
		const names = options.names ?? namesOf(a, b, of, system);
		// A case of a scenario is one work for all of its systems; what durability each is asked for is what is compared.
		const other = oneRun ? null : otherWork(a, base, b, group.runs);
		if (other !== null) {
			no(other);
			continue;
		}
		for (const [side, runs] of [
			[names.a, base],
			[names.b, group.runs],
		] as const)
			for (const said of leftOut(runs, side)) no(said);
		const counting = (runs: readonly Entry[]) => runs.filter((run) => run.without === null);
		const sides = [counting(base), counting(group.runs)] as const;
		const without = [names.a, names.b].find((_, i) => sides[i]?.length === 0);
		if (without !== undefined) {
			no(say("no-run-counts", { side: without }));
			continue;
		}
		const [first] = sides[1] as [Entry];
		const doubt = doubtOf(base, group.runs, names);
		const asked = new Map(
			Object.entries(options.margins ?? {}).map(([figure, allowed]) => {
				const name = field(figure).id;
				const from = options.marginsFrom ?? "the SLA";
				return [name, marginAsked(allowed, from, valuesOf(name, sides[0]))];
			}),
		);
		const judged = new Set([...judgedFigures(first), ...asked.keys()]);
		const figures = new Set([...shownFigures([...sides[0], ...sides[1]]), ...judged]);
		for (const figure of figures) {
			const margin = marginOf({
				figure,
				asked: asked.get(figure) ?? null,
				noise: noiseOf(options.calibration ?? null, b.machine?.fingerprint ?? null, figure, first),
				kinship,
				runs: [withFigure(sides[0], figure), withFigure(sides[1], figure)],
			});
			comparisons.push(
				comparison({
					system,
					case: name,
					figure,
					names,
					sides,
					margin,
					advisory,
					doubt,
					judged: judged.has(figure) && advisory === null,
				}),
			);
		}
	}
	for (const { system, case: name } of groupsOf(a))
		if (!seen.has(keyOf(system, name)) && !pairs)
			notCompared.push({
				system,
				case: name,
				why: say("only-one-side", { side: options.names?.a ?? a.runId }).text,
			});
	return { comparisons, notCompared };
}

/**
 * What a comparison comes to as a gate: it fails only where B is worse beyond doubt, and passes where that is excluded, better or
 * not. Advisory ones decide nothing: inconclusive.
 */
export function gateVerdict(
	of: Pick<Comparison, "verdict" | "notWorse" | "advisory">,
): Extract<Verdict, "pass" | "fail" | "inconclusive"> {
	if (of.advisory !== null) return "inconclusive";
	if (of.verdict === "regressed") return "fail";
	return of.notWorse ? "pass" : "inconclusive";
}

// --- internal ---

/** What a line allows, with the baseline's values: of a small figure the time may be more than the part. */
function marginAsked(allowed: number | Allowed, from: string, values: readonly number[]) {
	if (typeof allowed === "number") return { margin: allowed, from };
	const margin = marginAt(allowed, medianOf(values));
	const time = formatDurationExact(allowed.allowanceNs ?? 0);
	return { margin, from: margin > allowed.margin ? `${from}: baseline + ${time}` : from };
}

type Entry = Baseline["runs"][number];

function keyOf(system: string, name: string): string {
	return JSON.stringify([system, name]);
}

function groupsOf({
	runs,
}: Baseline): { readonly system: string; readonly case: string; readonly runs: Entry[] }[] {
	const groups = new Map<string, Entry[]>();
	for (const run of runs) {
		const key = keyOf(run.system, run.case);
		groups.set(key, [...(groups.get(key) ?? []), run]);
	}
	return [...groups.values()].map((all) => {
		const [{ system, case: name }] = all as [Entry];
		return { system, case: name, runs: all };
	});
}

function withFigure(runs: readonly Entry[], figure: string): number {
	return runs.filter((run) => run.figures[figure] != null).length;
}

function kinshipOf(a: Baseline, b: Baseline): Kinship {
	if (a.machine === null || b.machine === null) return "other";
	if (a.machine.fingerprint !== b.machine.fingerprint) return "other";
	// Set otherwise, the same machine is another one.
	if (machineDifference(a.machine, b.machine) !== null) return "other";
	const { boot } = a.machine;
	return boot !== null && boot === b.machine.boot ? "same" : "stored";
}

/** Runs without figures, those with the same reason together. */
function leftOut(runs: readonly Entry[], side: string): Said[] {
	const repeats = new Map<string, number[]>();
	for (const { without, repeat } of runs)
		if (without !== null) repeats.set(without, [...(repeats.get(without) ?? []), repeat]);
	return [...repeats].map(([why, numbers]) => say("left-out", { side, repeats: numbers, why }));
}

/**
 * Why the runs that count cannot show that nothing got worse: of the candidate some do not count, or of the baseline most do not.
 * null: they can.
 */
function doubtOf(
	base: readonly Entry[],
	runs: readonly Entry[],
	names: { readonly a: string; readonly b: string },
): string | null {
	const counting = base.filter((run) => run.without === null).length;
	const doubts = [
		...leftOut(runs, names.b),
		...(2 * counting < base.length
			? [say("few-count", { side: names.a, counting, runs: base.length })]
			: []),
	];
	return doubts.length === 0 ? null : doubts.map(({ text }) => text).join("; ");
}

/** Two systems of one command, measured in turns. The same run id alone proves nothing: people choose it. */
function isOneRun(a: Baseline, b: Baseline): boolean {
	return a === b || (a.runId === b.runId && a.startedAt !== null && a.startedAt === b.startedAt);
}

function advisoryOf(a: Baseline, b: Baseline, kinship: Kinship): string | null {
	if (a.quick || b.quick) return say("quick-runs").text;
	if (kinship !== "other") return null;
	if (a.machine === null || b.machine === null) return say("unknown-machine").text;
	const difference = machineDifference(a.machine, b.machine);
	return say("other-machine", { difference }).text;
}

function namesOf(a: Baseline, b: Baseline, of: string, system: string) {
	return of === system || a.runId !== b.runId ? { a: a.runId, b: b.runId } : { a: of, b: system };
}

/** Why the work is not the same, in words; null: it is. */
function otherWork(
	a: Baseline,
	base: readonly Entry[],
	b: Baseline,
	runs: readonly Entry[],
): Said | null {
	const works = [...new Set([...base, ...runs].map((run) => run.work))];
	if (works.length === 1) return null;
	const [first] = base as [Entry];
	const other = runs.find((run) => run.work !== first.work);
	const difference = other && workDifference(a.works[first.work], b.works[other.work]);
	return say("other-work", { difference: difference ?? null });
}

function comparison(of: {
	readonly system: string;
	readonly case: string;
	readonly figure: string;
	readonly names: { readonly a: string; readonly b: string };
	readonly sides: readonly [readonly Entry[], readonly Entry[]];
	readonly margin: { readonly margin: number; readonly from: string };
	readonly advisory: string | null;
	/** Why nothing but a regression can be shown; null: all can. */
	readonly doubt: string | null;
	readonly judged: boolean;
}): Comparison {
	const { figure } = of;
	const values = [valuesOf(figure, of.sides[0]), valuesOf(figure, of.sides[1])] as const;
	const beyond = (runs: readonly Entry[]) => runs.some((run) => run.beyond.includes(figure));
	const ratio = ratioOf(values[0], values[1]);
	const side = (i: 0 | 1, name: string) => ({
		name,
		runs: of.sides[i].length,
		values: values[i],
		median: medianOf(values[i]),
		weak: of.sides[i].some((run) => run.weak.includes(figure)),
	});
	const finite = (value: number | null | undefined) =>
		value == null || !Number.isFinite(value) ? null : value;
	return {
		system: of.system,
		case: of.case,
		metric: figure,
		unit: isRate(figure) ? "messages/s" : "ns",
		a: side(0, of.names.a),
		b: side(1, of.names.b),
		ratio: finite(ratio?.ratio),
		low: finite(ratio?.low),
		high: finite(ratio?.high),
		confidence: ratio?.confidence ?? null,
		margin: of.margin.margin,
		marginFrom: of.margin.from,
		...judge({
			figure,
			ratio,
			margin: of.margin.margin,
			runs: [values[0].length, values[1].length],
			beyond: [beyond(of.sides[0]), beyond(of.sides[1])],
			names: [of.names.a, of.names.b],
			clocks: clocksOf(figure, of.sides),
			doubt: of.doubt,
		}),
		judged: of.judged,
		advisory: of.advisory,
	};
}

/** Those of a figure; each moved by that part of the bound of its run's clocks, and never below 0. */
function valuesOf(figure: string, runs: readonly Entry[], part: -1 | 0 | 1 = 0): number[] {
	return runs.flatMap(({ figures, clockBoundNs }) => {
		const value = figures[figure];
		return value == null ? [] : Math.max(0, value + part * (clockBoundNs ?? 0));
	});
}

/** What is left of the interval where the clocks of both sides were as wrong as they can have been; null: one clock has timed it all. */
function clocksOf(
	figure: string,
	[a, b]: readonly [readonly Entry[], readonly Entry[]],
): Clocks | null {
	const { metric } = field(figure);
	if (metric === null || !ACROSS.has(metric)) return null;
	const boundOf = (runs: readonly Entry[]) =>
		Math.max(0, largestOf(runs.map((run) => run.clockBoundNs ?? 0)));
	const boundNs = boundOf(a) + boundOf(b);
	if (boundNs === 0) return null;
	const of = (i: -1 | 1) => ratioOf(valuesOf(figure, a, -i as -1 | 1), valuesOf(figure, b, i));
	return {
		boundNs,
		low: of(-1)?.low ?? null,
		high: of(1)?.high ?? null,
		medianNs: medianOf(valuesOf(figure, a)) ?? 0,
	};
}
