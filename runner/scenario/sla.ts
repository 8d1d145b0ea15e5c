import { type BaselineSla, isOfAnswer, Metric, type Sla } from "../model/plan.ts";
import { TALLIES, Tally, type TallyUnit, UNITS } from "../model/tallies.ts";
import { suggest } from "../suggest.ts";
import { type Telling, type Told, tell } from "../text/tell.ts";
import { parseBytes, parseDuration, parseRate, ratePerSecond, UnitError } from "../units.ts";
import { own, words } from "./other-tools.ts";

/** Reads "p99 < 20ms", "lost == 0" or "p99 <= baseline + 10%"; throws a `UnitError` for the author. Only the long form sets `abort`. */
export function parseLine(source: string): Sla | BaselineSla {
	return orMeant(spaced(source), read);
}

/** Refuses limits of a baseline. */
export function parseSla(source: string): Sla {
	return orMeant(spaced(source), withLimit);
}

// --- internal ---

interface Parts {
	readonly text: string;
	readonly left: string;
	readonly op: string;
	readonly limit: string;
}
type Subject =
	| { readonly kind: "tally"; readonly tally: Tally; readonly until?: Latency }
	| { readonly kind: "max"; readonly metric: Metric }
	| { readonly kind: "percentile"; readonly metric: Metric; readonly percentile: number };
type Latency = Exclude<Sla, { kind: "tally" }>;
type Op = BaselineSla["op"] | "==";
/** JavaScript writes smaller numbers with exponents, which exact fractions cannot parse. */
const LOWEST = 0.000_001;
const EITHER = new Intl.ListFormat("en-GB", { type: "disjunction" });

function spaced(text: string): string {
	return text.trim().replaceAll(/\s+/g, " ");
}

function read(text: string): Sla | BaselineSla {
	const parts = partsOf(text);
	return /\bbaseline\b|^max ?\(/.test(parts.limit) ? compared(parts) : limited(parts);
}

function withLimit(text: string): Sla {
	return limited(partsOf(text));
}

function partsOf(text: string): Parts {
	const [, left, op = "", limit = ""] =
		/^(recovered ?\(.+\)|.+?) ?(<=|>=|==|=<|=>|!=|<|>|=) ?(.+)$/.exec(text) ?? [];
	if (left === undefined) throw refused("no-objective", { line: text });
	return { text, left, op, limit };
}

function subjectOf(parts: Parts): { subject: Subject; op: Op } {
	const { text: line, left, op, limit } = parts;
	const again = /^recovered ?\((.+)\)$/.exec(left)?.[1]?.trim();
	if (again !== undefined) {
		const until = orMeant(again, withLimit);
		if (!isOfAnswer(until)) throw refused("recovered-until", { line, until: again });
		const op = tallyOp(parts, "recovered", `recovered(${until.text})`);
		return { subject: { kind: "tally", tally: "recovered", until }, op };
	}
	const tally = Tally.safeParse(
		left.replaceAll(/ ([a-z])/g, (_, first) => first.toUpperCase()),
	).data;
	if (tally !== undefined) return { subject: { kind: "tally", tally }, op: tallyOp(parts, tally) };
	const words = left.split(" ");
	const quantile = words.at(-1) ?? "";
	const metric = Metric.safeParse(words.length === 2 ? words[0] : "response").data;
	if (words.length > 2 || !isQuantile(quantile) || metric === undefined)
		throw refused("no-objective", { line });
	if (op !== "<" && op !== "<=") throw refused("latency-limit", { line, left, limit });
	if (quantile === "max") return { subject: { kind: "max", metric }, op };
	const percentile = Number(/[\d.]+/.exec(quantile)?.[0]);
	if (percentile < LOWEST || percentile >= 100) throw refused("percentile-range", { line });
	return { subject: { kind: "percentile", metric, percentile }, op };
}

function tallyOp({ text: line, op }: Parts, tally: Tally, name: string = tally): Op {
	const { ops, example } = UNITS[TALLIES[tally].unit];
	const known = ops.find((one) => one === op);
	if (known !== undefined) return known;
	throw refused("tally-op", { line, tally: name, ops: EITHER.format(ops), example });
}

function limited(parts: Parts): Sla {
	const { text, limit } = parts;
	const { subject, op } = subjectOf(parts);
	if (subject.kind !== "tally") {
		const limitNs = latency(text, limit);
		const sla = { text, metric: subject.metric, op: op as Latency["op"], limitNs, abort: false };
		return subject.kind === "max"
			? { kind: "max", ...sla }
			: { kind: "percentile", ...sla, percentile: subject.percentile };
	}
	const { kind, tally, ...until } = subject;
	const { unit } = TALLIES[tally];
	const all = unit === "messages" && op === "==" && limit === "all";
	const value = all ? 0 : LIMITS[unit](text, limit);
	if (unit === "messages" && op === "<" && value === 0)
		throw refused("limit-never", { line: text, instead: `${tally} == 0` });
	// Plans keep this order.
	return { kind, text, tally, op, limit: value, ...(all && { all }), abort: false, ...until };
}

const LIMITS: Record<TallyUnit, (text: string, limit: string) => number> = {
	messages: (line, limit) => {
		if (/^\d{1,15}$/.test(limit)) return Number(limit);
		throw refused("tally-count", { line, tally: line.split(/[ <=]/)[0] });
	},
	"messages/s": (_, limit) => {
		const rate = parseRate(limit);
		if (rate.messages > 0) return ratePerSecond(rate);
		throw UnitError.of("rate", `must be above 0, got ${limit}`);
	},
	ns: latency,
	bytes: (_, limit) => parseBytes(limit),
};

function latency(line: string, limit: string): number {
	const ns = parseDuration(limit);
	if (ns === 0) throw refused("limit-never", { line, instead: "a limit above 0" });
	return ns;
}

/** No two runs agree within 1%; a margin of ten times checks nothing. */
const LEAST_PERCENT = 1;
const MOST_PERCENT = { higher: 900, lower: 90 };
const MARGIN = /^baseline ?(?:([+-]) ?(\d+(?:\.\d+)?) ?%|\* ?(\d+(?:\.\d+)?))$/;
const TIME = /^baseline ?\+ ?(\d[\d.]* ?[a-zµ]+)$/i;

/** The limit is a baseline's figure and a margin: higher for latencies and times, lower for rates. */
function compared(parts: Parts): BaselineSla {
	const { text, left, limit } = parts;
	const { subject, op } = subjectOf(parts);
	if (subject.kind === "max") throw refused("baseline-of-max", { line: text });
	const tally = subject.kind === "tally" ? subject.tally : null;
	if (tally !== null && TALLIES[tally].unit === "messages")
		throw refused("baseline-of-count", { line: text, tally });
	// Scenarios may differ in the latency to recover to.
	if (tally === "recovered") throw refused("baseline-of-recovered", { line: text });
	const worse = op === "<" || op === "<=" ? "higher" : "lower";
	const most = MOST_PERCENT[worse];
	const [, one = limit, other] = /^max ?\( ?([^,]+?) ?, ?([^,]+?) ?\)$/.exec(limit) ?? [];
	const [margin, time] = other !== undefined && TIME.test(one) ? [other, one] : [one, other];
	const percent = percentOf(margin, worse);
	const allowance = time === undefined ? undefined : TIME.exec(time)?.[1];
	const allowanceNs = allowance === undefined ? null : parseDuration(allowance);
	const right =
		percent >= LEAST_PERCENT &&
		percent <= most &&
		(time === undefined || (tally === null && allowanceNs));
	const write = `${left} ${op} baseline ${worse === "higher" ? "+ 10%" : "- 5%"}`;
	if (!right) throw refused("margin-odd", { line: text, worse, least: LEAST_PERCENT, most, write });
	const figure =
		subject.kind === "tally" ? subject.tally : `${subject.metric} p${subject.percentile}`;
	return {
		kind: "baseline",
		text,
		figure,
		op: op as BaselineSla["op"],
		margin: Number((percent / 100).toFixed(9)),
		allowanceNs,
	};
}

/** Percent by which a figure may be worse; negative if it must be better, NaN if the text is not a margin. */
function percentOf(text: string, worse: "higher" | "lower"): number {
	const [, sign, number, factor] = MARGIN.exec(text) ?? [];
	const percent = factor === undefined ? Number(`${sign}${number}`) : (Number(factor) - 1) * 100;
	// 1.1 - 1 is not 0.1 in floating point.
	return Number((worse === "higher" ? percent : -percent).toFixed(7));
}

function isQuantile(word: string): boolean {
	return /^(max|p\d{1,3}(\.\d{1,9})?|p\(\d{1,3}(\.\d{1,9})?\))$/.test(word);
}

function refused<C extends Told>(code: C, ...values: Telling<C>): UnitError {
	return new UnitError(tell(code, ...values));
}

/** Reads the text; its error suggests a likely correction. */
function orMeant<T>(text: string, parse: (text: string) => T): T {
	try {
		return parse(text);
	} catch (error) {
		if (!(error instanceof UnitError)) throw error;
		const meant = meantLine(text);
		if (meant !== text && isObjective(meant, parse))
			throw refused("objective-meant", { line: text, meant });
		const named = error.message.startsWith(`"${text}"`);
		throw named ? error : new UnitError(`"${text}": ${error.message}`);
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

const WORDS = [...Metric.options, ...Tally.options, "max"];

/** Averages hide slow messages, and so does the minimum. */
const OTHER_WORDS = words({
	p99: "avg average mean",
	p50: "min median med",
	response: "latency",
	lost: "loss",
	failed: "errors",
	corrupted: "corruption",
	duplicated: "duplicates",
	unavailable: "downtime",
});

/** Corrects "P99 <5", "p999 < 5ms", "response.p99 < 5ms", "99p < 5ms", "servce p99 < 5ms". */
function meantLine(text: string): string {
	const [, left = "", op = "", limit = ""] = /^(.*?) ?([<>=≤≥!]+) ?(.*)$/.exec(text) ?? [];
	const meant = left
		.replace(/[._ ](?=p\d)/i, " ")
		.split(" ")
		.map((word) => own(OTHER_WORDS, word.toLowerCase()) ?? quantile(word))
		.map((word) => (isQuantile(word) ? word : (suggest(word, WORDS) ?? word)));
	if (Metric.safeParse(meant.at(-1)).success) meant.push("p99");
	const unitless = isQuantile(meant.at(-1) ?? "") && /^[\d.]+$/.test(limit);
	const known = { "≤": "<=", "≥": ">=", "=<": "<=", "=>": ">=" }[op] ?? op;
	return `${meant.join(" ")} ${known} ${limit}${unitless ? "ms" : ""}`;
}

/** Corrects "P99", "99p", "p999" and "p9999" to p99, p99, p99.9 and p99.99. */
function quantile(word: string): string {
	return word
		.toLowerCase()
		.replace(/^(\d[\d.]*)(?:p|th|%)$/, "p$1")
		.replace(/^(p[\d.]+)%$/, "$1")
		.replace(/^p(99)(9+)$/, "p$1.$2");
}
