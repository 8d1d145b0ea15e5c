import { type BaselineSla, isOfAnswer, Metric, type Sla } from "../model/plan.ts";
import { TALLIES, Tally, type TallyUnit, UNITS } from "../model/tallies.ts";
import { suggest } from "../suggest.ts";
import { tell } from "../text/tell.ts";
import { parseDuration, parseRate, ratePerSecond, UnitError } from "../units.ts";
import { parseBaselineLimit } from "./baseline-sla.ts";
import { own } from "./other-tools.ts";

/** Reads one line: one with a limit of its own (`parseSla`), or one whose limit is a baseline's figure and a margin: "p99 <= baseline + 10%", "p99 <= max(baseline + 10%, baseline + 2ms)". */
export function parseLine(source: string): Sla | BaselineSla {
	return orMeant(spaced(source), line);
}

/**
 * Reads a line with a limit: `[metric] percentile op limit` ("p99 < 20ms", "service p(99.9) <= 5ms", "max < 1s") or
 * `counter op limit` ("lost == 0", "failed == all", "throughput >= 100000/s", "drainTime < 30s", "recovered(p99 < 100ms) < 15s").
 * `abort` is the long form's to set. Throws a `UnitError` with a person's sentence.
 */
export function parseSla(source: string): Sla {
	return orMeant(spaced(source), limited);
}

/** The line for a map's key and value, "p99: 5ms" -> "p99 < 5ms"; undefined: it is not an objective. */
export function meantObjective(key: string, limit: unknown): string | undefined {
	const tally = Tally.safeParse(key).data;
	const [usual] = tally === undefined ? ["<"] : UNITS[TALLIES[tally].unit].example.split(" ");
	const value = spaced(String(limit));
	const meant = meantLine(/^[<>=]/.test(value) ? `${key} ${value}` : `${key} ${usual} ${value}`);
	return isObjective(meant, limited) ? meant : undefined;
}

// --- internal ---

/** JavaScript writes smaller numbers in exponent form, which exact fractions are not made from. */
const LOWEST = 0.000_001;

const SOME: Record<TallyUnit, string> = { messages: "1", "messages/s": "1/s", ns: "1s" };

const EITHER = new Intl.ListFormat("en-GB", { type: "disjunction" });

function spaced(text: string): string {
	return text.trim().replaceAll(/\s+/g, " ");
}

/** Reads the line, or tells how the one is written that was probably meant. */
function orMeant<T>(text: string, parse: (text: string) => T): T {
	try {
		return parse(text);
	} catch (error) {
		const meant = meantLine(text);
		if (meant === text || !isObjective(meant, parse)) throw error;
		const unitless = meant.replaceAll(" ", "") === `${text.replaceAll(" ", "")}ms`;
		const code = unitless ? "limit-without-unit" : "objective-meant";
		throw new UnitError(tell(code, { line: text, meant }));
	}
}

function isObjective(text: string, parse: (text: string) => unknown): boolean {
	try {
		parse(text);
		return true;
	} catch {
		return false;
	}
}

function line(text: string): Sla | BaselineSla {
	const compared = /^(recovered ?\(.+\)|.+?) ?(<=|>=|==|<|>) ?(.*\bbaseline\b.*|max ?\(.*)$/.exec(
		text,
	);
	if (!compared) return limited(text);
	const [, left = "", op = "", limit = ""] = compared;
	// With a limit of its kind: whatever is wrong with the rest is told as of every line.
	const tally = Tally.safeParse(left).data;
	const some = SOME[tally === undefined ? "ns" : TALLIES[tally].unit];
	return parseBaselineLimit(limited(`${left} ${op} ${some}`, text), limit);
}

/** "P99 <5", "p999 < 5ms", "response.p99 < 5ms", "99p < 5ms": as it is written here. */
function meantLine(text: string): string {
	const [, left = "", op = "", limit = ""] = /^(.*?) ?([<>=≤≥!]+) ?(.*)$/.exec(text) ?? [];
	const words = left
		.replace(/[._ ](?=p\d)/i, " ")
		.split(" ")
		.map((word) => own(OTHER_WORDS, word.toLowerCase()) ?? word)
		.map((word) => (Tally.safeParse(word).success ? word : quantile(word)));
	if (Metric.safeParse(words.at(-1)).success) words.push("p99");
	const latency = isQuantile(words.at(-1) ?? "");
	const op2 = { "≤": "<=", "≥": ">=", "=<": "<=", "=>": ">=" }[op] ?? op;
	return `${words.join(" ")} ${op2} ${latency && /^[\d.]+$/.test(limit) ? `${limit}ms` : limit}`;
}

/** Words of other tools. An average hides what slow messages do, and so does the fastest one. */
const OTHER_WORDS: Readonly<Record<string, string>> = {
	avg: "p99",
	average: "p99",
	mean: "p99",
	min: "p50",
	median: "p50",
	med: "p50",
	latency: "response",
	loss: "lost",
	errors: "failed",
	corruption: "corrupted",
	duplicates: "duplicated",
	downtime: "unavailable",
};

/** "P99", "99p", "p999" and "p9999": p99, p99, p99.9 and p99.99. */
function quantile(word: string): string {
	const small = word
		.toLowerCase()
		.replace(/^(\d[\d.]*)(?:p|th|%)$/, "p$1")
		.replace(/^(p[\d.]+)%$/, "$1");
	return small.replace(/^p(99)(9+)$/, "p$1.$2");
}

/** `text`: what a person has written, for messages and reports. */
function limited(line: string, text = line): Sla {
	const again = /^recovered ?\((.+)\)(?: ?([<>=!]+) ?(.+))?$/.exec(line);
	if (again) return recoveredLine(text, again);
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
		throw new UnitError(tell("latency-limit", { line: text, left, limit }));
	const sla = {
		text,
		metric: metric.data,
		op,
		limitNs: latency(text, limit),
		abort: false,
	} as const;
	if (quantile === "max") return { kind: "max", ...sla };
	const percentile = Number(/[\d.]+/.exec(quantile)?.[0]);
	if (percentile === 100) throw new UnitError(tell("percentile-100", { line: text, op, limit }));
	if (!(percentile > 0 && percentile < 100))
		throw new UnitError(tell("percentile-range", { line: text }));
	if (percentile < LOWEST) throw new UnitError(tell("percentile-lowest", { line: text }));
	return { kind: "percentile", ...sla, percentile };
}

type TallySla = Extract<Sla, { kind: "tally" }>;

/** "recovered(p99 < 100ms) < 15s": with the latency that has to be met again. */
function recoveredLine(text: string, found: RegExpExecArray): Sla {
	const [, inner = "", op, limit = ""] = found;
	const until = orMeant(inner.trim(), limited);
	if (!isOfAnswer(until))
		throw new UnitError(tell("recovered-until", { line: text, until: inner }));
	if (op === undefined) throw new UnitError(tell("recovered-without-limit", { line: text }));
	const name = `recovered(${until.text})`;
	return { ...tallyLine(text, "recovered", op, limit, name), until };
}

function tallyLine(
	text: string,
	tally: Tally,
	written: string,
	limit: string,
	name: string = tally,
): TallySla {
	const { unit } = TALLIES[tally];
	const { ops, example } = UNITS[unit];
	const op = ops.find((known) => known === written);
	if (op === undefined) {
		// Their own limit, where they have written one.
		const theirs = `${ops[0]} ${limit}`;
		const theirsFits =
			unit !== "messages" && text.endsWith(limit) && isObjective(`${name} ${theirs}`, limited);
		throw new UnitError(
			tell("tally-op", {
				line: text,
				tally: name,
				ops: EITHER.format(ops),
				example: theirsFits ? theirs : example,
			}),
		);
	}
	const all = unit === "messages" && op === "==" && limit === "all";
	return {
		kind: "tally",
		text,
		tally,
		op,
		limit: all ? 0 : LIMITS[unit](text, limit, tally, op),
		...(all && { all }),
		abort: false,
	};
}

const LIMITS: Record<TallyUnit, (text: string, limit: string, tally: Tally, op: string) => number> =
	{
		messages: (text, limit, tally, op) => {
			if (!/^\d{1,15}$/.test(limit))
				throw new UnitError(tell("tally-count", { line: text, tally }));
			if (op === "<" && Number(limit) === 0)
				throw new UnitError(tell("tally-never", { line: text, tally }));
			return Number(limit);
		},
		"messages/s": (text, limit) =>
			ratePerSecond(
				inLine(text, () => {
					const rate = parseRate(limit);
					if (rate.messages > 0) return rate;
					throw UnitError.of("rate", `must be above 0, got ${limit}`);
				}),
			),
		ns: latency,
	};

function latency(text: string, limit: string): number {
	const ns = inLine(text, () => parseDuration(limit));
	if (ns === 0) throw new UnitError(tell("limit-never", { line: text }));
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

function no(text: string, words: readonly string[] = []): UnitError {
	for (const word of words) {
		if (isQuantile(word)) continue;
		const guess = suggest(word, [...Metric.options, ...Tally.options, "max"]);
		if (guess !== undefined && guess !== word)
			return new UnitError(tell("unknown-metric", { line: text, word, guess }));
	}
	return new UnitError(tell("no-objective", { line: text }));
}
