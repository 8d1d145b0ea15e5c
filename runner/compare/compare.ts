import { largestOf } from "../extremes.ts";
import type { Baseline, Calibration, Comparison } from "../model/comparison.ts";
import { field, judgedFigures, shownFigures } from "../result/fields.ts";
import { at, bySystemAndCase, type Place } from "../result/select.ts";
import { medianOf, type Ratio, ratioOf } from "../stats/ratio.ts";
import type { Said } from "../text/say.ts";
import { RECEIVES } from "../verdict/facts.ts";
import { because } from "../verdict/judgement.ts";
import { type Clocks, judge } from "./judge.ts";
import { machineDifference } from "./machine.ts";
import { type Allowed, marginOf, noiseOf } from "./margin.ts";
import { workDifference } from "./work.ts";

type Entry = Baseline["runs"][number];

interface Runs {
	readonly name: string;
	readonly of: Baseline;
}

export interface Side extends Runs, Place {}

export type Judged = Comparison & Pick<Said, "code" | "values">;

/** One system and case; A is the baseline. */
export type Pair = NonNullable<ReturnType<typeof pairOf>["pair"]>;

export interface NotCompared extends Place {
	readonly why: string;
}

export type Compare = ReturnType<typeof compareRuns>;

/** B against A, the baseline. `systems` compares B's second with A's first; null compares each with its namesake. */
export function compareRuns(
	a: Runs,
	b: Runs,
	systems: readonly [a: string, b: string] | null = null,
	calibration: Calibration | null = null,
) {
	const comparisons: Comparison[] = [];
	const notCompared: NotCompared[] = [];
	for (const { system, case: name } of bySystemAndCase(b.of.runs)) {
		if (systems !== null && system !== systems[1]) continue;
		const before = { ...a, system: systems?.[0] ?? system, case: name };
		const { pair, notes } = pairOf(before, { ...b, system, case: name }, calibration);
		for (const why of notes) notCompared.push({ system, case: name, why });
		if (pair === null) continue;
		for (const figure of new Set([...pair.shown, ...pair.judged]))
			comparisons.push(pair.compare(figure));
	}
	if (systems === null)
		for (const { system, case: name } of bySystemAndCase(a.of.runs))
			if (at({ system, case: name }, b.of.runs).length === 0)
				notCompared.push({ system, case: name, why: `only ${a.name} has runs of it` });
	return { comparisons, notCompared };
}

/**
 * One system and case, if the work was the same. `notes` name the runs that do not count: without them only a regression is proven, because
 * the slowest runs are the ones that are stopped. On another machine nothing is judged.
 */
export function pairOf(sideA: Side, sideB: Side, calibration: Calibration | null) {
	const [a, b] = [countedOf(sideA), countedOf(sideB)];
	if (a.all.length === 0)
		return none([`${a.name} has no run of ${a.system}, ${a.case}: nothing to compare with`]);
	const oneRun = isOneRun(a.of, b.of);
	const boot = a.of.machine?.boot ?? null;
	// Systems of one command have the same work; their durability may differ, and is then compared.
	const other = oneRun ? null : otherWork(a, b);
	if (other !== null) return none([other]);
	const notes = [...leftOut(a), ...leftOut(b)];
	const [one] = b.counting;
	if (one === undefined || a.counting.length === 0) {
		return none([...notes, `no run of ${a.counting.length === 0 ? a.name : b.name} counts`]);
	}
	const machine = oneRun ? null : otherMachine(a.of, b.of);
	const quick = a.of.quick || b.of.quick;
	const advisory = quick ? "shortened by --quick: its figures are not a result" : machine;
	const doubt = doubtOf(a, b);
	const judged = judgedFigures(one);
	/** Over all runs; by the margin of a line of the SLA, or the usual one. */
	const compare = (figure: string, line: Allowed | null = null): Judged => {
		const [before, now] = [sideOf(figure, a), sideOf(figure, b)];
		const having = [before.values.length, now.values.length] as const;
		const ratio = ratioOf(before.values, now.values);
		const { margin, from } = marginOf(figure, {
			line: line && { ...line, baselineNs: before.median },
			noise: noiseOf(calibration, b.of.machine?.fingerprint ?? null, figure, one),
			stored: !oneRun && machine === null && (boot === null || boot !== b.of.machine?.boot),
			runs: having,
		});
		const { verdict, notWorse, said } = judge({
			figure,
			ratio,
			margin,
			runs: having,
			beyond: [isBeyond(figure, a), isBeyond(figure, b)],
			names: [a.name, b.name],
			clocks: ratio && clocksOf(figure, a, b, ratio),
			doubt,
		});
		return {
			system: b.system,
			case: b.case,
			metric: figure,
			unit: field(figure).unit as Comparison["unit"],
			a: before,
			b: now,
			ratio: finite(ratio?.ratio),
			low: finite(ratio?.low),
			high: finite(ratio?.high),
			confidence: ratio?.confidence ?? null,
			margin,
			marginFrom: from,
			verdict,
			notWorse,
			...because(said),
			judged: advisory === null && (line !== null || judged.includes(figure)),
			advisory,
		};
	};
	return { pair: { judged, shown: shownFigures([...a.counting, ...b.counting]), compare }, notes };
}

/** Fails only where B is worse beyond doubt, passes where that is excluded. Advisory comparisons decide nothing. */
export function gateVerdict(of: Pick<Comparison, "verdict" | "notWorse" | "advisory">) {
	if (of.advisory !== null) return "inconclusive";
	if (of.verdict === "regressed") return "fail";
	return of.notWorse ? "pass" : "inconclusive";
}

/** How they differ, in words. The same machine with other settings is another one. */
export function otherMachine(a: Pick<Baseline, "machine">, b: Pick<Baseline, "machine">) {
	if (a.machine === null || b.machine === null)
		return "one of the two does not say on which machine it was made";
	const difference = machineDifference(a.machine, b.machine);
	return difference === null && a.machine.fingerprint === b.machine.fingerprint
		? null
		: `another machine: ${difference ?? "its fingerprint differs"}`;
}

export function otherWork(a: Worked, b: Worked): string | null {
	const work = a.all[0]?.work ?? "";
	const other = [...b.all, ...a.all].find((run) => run.work !== work)?.work;
	if (other === undefined) return null;
	const difference = workDifference(a.of.works[work], b.of.works[other] ?? a.of.works[other]);
	return `other work: ${difference ?? "what differs was not written down"}`;
}

// --- internal ---

function none(notes: readonly string[]) {
	return { pair: null, notes };
}

interface Worked {
	readonly of: Pick<Baseline, "works">;
	readonly all: readonly Pick<Entry, "work">[];
}

interface Counted extends Side {
	readonly all: readonly Entry[];
	readonly counting: readonly Entry[];
}

function countedOf(side: Side): Counted {
	const all = at(side, side.of.runs);
	return { ...side, all, counting: all.filter(({ without }) => without === null) };
}

function leftOut({ name: side, all }: Counted): string[] {
	return [...new Set(all.flatMap(({ without }) => without ?? []))].map((why) => {
		const repeats = all.filter(({ without }) => without === why).map(({ repeat }) => repeat);
		return repeats.length === 1
			? `repeat ${repeats[0]} of ${side} does not count: ${why}`
			: `repeats ${repeats.join(", ")} of ${side} do not count: ${why}`;
	});
}

/** Why a regression is not excluded: some of the candidate's runs do not count, or most of the baseline's. */
function doubtOf({ name: side, all, counting }: Counted, b: Counted): string | null {
	const doubts = leftOut(b);
	const [n, runs] = [counting.length, all.length];
	if (2 * n < runs) doubts.push(`only ${n} of ${runs} runs of ${side} count`);
	return doubts.join("; ") || null;
}

/** Two systems of one command, measured in turns. The run id is not enough: users choose it. */
function isOneRun(a: Baseline, b: Baseline): boolean {
	return a === b || (a.runId === b.runId && a.startedAt !== null && a.startedAt === b.startedAt);
}

function sideOf(figure: string, { name, counting }: Counted): Comparison["a"] {
	const values = valuesOf(figure, counting);
	const weak = counting.some((run) => run.weak.includes(figure));
	return { name, runs: counting.length, values, median: medianOf(values), weak };
}

function isBeyond(figure: string, { counting }: Counted): boolean {
	return counting.some((run) => run.beyond.includes(figure));
}

function finite(value: number | null | undefined): number | null {
	return value == null || !Number.isFinite(value) ? null : value;
}

/** Each value moved by `part` of its run's clock bound, and never below 0. */
function valuesOf(figure: string, runs: readonly Entry[], part: -1 | 0 | 1 = 0): number[] {
	return runs.flatMap(({ figures, clockBoundNs }) => {
		const value = figures[figure];
		return value == null ? [] : Math.max(0, value + part * (clockBoundNs ?? 0));
	});
}

/** null if one clock timed it all. */
function clocksOf(figure: string, a: Counted, b: Counted, measured: Ratio): Clocks | null {
	const { metric } = field(figure);
	if (metric === null || !RECEIVES.has(metric)) return null;
	const boundOf = ({ counting }: Counted) =>
		largestOf([0, ...counting.map((run) => run.clockBoundNs ?? 0)]);
	const boundNs = boundOf(a) + boundOf(b);
	if (boundNs === 0) return null;
	const moved = (part: 1 | -1) =>
		ratioOf(valuesOf(figure, a.counting, part), valuesOf(figure, b.counting, part === 1 ? -1 : 1));
	const [low, high] = [moved(1)?.low ?? null, moved(-1)?.high ?? null];
	return { boundNs, ratio: { ...measured, low, high } };
}
