import { isBaseline, subjectOf } from "../model/baseline-sla.ts";
import type { BaselineSnapshot } from "../model/baseline-snapshot.ts";
import type { Baseline, Comparison } from "../model/comparison.ts";
import type { BaselineSla, Plan, Sla } from "../model/plan.ts";
import type { Gate } from "../model/result.ts";
import { field, HIGHEST_RATE, judgedFigures } from "../result/fields.ts";
import type { Judgeable } from "../result/outcomes.ts";
import { tell } from "../text/tell.ts";
import { containsLag } from "../verdict/facts.ts";
import { baselineOf } from "./baseline-of-result.ts";
import { type Compare, compareRuns } from "./compare.ts";
import { type ComparedRun, defaultLine, judgeBaseline } from "./gate.ts";

/**
 * The result with what its comparisons say: one gate for each line that compares, system and case. Where there is a baseline and no
 * such line, what decides by default is judged by the default margins: whoever names a baseline wants to hear of a regression.
 * Else these figures are shown. `plans`: of its runs; `against`: what the folder says of the baseline. Without a baseline it stays
 * as it is.
 */
export function withBaseline(
	result: Judgeable,
	plans: readonly Plan[],
	snapshot: BaselineSnapshot | null,
): Judgeable {
	const groups = groupsOf(plans);
	if (groups.every((group) => sourceOf(group, snapshot) === null)) return result;
	const own = baselineOf(result);
	const gates: Gate[] = [];
	const comparisons: Comparison[] = [];
	for (const group of groups) {
		const source = sourceOf(group, snapshot);
		if (source === null) continue;
		const judged = new Map<string, Comparison>();
		const written = group.lines.length > 0;
		for (const sla of written ? group.lines : defaultLines(group, source, own, result)) {
			const name = field(sla.figure).id;
			const compared = compareGroup(
				...([group, source, own, snapshot] as const),
				written ? { [name]: sla } : {},
			);
			const comparison = compared.comparisons.find((c) => c.metric === name);
			gates.push(
				gateOf(sla, group, comparison ?? whyNot(compared), result, () =>
					withoutLag(sla, group, source, own, snapshot),
				),
			);
			// Of two lines about one figure the stricter is shown; both are gates.
			if (comparison && (judged.get(name)?.margin ?? Infinity) > comparison.margin)
				judged.set(name, { ...comparison, judged: comparison.advisory === null });
		}
		const usual = compareGroup(group, source, own, snapshot, {});
		const first = own.runs.find((run) => run.system === group.system && run.case === group.case);
		const shown = new Set([...(first ? judgedFigures(first) : []), ...judged.keys()]);
		for (const one of usual.comparisons)
			if (shown.has(one.metric) && !judged.has(one.metric))
				comparisons.push({ ...one, judged: false });
		for (const one of judged.values()) comparisons.push(one);
	}
	return { ...result, gates: [...result.gates, ...gates], comparisons };
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
	/** For the highest rate: one figure of many runs. */
	readonly search: boolean;
}

/** Where the other side comes from. */
interface Source {
	readonly baseline: Baseline | "own";
	readonly system: string;
}

function groupsOf(plans: readonly Plan[]): Group[] {
	const groups = new Map<string, Group>();
	for (const plan of plans) {
		if (isBaseline(plan)) continue;
		const { system, baselineSystem } = plan;
		const name = plan.search?.of ?? plan.case;
		const key = JSON.stringify([system, name]);
		const before = groups.get(key);
		groups.set(key, {
			system,
			case: name,
			baselineSystem,
			lines: plan.baselineSla,
			confirming: (before?.confirming ?? 0) + (plan.confirms ? 1 : 0),
			search: plan.search !== null,
		});
	}
	return [...groups.values()];
}

function sourceOf(group: Group, snapshot: BaselineSnapshot | null): Source | null {
	if (group.baselineSystem !== null) return { baseline: "own", system: group.baselineSystem };
	return snapshot?.baseline ? { baseline: snapshot.baseline, system: group.system } : null;
}

/** For what decides by default; none where the baseline has no run of it, which was said before anything ran, and of shortened runs. */
function defaultLines(
	group: Group,
	source: Source,
	own: Baseline,
	{ quick }: Judgeable,
): BaselineSla[] {
	const { a, b } = sidesOf(group, source, own);
	if (quick || a.runs.length === 0) return [];
	if (group.search) return [defaultLine(HIGHEST_RATE)];
	const all = [...b.runs, ...a.runs];
	const one = all.find((run) => run.without === null) ?? all[0];
	return one === undefined ? [] : judgedFigures(one).map(defaultLine);
}

/** What a line is about; null: what a search found, of which no line can be written. */
function aboutOf(sla: BaselineSla): Sla | null {
	return sla.figure === HIGHEST_RATE ? null : subjectOf(sla);
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
	snapshot: BaselineSnapshot | null,
): Comparison | "unknown" | null {
	const subject = aboutOf(sla);
	if (subject?.kind !== "percentile" || !containsLag(subject.metric)) return null;
	const { a, b } = sidesOf(group, source, own);
	const large = [...a.runs, ...b.runs].some(({ figures }) => {
		const lag = figures["lag p99"] ?? 0;
		const all = figures[`${subject.metric} p99`] ?? Infinity;
		return lag > all / 2 && lag > (figures["queued p99"] ?? 0);
	});
	if (!large) return null;
	const name = `service p${subject.percentile}`;
	const { comparisons } = compareGroup(group, source, own, snapshot, { [name]: sla });
	return comparisons.find((c) => c.metric === name) ?? "unknown";
}

function compareGroup(
	group: Group,
	source: Source,
	own: Baseline,
	snapshot: BaselineSnapshot | null,
	margins: Readonly<Record<string, BaselineSla>>,
): Compare {
	const { system } = group;
	const { a, b } = sidesOf(group, source, own);
	const oneRun = source.baseline === "own";
	// One case of one scenario is the same work; durability and the like are the systems', which are what is compared.
	return compareRuns(a, b, {
		...(oneRun ? { oneRun } : {}),
		margins,
		calibration: snapshot?.calibration ?? null,
		pairs: { [system]: source.system },
		names: { a: oneRun ? source.system : (snapshot?.name ?? "the baseline"), b: system },
	});
}

function whyNot({ notCompared }: Compare): { readonly why: string } {
	return {
		why:
			notCompared.length > 0
				? notCompared.map(({ why }) => why).join("; ")
				: tell("no-such-figure"),
	};
}

function gateOf(
	sla: BaselineSla,
	group: Group,
	compared: Comparison | { readonly why: string },
	result: Judgeable,
	unlagged: () => ReturnType<typeof withoutLag>,
): Gate {
	const { system, case: name, confirming, lines } = group;
	const { why: said, ...judged } = judgeBaseline(
		...([sla, compared, runsOf(group, result), unlagged()] as const),
	);
	const why = lines.length > 0 ? said : `${said} (default)`;
	const subject = aboutOf(sla);
	const comparison = "metric" in compared ? compared : null;
	return {
		sla: sla.text,
		system,
		case: name,
		...judged,
		why: confirming === 0 ? why : `${why} (with ${confirming} confirming repeats)`,
		metric: subject === null || subject.kind === "tally" ? null : subject.metric,
		percentile: subject?.kind === "percentile" ? subject.percentile : null,
		limitNs: null,
		n: null,
		over: null,
		allowed: null,
		censored: null,
		events: null,
		phi: null,
		margin: null,
		tally: null,
		beyondNs: null,
		cause: null,
		valueNs: comparison?.unit === "ns" ? comparison.b.median : null,
		lowNs: null,
		highNs: null,
		compares: true,
		comparison: comparison && { ...comparison, judged: comparison.advisory === null },
		line: null,
		repeats: [],
	};
}

/** What was measured for it, on either side; probes of a search may fail, and what it came to counts. */
function runsOf(
	{ system, case: name, baselineSystem, search }: Group,
	{ runs, searches }: Judgeable,
): ComparedRun[] {
	const of = (one: { readonly system: string; readonly case: string }) =>
		one.case === name && (one.system === system || one.system === baselineSystem);
	const named = (one: { readonly system: string; readonly repeat: number }) =>
		`repeat ${one.repeat} of ${one.system}`;
	return search
		? searches
				.filter(of)
				.map((one) => ({ name: named(one), verdict: one.verdict, why: one.answer }))
		: runs.filter(of).map((run) => ({ name: named(run), verdict: run.verdict, why: run.why }));
}
