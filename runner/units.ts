/** The only parser and formatter of units. Parsers are exact (no floating point), formatters give three digits, `...Exact` all. */

/** Its message is for the author. `ofValue` leaves out the value's kind, so its name can go first: "must be above 0, got 0s". */
export class UnitError extends Error {
	override readonly name = "UnitError";
	readonly ofValue: string | undefined;
	constructor(message: string, ofValue?: string) {
		super(message);
		this.ofValue = ofValue;
	}
	static of(kind: Kind, what: string): UnitError {
		return new UnitError(`${kind} ${what}`, what);
	}
}

/** The texts that the parsers take, as regular expressions that JavaScript, Python and Java read alike. */
export const UNIT_PATTERNS: Readonly<Record<Kind, string>> = {
	duration: "^\\s*\\+?[0-9]+(\\.[0-9]+)?\\s*(ns|us|µs|μs|ms|s|min|h)\\s*$",
	size: "^\\s*\\+?[0-9]+(\\.[0-9]+)?\\s*(B|[Kk]B|[MG]B|[KMG]iB)\\s*$",
	rate: "^\\s*\\+?[0-9]+(\\.[0-9]+)?\\s*/\\s*[0-9]*(ns|us|µs|μs|ms|s|min|h)\\s*$",
};

/** `messages` per `perNs` nanoseconds, an exact ratio: a schedule never drifts. */
export interface Rate {
	readonly messages: number;
	readonly perNs: number;
}

const MAX_RATE_PER_SECOND = 10_000_000;

/** "250ms" -> 250000000 */
export function parseDuration(text: string): number {
	const { number, unit } = split(text, DURATION_NS, "duration");
	return whole(number, DURATION_NS[unit], text, "duration", "nanoseconds");
}

/** "1KiB" -> 1024. KB, MB and GB are powers of 1000; KiB, MiB and GiB of 1024. */
export function parseBytes(text: string): number {
	const { number, unit } = split(text, BYTES, "size");
	return whole(number, BYTES[unit], text, "size", "bytes");
}

/** "3000/s" -> 3000 per 1e9 ns, "7/3s" -> 7 per 3e9 ns, "0.5/s" -> 1 per 2e9 ns. At most 1e7/s; 0 means an idle stretch. */
export function parseRate(text: string): Rate {
	const match = /^\s*([^/]*?)\s*\/\s*([^/]*?)\s*$/.exec(text);
	const number = match && decimal(match[1] ?? "");
	// "/s" is "/1s".
	const per = /^(\d*)([a-zµμ]+)$/.exec(match?.[2] ?? "");
	const unit = per?.[2] ?? "";
	const unitNs = Object.hasOwn(DURATION_NS, unit) ? DURATION_NS[unit] : undefined;
	if (!number || !per || unitNs === undefined) throw no("rate", text);
	if (number.sign < 0 || Number(per[1] || "1") === 0)
		throw UnitError.of("rate", `must be above 0, got ${shown(text)}`);
	let messages = number.digits;
	let perNs = unitNs * BigInt(per[1] || "1") * 10n ** number.decimals;
	if (number.decimals > 0n) {
		const divisor = gcd(messages, perNs);
		messages /= divisor;
		perNs /= divisor;
	}
	if (messages * 1_000_000_000n > BigInt(MAX_RATE_PER_SECOND) * perNs)
		throw UnitError.of("rate", `must be at most ${MAX_RATE_PER_SECOND}/s, got ${shown(text)}`);
	if (messages > MAX_SAFE || perNs > MAX_SAFE)
		throw new UnitError(
			`rate ${shown(text)} has more digits than can be kept exactly; write a ratio such as 1/10s or 90/min`,
		);
	return { messages: Number(messages), perNs: Number(perNs) };
}

/** In everyday form: "870us", "12.4ms", "1.5s", "5min 36s", "1h 10min". */
export function formatDuration(ns: number): string {
	if (!Number.isFinite(ns)) throw new RangeError(`no duration: ${ns}`);
	if (ns < 0) return `-${formatDuration(-ns)}`;
	for (const [unit, sizeNs, limit] of SCALE) {
		const value = threeDigits(ns / sizeNs);
		// Round first: 999.9us is 1ms, never "1000us".
		if (value < limit) return value === 0 ? "0s" : `${value}${unit}`;
	}
	const seconds = Math.round(ns / 1e9);
	const [whole, unit, part] =
		seconds < 3600 ? [seconds, "min", "s"] : [Math.round(ns / 60e9), "h", "min"];
	return `${Math.floor(whole / 60)}${unit}${whole % 60 === 0 ? "" : ` ${whole % 60}${part}`}`;
}

/** Formats a part in the whole's unit and one digit finer, so parts add up: "302.6ms" of 303ms. If that is zero: "31us". */
export function formatPart(ns: number, ofNs: number): string {
	const whole = Math.abs(ofNs);
	const [unit, sizeNs] =
		SCALE.find(([, size, limit]) => threeDigits(whole / size) < limit) ?? SECONDS;
	const digits = 3 - Math.floor(Math.log10(Math.max(1, whole / sizeNs)));
	const value = Number((ns / sizeNs).toFixed(Math.max(0, digits)));
	return value === 0 ? formatDuration(ns) : `${value}${unit}`;
}

/** All digits, for names and limits: "10s", "90s", "1.5s", "5min". */
export function formatDurationExact(ns: number): string {
	if (ns === 0) return "0s";
	for (const [unit, sizeNs] of [...SCALE, ...LONG].toReversed()) {
		// Whole minutes and hours; of the others up to three decimals.
		const whole = sizeNs >= 60e9 ? ns % sizeNs === 0 : ns >= sizeNs && (ns * 1000) % sizeNs === 0;
		if (whole) return `${ns / sizeNs}${unit}`;
	}
	return `${ns}ns`;
}

/** Exact up to four digits, else three significant digits: "256B", "1KiB", "5MB", "1500B", "11.7MiB". */
export function formatBytes(bytes: number): string {
	const exact = formatBytesExact(Math.round(bytes));
	return Number.parseInt(exact, 10) < 10_000 ? exact : binary(bytes);
}

/** All digits, for names, in the unit with the fewest digits: "1KiB", "16MB", "1048577B". */
export function formatBytesExact(bytes: number): string {
	let best = `${bytes}`;
	let bestUnit = "B";
	// Between two equally short results take the binary unit: 1024000 is 1000KiB, not 1024KB.
	for (const unit of ["GiB", "MiB", "KiB", "GB", "MB", "KB"]) {
		const size = Number(BYTES[unit]);
		if (bytes === 0 || bytes % size !== 0) continue;
		const digits = `${bytes / size}`;
		if (digits.length < best.length) [best, bestUnit] = [digits, unit];
	}
	return `${best}${bestUnit}`;
}

/** Exact, in the unit as written: "3000/s", "90/min", "0.5/s", "7/3s". */
export function formatRate(rate: Rate): string {
	for (const unit of ["s", "min", "h", "ms"])
		if (BigInt(rate.perNs) === DURATION_NS[unit]) return `${rate.messages}/${unit}`;
	const thousandths = BigInt(rate.messages) * 1_000_000_000_000n;
	return thousandths % BigInt(rate.perNs) === 0n
		? `${Number(thousandths / BigInt(rate.perNs)) / 1000}/s`
		: `${rate.messages}/${formatDurationExact(rate.perNs)}`;
}

/** Inexact. */
export function ratePerSecond(rate: Rate): number {
	return (rate.messages * 1e9) / rate.perNs;
}

/** "45 000". Fractions keep three significant digits, or all digits before the point. */
export function formatCount(count: number): string {
	const value = Math.abs(count) < 100 ? threeDigits(count) : Math.round(count);
	const [whole = "", fraction] = `${value}`.split(".");
	const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, " ");
	return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** "6.3x", "1 020x" */
export function formatTimes(factor: number): string {
	return `${formatCount(factor >= 100 ? Math.round(factor) : Number(factor.toPrecision(2)))}x`;
}

export type Unit = "ns" | "messages" | "messages/s" | "cores" | "bytes" | "bytes/s" | "times";

/** For tables, axes and pointers: "12.4ms", "3 000/s", "1.2", "16MiB/s". */
export function formatIn(unit: Unit, value: number): string {
	return UNITS[unit](value);
}

/** UTC: "2026-11-20 15:03", "2026-11-20 15:03:12", "2026-11-20". */
export function formatUtc(at: string | number, to: "minute" | "second" | "day" = "minute"): string {
	const text = typeof at === "number" ? new Date(at).toISOString() : at;
	return text.slice(0, { day: 10, minute: 16, second: 19 }[to]).replace("T", " ");
}

export function plusMinus(ns: number): string {
	return `\u00b1${formatDuration(ns)}`;
}

/** "1 message", "3 messages", "36 887 messages". */
export function plural(n: number, noun: string): string {
	return `${formatCount(n)} ${noun}${n === 1 ? "" : "s"}`;
}

// --- internal ---

const UNITS: Readonly<Record<Unit, (value: number) => string>> = {
	ns: formatDuration,
	messages: formatCount,
	"messages/s": (v) => `${formatCount(v)}/s`,
	cores: (v) => `${Number(v.toPrecision(2))}`,
	bytes: binary,
	"bytes/s": (v) => `${binary(v)}/s`,
	times: (v) => `${Number(v.toPrecision(3))}x`,
};

/** Only binary units, because 300KB and 256KiB are hard to compare on an axis. */
function binary(bytes: number): string {
	const power = Math.min(4, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)));
	const value = bytes / 1024 ** power;
	return `${Number(value.toPrecision(value >= 1000 ? 4 : 3))}${["B", "KiB", "MiB", "GiB", "TiB"][power]}`;
}

const DURATION_NS: Readonly<Record<string, bigint>> = {
	ns: 1n,
	us: 1000n,
	µs: 1000n, // U+00B5, micro sign
	μs: 1000n, // U+03BC, the Greek letter that looks the same
	ms: 1_000_000n,
	s: 1_000_000_000n,
	min: 60_000_000_000n,
	h: 3_600_000_000_000n,
};

const BYTES: Readonly<Record<string, bigint>> = {
	B: 1n,
	KB: 1000n,
	kB: 1000n,
	MB: 1_000_000n,
	GB: 1_000_000_000n,
	KiB: 1024n,
	MiB: 1024n ** 2n,
	GiB: 1024n ** 3n,
};

const SECONDS = ["s", 1e9, 60] as const;
/** Unit, its size, and the value from which the next unit reads better. */
const SCALE: ReadonlyArray<readonly [string, number, number]> = [
	["ns", 1, 1000],
	["us", 1e3, 1000],
	["ms", 1e6, 1000],
	SECONDS,
];
const LONG = [["min", 60e9] as const, ["h", 3600e9] as const];

const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER);

const FORMS = {
	duration: "250ms, 10s or 5min",
	size: "256B, 1KB (1000 bytes) or 1KiB (1024 bytes)",
	rate: "3000/s or 90/min",
} as const;
type Kind = keyof typeof FORMS;
/** Most likely unit of a bare number. */
const USUAL_UNIT = { duration: "s", size: "B", rate: "/s" } as const;

interface Decimal {
	readonly sign: 1 | -1;
	/** value = sign * digits / 10^decimals */
	readonly digits: bigint;
	readonly decimals: bigint;
}

/** Takes no exponent, and few digits: 10^n must stay cheap. */
function decimal(text: string): Decimal | null {
	const match = /^([+-]?)(\d{1,20})(?:\.(\d{1,20}))?$/.exec(text);
	if (!match) return null;
	const fraction = (match[3] ?? "").replace(/0+$/, "");
	return {
		sign: match[1] === "-" ? -1 : 1,
		digits: BigInt(`${match[2]}${fraction}`),
		decimals: BigInt(fraction.length),
	};
}

function split(text: string, units: Readonly<Record<string, bigint>>, kind: Kind) {
	const match = /^\s*([+-]?[\d.]+)\s*([A-Za-zµμ]*)\s*$/.exec(text);
	const number = match && decimal(match[1] ?? "");
	const unit = match?.[2] ?? "";
	if (!number) throw no(kind, text);
	if (!Object.hasOwn(units, unit)) throw no(kind, text, unit, match[1]);
	if (number.sign < 0 && number.digits !== 0n)
		throw UnitError.of(kind, `must not be negative, got ${shown(text)}`);
	return { number, unit };
}

function whole(number: Decimal, size: bigint | undefined, text: string, kind: Kind, parts: string) {
	const scaled = number.digits * (size ?? 1n);
	const scale = 10n ** number.decimals;
	if (scaled % scale !== 0n)
		throw new UnitError(`${shown(text)} is not a whole number of ${parts}; write fewer digits`);
	if (scaled / scale > MAX_SAFE) throw new UnitError(`${kind} ${shown(text)} is too large`);
	return Number(scaled / scale);
}

function no(kind: Kind, text: string, unit?: string, number = ""): UnitError {
	if (text.trim() === "") return new UnitError(`a ${kind} is empty; write e.g. ${FORMS[kind]}`);
	const bare = decimal(text.trim());
	if (bare?.sign === 1)
		return new UnitError(
			`${kind} ${shown(text)} has no unit; write ${text.trim()}${USUAL_UNIT[kind]}`,
		);
	if (kind === "duration" && unit === "m")
		return new UnitError(
			`${shown(text)} is ambiguous; write ${number}min for minutes or ${number}ms for milliseconds`,
		);
	if (kind === "size" && unit !== undefined && /^[KMG]$/i.test(unit)) {
		const letter = unit.toUpperCase();
		return new UnitError(
			`${shown(text)} is ambiguous; write ${number}${letter}B (based on 1000) or ${number}${letter}iB (based on 1024)`,
		);
	}
	const meant = SLIPS[kind](text) ?? `e.g. ${FORMS[kind]}`;
	return new UnitError(`${shown(text)} is not a ${kind}; write ${meant}`);
}

/** Corrects "10 sec" to 10s, "1kb" to 1KB and "3000rps" to 3000/s; undefined if the meaning is unclear. */
const SLIPS = { duration, size, rate };

const DURATION_WORDS: ReadonlyMap<string, string> = new Map(
	Object.entries({
		ns: "ns nanos nanosecond nanoseconds",
		us: "us usec micros microsecond microseconds",
		ms: "ms msec msecs millis millisecond milliseconds",
		s: "s sec secs second seconds",
		min: "min mins minute minutes m",
		h: "h hr hrs hour hours",
	}).flatMap(([unit, names]) => names.split(" ").map((name): [string, string] => [name, unit])),
);

/** "10 sec", "5 Minutes". */
function duration(text: string): string | undefined {
	const [, number, word = ""] = /^(\d+(?:\.\d+)?)\s*([a-z]+)$/i.exec(together(text)) ?? [];
	const unit = DURATION_WORDS.get(word.toLowerCase());
	return unit && `${number}${unit}`;
}

/** "1kb", "256 bytes", "2 mib". */
function size(text: string): string | undefined {
	const [all, number, times = "", binary = ""] =
		/^(\d+(?:\.\d+)?)\s*([kmg]?)(i?)b(?:ytes?)?$/i.exec(together(text)) ?? [];
	return all && `${number}${times.toUpperCase()}${binary.toLowerCase()}B`;
}

/** "3000rps", "3k/s", "3,000 messages per second", "90/minute". */
function rate(text: string): string | undefined {
	const [, number, times = "", word = "s"] =
		/^(\d+(?:\.\d+)?)\s*(k|M)?\s*(?:(?:messages?|msgs?|req(?:uest)?s?|events?|ops)?\s*(?:\/|per )\s*([a-z]+)|[rqmt]ps|hz)$/i.exec(
			together(text),
		) ?? [];
	const unit = DURATION_WORDS.get(word.toLowerCase());
	if (!number || !unit || !["s", "min", "h"].includes(unit)) return undefined;
	return `${Number(number) * ({ k: 1000, m: 1e6 }[times.toLowerCase()] ?? 1)}/${unit}`;
}

/** Removes thousands separators: "3,000" and "3 000" are 3000. */
function together(text: string): string {
	return text.trim().replaceAll(/(?<=\d)[ ,_](?=\d{3}(?!\d))/g, "");
}

/** Quoted unless it is a bare number with a unit; long text is shortened. */
function shown(text: string): string {
	const short = text.length > 40 ? `${text.slice(0, 40)}...` : text;
	return /^[-+\w.µμ/]+$/.test(short) && /^[-+]?\d/.test(short) ? short : JSON.stringify(short);
}

function gcd(a: bigint, b: bigint): bigint {
	return b === 0n ? a : gcd(b, a % b);
}

/** Keeps all digits before the decimal point. */
function threeDigits(value: number): number {
	return Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(3));
}
