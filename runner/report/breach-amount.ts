import type { Gate } from "../model/result.ts";
import { formatCount, formatDuration } from "../units.ts";
import type { Outcome } from "./outcomes.ts";
import { worstRepeat } from "./worst-repeat.ts";

/** What broke, by how much: "p99 is 400ms: 40x the limit of 10ms, 390ms above it; 490 of 10 000 messages took longer, 100 may". */
export function amountText(outcome: Outcome): string {
	const { of, verdict, what, why } = outcome;
	if (of.kind === "comparison" || (of.kind === "gate" && of.gate.comparison))
		return `${what}: ${why}`;
	if (of.kind !== "gate") return why;
	return verdict === "fail"
		? failedText(of.gate)
		: `${what} ${UNDECIDED[verdict]}: ${why}`;
}

// --- internal ---

type Repeat = Gate["repeats"][number];

const UNDECIDED: Readonly<Record<Gate["verdict"], string>> = {
	pass: "is met",
	fail: "is breached",
	inconclusive: "is neither met nor breached",
	invalid: "was not judged",
	error: "cannot be judged",
	interrupted: "was not judged",
};

function failedText(gate: Gate): string {
	const worst = worstRepeat(gate);
	if (worst === null) return gate.why;
	const subject = gate.sla.split(/\s*[<>=]/)[0] ?? gate.sla;
	const repeat =
		gate.repeats.length > 1 ? ` in repeat ${worst.repeat}, the worst` : "";
	const { tally } = worst;
	if (tally?.unit === "messages" && tally.limit === 0)
		return `${worst.measured} ${subject}${repeat}, where none may be`;
	const by = byText(gate, worst);
	// What is counted in messages says more of a latency than its value alone.
	const over =
		worst.over !== null && worst.n !== null && worst.allowed !== null
			? `; ${formatCount(worst.over)} of ${formatCount(worst.n)} messages took longer, ${formatCount(Math.floor(worst.allowed))} may`
			: "";
	return `${subject} is ${worst.measured}${repeat}${by === null ? ` (${gate.sla})` : `: ${by}`}${over}`;
}

/** "40x the limit of 10ms, 390ms above it"; null: no number was measured. */
function byText(
	{ limit, limitNs }: Gate,
	{ tally, valueNs, beyondNs }: Repeat,
): string | null {
	if (tally !== null) return ofTally(tally, limit);
	if (limitNs === null) return null;
	if (valueNs !== null) return above(valueNs, limitNs, limit, formatDuration);
	return beyondNs === null || limitNs === 0
		? null
		: `more than ${times(beyondNs / limitNs)} the limit of ${limit}, as messages never completed`;
}

function ofTally(
	{ value, limit, unit }: NonNullable<Repeat["tally"]>,
	limitText: string,
): string | null {
	if (value === null) return null;
	if (unit !== "messages/s")
		return above(
			value,
			limit,
			limitText,
			unit === "ns" ? formatDuration : formatCount,
		);
	return value < limit
		? `${formatCount(limit - value)}/s (${percent(1 - value / limit)}) below the ${limitText} that it has to reach`
		: null;
}

function above(
	value: number,
	limit: number,
	limitText: string,
	format: (x: number) => string,
): string | null {
	if (!(limit > 0)) return null;
	// The counts have decided; the value is as near as the histogram's digits go.
	if (value <= limit) return `at the limit of ${limitText}`;
	const factor = value / limit;
	return factor >= 1.5
		? `${times(factor)} the limit of ${limitText}, ${format(value - limit)} above it`
		: `${percent(factor - 1)} above the limit of ${limitText} (by ${format(value - limit)})`;
}

function times(factor: number): string {
	return `${formatCount(factor >= 100 ? Math.round(factor) : Number(factor.toPrecision(2)))}x`;
}

function percent(part: number): string {
	const value = part * 100;
	return `${value < 0.1 ? "less than 0.1" : Number(value.toPrecision(2))} %`;
}
