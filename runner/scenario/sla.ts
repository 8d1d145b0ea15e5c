import type { BaselineSla, Sla } from "../model/plan.ts";
import { Metric } from "../model/plan.ts";
import { TALLIES, Tally, type TallyUnit, UNITS } from "../model/tallies.ts";
import { suggest } from "../suggest.ts";
import {
	parseDuration,
	parseRate,
	ratePerSecond,
	UnitError,
} from "../units.ts";
import { parseBaselineLimit } from "./baseline-sla.ts";

/** Reads one line: one with a limit of its own (`parseSla`), or one whose limit is a baseline's figure and a margin: "p99 <= baseline + 10%". */
export function parseLine(source: string): Sla | BaselineSla {
	const text = spaced(source);
	const compared =
		/^(?<left>.+?) ?(?<op><=|>=|==|<|>) ?(?<limit>baseline\b.*)$/.exec(text);
	if (!compared?.groups) return parseSla(text);
	const { left = "", op = "", limit = "" } = compared.groups;
	// With a limit of its kind: whatever is wrong with the rest is told as of every line.
	const tally = Tally.safeParse(left).data;
	const some = SOME[tally === undefined ? "ns" : TALLIES[tally].unit];
	return parseBaselineLimit(limited(`${left} ${op} ${some}`, text), limit);
}

/**
 * Reads a line with a limit: `[metric] percentile op limit` ("p99 < 20ms", "service p(99.9) <= 5ms", "max < 1s") or
 * `counter op limit` ("lost == 0", "throughput >= 100000/s", "drainTime < 30s"). `abort` is the long form's to set. Throws a
 * `UnitError` with a person's sentence.
 */
export function parseSla(source: string): Sla {
	return limited(spaced(source));
}

// --- internal ---

const SOME: Record<TallyUnit, string> = {
	messages: "1",
	"messages/s": "1/s",
	ns: "1s",
};

function spaced(text: string): string {
	return text.trim().replaceAll(/\s+/g, " ");
}

/** `text`: what a person has written, for messages and reports. */
function limited(line: string, text = line): Sla {
	const match = /^(.*?)\s*(<=|>=|==|=<|=>|!=|<|>|=)\s*(.*)$/.exec(line);
	const [, left = "", op = "", limit = ""] = match ?? [];
	if (!match || left === "" || limit === "") throw no(text);

	const words = left.split(" ");
	const tally = Tally.safeParse(left);
	if (tally.success) return tallyLine(text, tally.data, op, limit);

	const quantile = words.at(-1) ?? "";
	const metric = Metric.safeParse(words.length === 2 ? words[0] : "response");
	if (words.length > 2 || !isQuantile(quantile)) throw no(text, words);
	if (!metric.success) throw no(text, words.slice(0, 1));

	if (op !== "<" && op !== "<=")
		throw new UnitError(
			`"${text}": a latency limit takes < or <=, e.g. ${left} < 20ms`,
		);
	const found = {
		text,
		metric: metric.data,
		op,
		limitNs: latency(text, limit),
		abort: false,
	} as const;
	if (quantile === "max") return { kind: "max", ...found };
	const percentile = Number(/[\d.]+/.exec(quantile)?.[0]);
	if (percentile === 100)
		throw new UnitError(
			`"${text}": the 100th percentile is the largest sample; write max ${op} ${limit}`,
		);
	if (!(percentile > 0 && percentile < 100))
		throw new UnitError(
			`"${text}": a percentile lies between 0 and 100, e.g. p99 or p99.9`,
		);
	return { kind: "percentile", ...found, percentile };
}

function tallyLine(
	text: string,
	tally: Tally,
	written: string,
	limit: string,
): Sla {
	const { unit } = TALLIES[tally];
	const { ops, example } = UNITS[unit];
	const op = ops.find((known) => known === written);
	if (op === undefined)
		throw new UnitError(
			`"${text}": ${tally} takes ${ops.slice(0, -1).join(", ")} or ${ops.at(-1)}, e.g. ${tally} ${example}`,
		);
	return {
		kind: "tally",
		...{ text, tally, op, limit: LIMITS[unit](text, limit, tally, op) },
		abort: false,
	};
}

const LIMITS: Record<
	TallyUnit,
	(text: string, limit: string, tally: Tally, op: string) => number
> = {
	messages: (text, limit, tally, op) => {
		if (!/^\d{1,15}$/.test(limit))
			throw new UnitError(
				`"${text}": ${tally} is a number of messages, e.g. ${tally} == 0`,
			);
		if (op === "<" && Number(limit) === 0)
			throw new UnitError(`"${text}" can never hold; write ${tally} == 0`);
		return Number(limit);
	},
	"messages/s": (text, limit) =>
		ratePerSecond(inLine(text, () => parseRate(limit))),
	ns: latency,
};

function latency(text: string, limit: string): number {
	const ns = inLine(text, () => parseDuration(limit));
	if (ns === 0)
		throw new UnitError(`"${text}" can never hold; a limit is above 0`);
	return ns;
}

/** Names the line in front of what is wrong with its limit. */
function inLine<T>(text: string, parse: () => T): T {
	try {
		return parse();
	} catch (error) {
		if (!(error instanceof UnitError)) throw error;
		throw new UnitError(`"${text}": ${error.message}`);
	}
}

function isQuantile(word: string): boolean {
	return /^(max|p\d{1,3}(\.\d{1,9})?|p\(\d{1,3}(\.\d{1,9})?\))$/.test(word);
}

/** Words of other tools, and what says the same here. */
const otherWords: Readonly<Record<string, string>> = {
	avg: "averages hide what matters; write p50 or p99",
	average: "averages hide what matters; write p50 or p99",
	mean: "averages hide what matters; write p50 or p99",
	median: "write p50",
	med: "write p50",
	min: "the smallest sample says nothing about a system; write p50 or p99",
	latency:
		"write response (from the intended time) or service (from the send call)",
	loss: "write lost",
	errors: "write failed",
	corruption: "write corrupted",
	duplicates: "write duplicated",
};

function no(text: string, words: readonly string[] = []): UnitError {
	for (const word of words) {
		const advice = Object.hasOwn(otherWords, word) && otherWords[word];
		if (advice)
			return new UnitError(`"${text}": ${word} is no metric here; ${advice}`);
		if (isQuantile(word)) continue;
		const guess = suggest(word, [...Metric.options, ...Tally.options, "max"]);
		if (guess !== undefined && guess !== word)
			return new UnitError(
				`"${text}": ${word} is no metric; did you mean ${guess}?`,
			);
	}
	return new UnitError(
		`"${text}" is no objective; write [metric] percentile op limit, e.g. p99 < 20ms, service p99.9 <= 5ms, lost == 0 (metrics: ${Metric.options.join(", ")}; counters: ${Tally.options.join(", ")})`,
	);
}
