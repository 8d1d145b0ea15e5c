import { baselineOf } from "../compare/baseline.ts";
import { type Compare, compareRuns } from "../compare/compare.ts";
import type { Baseline, Comparison } from "../compare/comparison.ts";
import { figureName, judgedFigures } from "../compare/figures.ts";
import { isBaseline, subjectOf } from "../plan/baseline.ts";
import type { BaselineSla, Plan } from "../plan/plan.ts";
import type { Against } from "../run/against-file.ts";
import { judgeBaseline } from "../verdict/baseline.ts";
import { containsLag } from "../verdict/lag.ts";
import { worst } from "../verdict/verdict.ts";
import type { Gate, Result } from "./summary.ts";

/**
 * The result with what its comparisons say: one gate for each line that compares, system and case, and the usual figures of all
 * that have a baseline. `plans`: of its runs; `against`: what the folder says of the baseline. Without a baseline it stays as it is.
 */
export function withBaseline(
	result: Result,
	plans: readonly Plan[],
	against: Against | null,
): Result {
	const groups = groupsOf(plans);
	if (groups.every((group) => sourceOf(group, against) === null)) return result;
	const own = baselineOf(result);
	const gates: Gate[] = [];
	const comparisons: Comparison[] = [];
	for (const group of groups) {
		const source = sourceOf(group, against);
		if (source === null) continue;
		const judged = new Map<string, Comparison>();
		for (const sla of group.lines) {
			const name = figureName(sla.figure);
			const compared = compareGroup(group, source, own, against, {
				[name]: sla.margin,
			});
			const found = compared.comparisons.find((c) => c.metric === name);
			gates.push(
				gateOf(sla, group, found ?? whyNot(compared), result, () =>
					withoutLag(sla, group, source, own, against),
				),
			);
			// Of two lines about one figure the stricter is shown; both are gates.
			if (found && (judged.get(name)?.margin ?? Infinity) > found.margin)
				judged.set(name, { ...found, judged: found.advisory === null });
		}
		const usual = compareGroup(group, source, own, against, {});
		const first = own.runs.find(
			(run) => run.system === group.system && run.case === group.case,
		);
		const shown = new Set([
			...(first ? judgedFigures(first) : []),
			...judged.keys(),
		]);
		comparisons.push(
			...usual.comparisons
				.filter((c) => shown.has(c.metric) && !judged.has(c.metric))
				.map((c) => ({ ...c, judged: false })),
			...judged.values(),
		);
	}
	const verdict = worst([result.verdict, ...gates.map((g) => g.verdict)]);
	return {
		...result,
		verdict,
		openBaselineOnly:
			verdict === "inconclusive" && result.verdict !== "inconclusive",
		gates: [...result.gates, ...gates],
		comparisons,
	};
}

// --- internal ---

/** A system and case that is compared, with the lines that judge it. */
interface Group {
	readonly system: string;
	readonly case: string;
	readonly baselineSystem: string | null;
	readonly lines: readonly BaselineSla[];
	/** Repeats that --confirm has added. */
	readonly confirming: number;
}

/** Where the other side comes from. */
interface Source {
	readonly baseline: Baseline | "own";
	readonly system: string;
}

function groupsOf(plans: readonly Plan[]): Group[] {
	const groups = new Map<string, Group>();
	for (const plan of plans) {
		if (isBaseline(plan) || plan.search !== null) continue;
		const { system, case: name, baselineSystem } = plan;
		const key = JSON.stringify([system, name]);
		const before = groups.get(key);
		groups.set(key, {
			...{ system, case: name, baselineSystem, lines: plan.baselineSla },
			confirming: (before?.confirming ?? 0) + (plan.confirms ? 1 : 0),
		});
	}
	return [...groups.values()];
}

function sourceOf(group: Group, against: Against | null): Source | null {
	if (group.baselineSystem !== null)
		return { baseline: "own", system: group.baselineSystem };
	return against?.baseline
		? { baseline: against.baseline, system: group.system }
		: null;
}

/** The two sides of a group: its runs, and those that they are compared with. */
function sidesOf(
	{ system, case: name }: Group,
	source: Source,
	own: Baseline,
): { a: Baseline; b: Baseline } {
	const only = (all: Baseline, key: string): Baseline => ({
		...all,
		runs: all.runs.filter((run) => run.system === key && run.case === name),
	});
	return {
		a: only(source.baseline === "own" ? own : source.baseline, source.system),
		b: only(own, system),
	};
}

/**
 * Service instead of a latency that has the generator's lag in it, if that lag is more than half of it in any run of either side,
 * and more than what the system itself made wait; else null.
 */
function withoutLag(
	sla: BaselineSla,
	group: Group,
	source: Source,
	own: Baseline,
	against: Against | null,
): Comparison | "unknown" | null {
	const subject = subjectOf(sla);
	if (subject.kind !== "percentile" || !containsLag(subject.metric))
		return null;
	const { a, b } = sidesOf(group, source, own);
	const large = [...a.runs, ...b.runs].some(({ figures }) => {
		const lag = figures["lag p99"] ?? 0;
		const all = figures[`${subject.metric} p99`] ?? Infinity;
		return lag > all / 2 && lag > (figures["queued p99"] ?? 0);
	});
	if (!large) return null;
	const name = `service p${subject.percentile}`;
	const { comparisons } = compareGroup(group, source, own, against, {
		[name]: sla.margin,
	});
	return comparisons.find((c) => c.metric === name) ?? "unknown";
}

function compareGroup(
	group: Group,
	source: Source,
	own: Baseline,
	against: Against | null,
	margins: Readonly<Record<string, number>>,
): Compare {
	const { system } = group;
	const { a, b } = sidesOf(group, source, own);
	// One case of one scenario is the same work; durability and the like are the systems', which are what is compared.
	const [work] = b.runs.map((run) => run.work);
	if (source.baseline === "own" && work !== undefined)
		a.runs = a.runs.map((run) => ({ ...run, work }));
	return compareRuns(a, b, {
		margins,
		calibration: against?.calibration ?? null,
		pairs: { [system]: source.system },
		names: {
			a:
				source.baseline === "own"
					? source.system
					: (against?.name ?? "the baseline"),
			b: system,
		},
	});
}

function whyNot({ notCompared }: Compare): { readonly why: string } {
	return {
		why:
			notCompared.length > 0
				? notCompared.map(({ why }) => why).join("; ")
				: "there is no such figure to compare",
	};
}

function gateOf(
	sla: BaselineSla,
	group: Group,
	found: Comparison | { readonly why: string },
	result: Result,
	unlagged: () => ReturnType<typeof withoutLag>,
): Gate {
	const { system, case: name, baselineSystem, confirming } = group;
	const runs = result.runs
		.filter(
			(run) =>
				run.case === name &&
				(run.system === system || run.system === baselineSystem),
		)
		.map((run) => ({
			name: `repeat ${run.repeat} of ${run.system}`,
			verdict: run.verdict,
			why: run.why,
		}));
	const { why, ...judged } = judgeBaseline(sla, found, runs, unlagged());
	const subject = subjectOf(sla);
	const comparison = "metric" in found ? found : null;
	return {
		...{ sla: sla.text, system, case: name, ...judged },
		why:
			confirming === 0 ? why : `${why} (with ${confirming} confirming repeats)`,
		metric: subject.kind === "tally" ? null : subject.metric,
		percentile: subject.kind === "percentile" ? subject.percentile : null,
		limitNs: null,
		...{ n: null, over: null, allowed: null, censored: null },
		...{ events: null, phi: null, margin: null },
		valueNs: comparison?.unit === "ns" ? comparison.b.median : null,
		lowNs: null,
		highNs: null,
		compares: true,
		comparison: comparison && {
			...comparison,
			judged: comparison.advisory === null,
		},
		line: null,
		repeats: [],
	};
}
