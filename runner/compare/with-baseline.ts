import type { BaselineSnapshot } from "../model/baseline-snapshot.ts";
import type { Baseline, Comparison } from "../model/comparison.ts";
import {
	type BaselineSla,
	baselineLimitText,
	isBaseline,
	marginAt,
	type Plan,
	type Sla,
	subjectOf,
} from "../model/plan.ts";
import type { Gate } from "../model/result.ts";
import { type Verdict, worst } from "../model/verdict.ts";
import { field, HIGHEST_RATE, isRate, judgedFigures } from "../result/fields.ts";
import type { Judgeable } from "../result/outcomes.ts";
import { at, bySystemAndCase } from "../result/select.ts";
import { show } from "../result/show.ts";
import { type Said, said } from "../text/say.ts";
import { containsLag } from "../verdict/facts.ts";
import { NO_NUMBERS } from "../verdict/judgement.ts";
import { baselineOf } from "./baseline-of-result.ts";
import { gateVerdict, type Judged, type Pair, pairOf, type Side } from "./compare.ts";
import { usualMargin } from "./margin.ts";
import { intervalText, ratioOfText } from "./words.ts";

/**
 * Adds a gate for each line that compares, system and case. Without such a line, a baseline's default figures get default margins:
 * naming a baseline asks for regressions. `plans` belong to the runs; without a baseline the result stays as it is.
 */
export function withBaseline(
	result: Judgeable,
	plans: readonly Plan[],
	snapshot: BaselineSnapshot | null,
): Judgeable {
	const own = baselineOf(result);
	const gates: Gate[] = [];
	const comparisons: Comparison[] = [];
	const groups = groupsOf(plans).flatMap((group) => {
		const a = baselineSide(group, own, snapshot);
		return a === null ? [] : [{ group, a }];
	});
	if (groups.length === 0) return result;
	for (const { group, a } of groups) {
		const { system, case: name, lines } = group;
		const b: Side = { name: system, of: own, system, case: name };
		const { pair, notes } = pairOf(a, b, snapshot?.calibration ?? null);
		const judged = new Set<string>();
		for (const line of lines.length > 0 ? lines : defaultLines(a, b)) {
			const figure = field(line.figure).id;
			const compared = pair?.compare(figure, lines.length > 0 ? line : null) ?? null;
			const found =
				spoilt(group, result) ??
				(pair === null || compared === null
					? open(said("not-compared", notes.join("; "), { why: notes.join("; ") }))
					: judgedBy(compared, withoutLag(line, pair, [a, b])));
			gates.push(gateOf(line, group, compared, found));
			if (compared !== null && !judged.has(figure)) comparisons.push(compared);
			judged.add(figure);
		}
		for (const figure of pair?.judged ?? [])
			if (pair && !judged.has(figure)) comparisons.push({ ...pair.compare(figure), judged: false });
	}
	return { ...result, gates: [...result.gates, ...gates], comparisons };
}

// --- internal ---

type Group = ReturnType<typeof groupsOf>[number];

/** `search`: for the highest rate, one figure of many runs. */
function groupsOf(plans: readonly Plan[]) {
	const groups = plans.flatMap((plan) => {
		if (isBaseline(plan)) return [];
		const { system, baselineSystem, baselineSla: lines, search } = plan;
		const name = search?.of ?? plan.case;
		return [{ system, case: name, baselineSystem, lines, search: search !== null }];
	});
	return bySystemAndCase(groups).flatMap(({ all }) => all.slice(-1));
}

function baselineSide(
	{ system, case: name, baselineSystem }: Group,
	own: Baseline,
	snapshot: BaselineSnapshot | null,
): Side | null {
	if (baselineSystem !== null)
		return { name: baselineSystem, of: own, system: baselineSystem, case: name };
	if (!snapshot?.baseline) return null;
	return { name: snapshot.name ?? "the baseline", of: snapshot.baseline, system, case: name };
}

/** None for shortened runs, or if the baseline has no run of it: a message said so before the start. */
function defaultLines(a: Side, b: Side): BaselineSla[] {
	const base = at(a, a.of.runs);
	if (b.of.quick || base.length === 0) return [];
	const all = [...at(b, b.of.runs), ...base];
	const one = all.find((run) => run.without === null) ?? all[0];
	return one === undefined ? [] : judgedFigures(one).map(defaultLine);
}

/** The line that a person would write: "p99 <= baseline + 25%", "throughput >= baseline - 5%". */
function defaultLine(figure: string): BaselineSla {
	const line = {
		kind: "baseline" as const,
		figure,
		op: isRate(figure) ? (">=" as const) : ("<=" as const),
		margin: usualMargin(figure),
		allowanceNs: null,
	};
	return {
		...line,
		text: `${figure.replace(/^response /, "")} ${line.op} ${baselineLimitText(line)}`,
	};
}

/** null for a search's answer, for which no line can be written. */
function aboutOf(line: BaselineSla): Sla | null {
	return line.figure === HIGHEST_RATE ? null : subjectOf(line);
}

interface Found {
	readonly verdict: Verdict;
	readonly said: Said;
}

function open(said: Said): Found {
	return { verdict: "inconclusive", said };
}

/** An INVALID, failed or interrupted run of either side decides, as in every gate. Probes of a search may fail: its answer counts. */
function spoilt(group: Group, { runs, searches }: Judgeable): Found | null {
	const { baselineSystem, search } = group;
	const made = (search ? searches : runs).filter(
		(one) =>
			one.case === group.case && (one.system === group.system || one.system === baselineSystem),
	);
	const verdict = worst(made.map((one) => one.verdict));
	const one = made.find((run) => run.verdict === verdict);
	if (one === undefined || !["interrupted", "error", "invalid"].includes(verdict)) return null;
	const run = `repeat ${one.repeat} of ${one.system}`;
	const why = "why" in one ? one.why : one.answer;
	const text = `${run} is ${verdict.toUpperCase()}${why === null ? "" : `: ${why}`}`;
	return { verdict, said: said("run-decides", text, { run, verdict, why }) };
}

/** The line on service instead, if in any run lag is more than half of the latency, and more than queueing. */
function withoutLag(line: BaselineSla, pair: Pair, sides: readonly Side[]): Judged | null {
	const subject = aboutOf(line);
	if (subject?.kind !== "percentile" || !containsLag(subject.metric)) return null;
	const large = sides
		.flatMap((side) => at(side, side.of.runs))
		.some(({ figures }) => {
			const lag = figures["lag p99"] ?? 0;
			const all = figures[`${subject.metric} p99`] ?? Infinity;
			return lag > all / 2 && lag > (figures["queued p99"] ?? 0);
		});
	return large ? pair.compare(`service p${subject.percentile}`, line) : null;
}

/**
 * FAIL: the whole interval is beyond the margin. PASS: none of it is. Else INCONCLUSIVE.
 * - Lag is the generator's: where it is large, service (`unlagged`) has to agree. A FAIL that service does not share is INVALID, as in
 *   fixed limits; a PASS is open, because equal lag on both sides hides a difference.
 * - On another machine the ratio is about the machines: INCONCLUSIVE, which lets a build through (exit.ts). A gate that went red
 *   whenever a fleet changes machines would be switched off, and a green one would have checked nothing.
 */
function judgedBy(compared: Judged, unlagged: Judged | null): Found {
	const { advisory, why, code, values } = compared;
	const verdict = gateVerdict(compared);
	if (advisory !== null)
		return open(said("not-judged", `not judged, ${advisory}; ${why}`, { advisory, why }));
	if (unlagged === null || verdict === "inconclusive" || gateVerdict(unlagged) === verdict)
		return { verdict, said: { text: why, code, values } };
	const { metric, why: without } = unlagged;
	const text = `the generator's lag is more than half of the compared figure, and without it (${metric}) ${without}; with it, ${why}`;
	return {
		verdict: verdict === "fail" && gateVerdict(unlagged) === "pass" ? "invalid" : "inconclusive",
		said: said("lag-decides", text, { metric, without, why }),
	};
}

function gateOf(
	line: BaselineSla,
	{ system, case: name, lines }: Group,
	comparison: Comparison | null,
	{ verdict, said }: Found,
): Gate {
	const subject = aboutOf(line);
	const { check: _, ...none } = NO_NUMBERS;
	return {
		...none,
		sla: line.text,
		system,
		case: name,
		measured: comparison === null ? "n/a" : measuredText(comparison),
		limit: limitText(line, comparison),
		verdict,
		code: said.code,
		values: said.values,
		why: [said.text, ...(lines.length > 0 ? [] : ["(default)"])].join(" "),
		metric: subject === null || subject.kind === "tally" ? null : subject.metric,
		percentile: subject?.kind === "percentile" ? subject.percentile : null,
		limitNs: null,
		valueNs: comparison?.unit === "ns" ? comparison.b.median : null,
		compares: true,
		comparison,
		line: null,
		repeats: [],
	};
}

/** "1.08x [1.02, 1.15] of 1.2ms" */
function measuredText(c: Comparison): string {
	const { median: value, weak } = c.a;
	if (c.ratio === null || value === null) return "n/a";
	return `${ratioOfText(c)} ${intervalText(c)} of ${show({ value, unit: c.unit, weak })}`;
}

/** "baseline + 10%"; a margin that noise or a stored baseline has raised, with the reason. */
function limitText(line: BaselineSla, comparison: Comparison | null): string {
	if (comparison === null || comparison.margin <= marginAt(line, comparison.a.median))
		return baselineLimitText(line);
	const margin = Number(comparison.margin.toPrecision(3));
	return `${baselineLimitText({ ...line, margin, allowanceNs: null })} (${comparison.marginFrom})`;
}
