import type { BaselineSla, Sla } from "../model/plan.ts";
import { TALLIES } from "../model/tallies.ts";
import { formatDurationExact, parseDuration, UnitError } from "../units.ts";

/**
 * Reads the limit of a line that compares: "baseline + 10%" or "baseline * 1.1" of a latency, "baseline - 5%" or
 * "baseline * 0.95" of a rate, "max(baseline * 1.1, baseline + 2ms)" of a latency. `subject` is the line as if it had a fixed limit. Throws a `UnitError` with a person's sentence.
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
	const larger = limit.startsWith("max")
		? partsOf(limit, subject.kind === "tally", left, example, wrong)
		: { part: limit, allowanceNs: null };
	const { part, allowanceNs } = larger;
	const time = TIME.exec(part)?.[1];
	if (time !== undefined && subject.kind !== "tally")
		throw wrong(
			`a margin in time needs one in per cent beside it, for slower systems; write ${left} max(baseline + 10%, baseline + ${time})`,
		);
	const margin = marginOf(part, higher, example, wrong);
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
	const figure = figureOf(subject);
	return { kind: "baseline", text, figure, op, margin, allowanceNs };
}

// --- internal ---

/** Less than 1 % no two runs agree in; beyond ten times as slow, or a tenth as fast, nothing is gated. */
const LEAST = 0.01;
const MOST_LATENCY = 9;
const MOST_RATE = 0.9;

/** "baseline + 2ms" */
const TIME = /^baseline ?\+ ?(\d[\d.]* ?[a-zµ]+)$/i;

/** "max(baseline * 1.1, baseline + 2ms)": the part and the time, in any order. */
function partsOf(
	limit: string,
	tally: boolean,
	left: string,
	example: string,
	wrong: (sentence: string) => UnitError,
): { part: string; allowanceNs: number } {
	if (tally)
		throw wrong(`max is for latencies; write a margin in per cent: ${example}`);
	const parts = (/^max ?\((.*)\)$/.exec(limit)?.[1] ?? "")
		.split(",")
		.map((one) => one.trim());
	const times = parts.flatMap((one) => TIME.exec(one)?.[1] ?? []);
	const [part, ...more] = parts.filter((one) => !TIME.test(one));
	const [time = "", ...others] = times;
	if (part === undefined || time === "" || more.length + others.length > 0)
		throw wrong(
			`max takes two limits, one in per cent and one in time; write ${left} max(baseline + 10%, baseline + 2ms)`,
		);
	try {
		const allowanceNs = parseDuration(time);
		if (allowanceNs > 0) return { part, allowanceNs };
	} catch (error) {
		if (!(error instanceof UnitError)) throw error;
		throw wrong(error.message);
	}
	throw wrong(`${formatDurationExact(0)} allows nothing; write ${example}`);
}

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
