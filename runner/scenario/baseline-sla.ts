import type { BaselineSla, Sla } from "../model/plan.ts";
import { TALLIES } from "../model/tallies.ts";
import { UnitError } from "../units.ts";

/**
 * Reads the limit of a line that compares: "baseline + 10%" or "baseline * 1.1" of a latency, "baseline - 5%" or
 * "baseline * 0.95" of a rate. `subject` is the line as if it had a fixed limit. Throws a `UnitError` with a person's sentence.
 */
export function parseBaselineLimit(subject: Sla, limit: string): BaselineSla {
	const { text } = subject;
	const wrong = (sentence: string) => new UnitError(`"${text}": ${sentence}`);
	if (subject.kind === "max")
		throw wrong(
			"max is a single message, and differs in every run; write e.g. p99.9 <= baseline + 25%",
		);
	if (subject.kind === "tally" && TALLIES[subject.tally].unit === "messages")
		throw wrong(
			`${subject.tally} is a number of messages and takes a fixed limit; write ${subject.tally} == 0`,
		);
	const { op } = subject;
	if (op === "==")
		throw wrong("two runs never give the same figure; write <= or >=");
	const left = text.slice(0, text.length - limit.length).trimEnd();
	const higher = op === "<" || op === "<=";
	const example = `${left} baseline ${higher ? "+ 10%" : "- 5%"}`;
	const margin = marginOf(limit, higher, example, wrong);
	if (margin < LEAST)
		throw wrong(
			`two runs of the same system differ by more than that; write at least 1%, e.g. ${example}`,
		);
	const most = higher ? MOST_LATENCY : MOST_RATE;
	// 10 times in floating point is a hair more than 900 %.
	if (margin > most + 1e-9)
		throw wrong(
			`with this margin nearly everything passes; write at most ${Math.round(most * 100)}%, e.g. ${example}`,
		);
	return { kind: "baseline", text, figure: figureOf(subject), op, margin };
}

// --- internal ---

/** Less than 1 % no two runs agree in; beyond ten times as slow, or a tenth as fast, nothing is gated. */
const LEAST = 0.01;
const MOST_LATENCY = 9;
const MOST_RATE = 0.9;

function figureOf(subject: Exclude<Sla, { kind: "max" }>): string {
	return subject.kind === "tally"
		? subject.tally
		: `${subject.metric} p${subject.percentile}`;
}

/** `higher`: the figure may be higher than the baseline's, as it is a latency; else lower. */
function marginOf(
	limit: string,
	higher: boolean,
	example: string,
	wrong: (sentence: string) => UnitError,
): number {
	if (limit === "baseline")
		throw wrong(
			`two runs of the same system are never equal; write how much worse it may be, e.g. ${example}`,
		);
	const found =
		/^baseline ?(?:([+-]) ?(\d+(?:\.\d+)?) ?(%?)|\* ?(\d+(?:\.\d+)?))$/.exec(
			limit,
		);
	if (!found)
		throw wrong(`baseline takes a margin in per cent; write e.g. ${example}`);
	const [, sign, number, percent, factor] = found;
	const worse = higher ? "higher" : "lower";
	if (factor !== undefined) {
		const part = higher ? Number(factor) - 1 : 1 - Number(factor);
		if (part < 0)
			throw wrong(
				`this asks for more than the baseline has; write how much ${worse} it may be, e.g. ${example}`,
			);
		// 1.1 - 1 is not 0.1 in floating point.
		return Number(part.toFixed(9));
	}
	if (percent === "")
		throw wrong(
			`a margin is in per cent; write ${example.replace(/ [+-] \d+%$/, "")} ${sign} ${number}%`,
		);
	if ((sign === "+") !== higher)
		throw wrong(
			`the margin is how much ${worse} a ${higher ? "latency" : "rate"} may be; write ${example.replace(/[+-] \d+%$/, `${higher ? "+" : "-"} ${number}%`)}`,
		);
	return Number((Number(number) / 100).toFixed(9));
}
