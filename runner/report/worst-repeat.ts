import type { Gate, Result, Run } from "../model/result.ts";
import type { Outcome } from "./outcomes.ts";
import { percentileValue } from "./words.ts";

type Repeat = Gate["repeats"][number];

/** The repeat that stands for the gate: of those with its worst verdict the one that is furthest from the limit. */
export function worstRepeat({ repeats }: Gate): Repeat | null {
	const failing = repeats.filter((r) => r.verdict === "fail");
	const bad = repeats.filter((r) => r.verdict !== "pass");
	const [first = null, ...others] =
		failing.length > 0 ? failing : bad.length > 0 ? bad : repeats;
	return others.reduce(
		(worst, one) =>
			worst === null || badness(one) > badness(worst) ? one : worst,
		first,
	);
}

/** The run that an outcome is about; of a gate that of its worst repeat, of one that compares the first that is as bad. null: there is none. */
export function worstRun(outcome: Outcome, result: Result): Run | null {
	const { of } = outcome;
	if (of.kind === "run") return of.run;
	if (of.kind !== "gate") return null;
	const runs = runsOf(of.gate, result);
	if (of.gate.compares)
		return (
			runs.find((run) => run.verdict === outcome.verdict) ?? runs[0] ?? null
		);
	const repeat = worstRepeat(of.gate)?.repeat ?? 1;
	return runs.find((run) => run.repeat === repeat) ?? null;
}

/** All repeats that a gate is about. */
export function runsOf(
	gate: Pick<Gate, "system" | "case">,
	{ runs }: Result,
): Run[] {
	return runs.filter(
		(run) =>
			run.search === null &&
			run.system === gate.system &&
			run.case === gate.case,
	);
}

/** p99 of the metric that a gate judges, in the worst of its repeats, as reports print it; null: there is none. */
export function p99Of(gate: Gate, result: Result): string | null {
	const found = runsOf(gate, result).flatMap((run) => {
		const p = run.metrics[gate.metric ?? run.main]?.percentiles.find(
			(x) => x.p === 99,
		);
		return p === undefined || p.support === "none" ? [] : [{ p, run }];
	});
	const size = (x: (typeof found)[number]) =>
		x.p.value ?? Number.POSITIVE_INFINITY;
	const [first, ...others] = found;
	if (first === undefined) return null;
	const worst = others.reduce((a, b) => (size(b) > size(a) ? b : a), first);
	return percentileValue(worst.p, worst.run);
}

// --- internal ---

/** How bad one is among repeats of the same gate: the larger the worse. */
function badness({ margin, n, tally }: Repeat): number {
	if (margin !== null)
		return margin === 0 ? Number.POSITIVE_INFINITY : 1 / margin;
	// Nothing completed.
	if (n !== null) return Number.POSITIVE_INFINITY;
	const value = tally?.value ?? null;
	if (tally === null || value === null) return 0;
	// The smaller a rate is the worse.
	return tally.unit === "messages/s" ? -value : value;
}
