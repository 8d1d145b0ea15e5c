import type { BaselineSla, Sla } from "../model/plan.ts";
import { TALLIES } from "../model/tallies.ts";
import { tell } from "../text/tell.ts";
import { parseDuration, UnitError } from "../units.ts";

/**
 * Reads the limit of a line that compares: "baseline + 10%" or "baseline * 1.1" of a latency, "baseline - 5%" or
 * "baseline * 0.95" of a rate, "max(baseline * 1.1, baseline + 2ms)" of a latency. `subject` is the line as if it had a fixed limit. Throws a `UnitError` with a person's sentence.
 */
export function parseBaselineLimit(subject: Sla, limit: string): BaselineSla {
	const { text } = subject;
	const wrong = (sentence: string) => new UnitError(`"${text}": ${sentence}`);
	if (subject.kind === "max") throw wrong(tell("baseline-of-max"));
	if (subject.kind === "tally" && TALLIES[subject.tally].unit === "messages")
		throw wrong(tell("baseline-of-count", { tally: subject.tally }));
	// What has to be met again is another latency in every scenario.
	if (subject.kind === "tally" && subject.tally === "recovered")
		throw wrong(tell("baseline-of-recovered"));
	const { op } = subject;
	if (op === "==") throw wrong(tell("baseline-equal"));
	const left = text.slice(0, text.length - limit.length).trimEnd();
	const higher = op === "<" || op === "<=";
	const example = `${left} baseline ${higher ? "+ 10%" : "- 5%"}`;
	const larger = limit.startsWith("max")
		? partsOf(limit, subject.kind === "tally", left, example, wrong)
		: { part: limit, allowanceNs: null };
	const { part, allowanceNs } = larger;
	const time = TIME.exec(part)?.[1];
	if (time !== undefined && subject.kind !== "tally")
		throw wrong(tell("margin-in-time", { left, time }));
	const margin = marginOf(part, higher, example, wrong);
	if (margin < LEAST) throw wrong(tell("margin-too-small", { example }));
	const most = higher ? MOST_LATENCY : MOST_RATE;
	// 10 times in floating point is a hair more than 900 %.
	if (margin > most + 1e-9)
		throw wrong(tell("margin-too-large", { most: Math.round(most * 100), example }));
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
	if (tally) throw wrong(tell("max-of-rate", { example }));
	const parts = (/^max ?\((.*)\)$/.exec(limit)?.[1] ?? "").split(",").map((one) => one.trim());
	const times = parts.flatMap((one) => TIME.exec(one)?.[1] ?? []);
	const [part, ...more] = parts.filter((one) => !TIME.test(one));
	const [time = "", ...others] = times;
	if (part === undefined || time === "" || more.length + others.length > 0)
		throw wrong(tell("max-of-two", { left }));
	try {
		const allowanceNs = parseDuration(time);
		if (allowanceNs > 0) return { part, allowanceNs };
	} catch (error) {
		if (!(error instanceof UnitError)) throw error;
		throw wrong(error.message);
	}
	throw wrong(tell("margin-nothing", { timeNs: 0, example }));
}

function figureOf(subject: Exclude<Sla, { kind: "max" }>): string {
	return subject.kind === "tally" ? subject.tally : `${subject.metric} p${subject.percentile}`;
}

/** `higher`: the figure may be higher than the baseline's, as it is a latency; else lower. */
function marginOf(
	limit: string,
	higher: boolean,
	example: string,
	wrong: (sentence: string) => UnitError,
): number {
	if (limit === "baseline") throw wrong(tell("margin-missing", { example }));
	const match = /^baseline ?(?:([+-]) ?(\d+(?:\.\d+)?) ?(%?)|\* ?(\d+(?:\.\d+)?))$/.exec(limit);
	if (!match) throw wrong(tell("margin-odd", { example }));
	const [, sign, number, percent, factor] = match;
	const worse = higher ? "higher" : "lower";
	if (factor !== undefined) {
		const part = higher ? Number(factor) - 1 : 1 - Number(factor);
		if (part < 0) throw wrong(tell("margin-below", { worse, example }));
		// 1.1 - 1 is not 0.1 in floating point.
		return Number(part.toFixed(9));
	}
	if (percent === "")
		throw wrong(
			tell("margin-without-percent", { left: example.replace(/ [+-] \d+%$/, ""), sign, number }),
		);
	if ((sign === "+") !== higher)
		throw wrong(
			tell(higher ? "margin-of-latency" : "margin-of-rate", {
				left: example.replace(/[+-] \d+%$/, ""),
				number,
			}),
		);
	return Number((Number(number) / 100).toFixed(9));
}
