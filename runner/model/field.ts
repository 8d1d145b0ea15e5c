import { z } from "zod";
import { tell } from "../text/tell.ts";
import {
	formatBytesExact,
	parseBytes,
	parseDuration,
	parseRate,
	UNIT_PATTERNS,
	UnitError,
} from "../units.ts";
import type { Sizes } from "./sizes.ts";

export const Count = z.int().nonnegative();
export const Ns = Count;

type Docs = { description: string; examples: (string | number)[] };

/** With its text for editors and the reference. */
export function described<Schema extends z.ZodType>(
	schema: Schema,
	description: string,
	examples: readonly unknown[] = [],
): Schema {
	return schema.meta({ description, ...(examples.length > 0 && { examples }) });
}

export function maybe<Fields extends z.core.$ZodLooseShape>(fields: Fields) {
	return z.strictObject(fields).nullable();
}

export function listOf<Fields extends z.core.$ZodLooseShape>(fields: Fields) {
	return z.array(z.strictObject(fields));
}

export function text(description: string) {
	return z.string().optional().meta({ description });
}

/** Text with a unit; the docs describe the text, not the parsed value. `complaint` is the mistake in a value ("must be above 0"). */
export function unit<Kind extends keyof typeof PARSERS>(
	kind: Kind,
	docs: Docs,
	complaint: (value: ReturnType<(typeof PARSERS)[Kind]>) => string | undefined = () => undefined,
) {
	return read(UNIT_PATTERNS[kind], docs, (written) => {
		const value = PARSERS[kind](written) as Parameters<typeof complaint>[0];
		const wrong = complaint(value);
		if (wrong === undefined) return value;
		throw UnitError.of(kind, `${wrong}, got ${written}`);
	});
}

export const WEEK_NS = 7 * 24 * 3600 * 1e9;

/** In ns, at most a week. */
export function span(
	description: string,
	examples: string[],
	least: "above 0" | "from 0" = "above 0",
) {
	return unit("duration", { description, examples }, (ns) => {
		if (ns === 0 && least === "above 0") return "must be above 0";
		return ns > WEEK_NS ? "must be at most 168h" : undefined;
	});
}

/** When rented machines or pods end by themselves. `ends`: "the machines end themselves". */
export function ttl(ends: string, least: string) {
	const description = `After this time ${ends}, even if mqbench no longer runs; ${least} to 168h.`;
	return unit("duration", { description, examples: ["2h"] }, (ns) =>
		ns < parseDuration(least) || ns > WEEK_NS ? `must be ${least} to 168h` : undefined,
	).prefault("2h");
}

/** A number of messages ("10000 messages", none if 0) where the load is one. Which one a load takes is checked elsewhere. */
type Warmup = { readonly ns: number } | { readonly messages: number } | { readonly steady: true };
export function warmup(description: string, examples: string[]) {
	return z
		.union([
			read(
				`${UNIT_PATTERNS.duration}|^\\s*[0-9]{1,10}\\s+messages?\\s*$`,
				{ description, examples },
				parseWarmup,
			),
			described(z.literal("steady"), "Until p50 is level.").transform(
				(): Warmup => ({ steady: true }),
			),
			described(z.literal(0), "None.").transform((): Warmup => ({ ns: 0 })),
		])
		.meta({ description, examples });
}

type OneSize = number | { readonly aboveLimit: number };
/** Of all messages, or one after another. */
export type Size = OneSize | Sizes;

/** A size ("1KiB"), or one relative to each system's own limit: "limit", "limit + 1B", "limit - 1KiB". */
export function size(docs: Docs, complaint: (bytes: number) => string | undefined) {
	const size = UNIT_PATTERNS.size.replace(/^\^|\$$/g, "");
	return read(`${UNIT_PATTERNS.size}|^\\s*limit\\s*([+-]${size})?$`, docs, (written): OneSize => {
		const [limit, sign, beside = ""] = /^\s*limit\s*(?:([+-])(.*))?$/.exec(written) ?? [];
		if (/^\s*\d+\s*$/.test(beside))
			throw new UnitError(`${written} has no unit; write ${written.trim()}B`);
		if (limit !== undefined)
			return { aboveLimit: sign ? Number(`${sign}${parseBytes(beside)}`) : 0 };
		const bytes = parseBytes(written);
		const wrong = complaint(bytes);
		if (wrong === undefined) return bytes;
		throw UnitError.of("size", `${wrong}, got ${written}`);
	});
}

export function sizeText(size: Size): string {
	if (typeof size === "number") return formatBytesExact(size);
	if ("runs" in size) return size.text;
	const { aboveLimit } = size;
	if (aboveLimit === 0) return "limit";
	return `limit ${aboveLimit > 0 ? "+" : "-"} ${formatBytesExact(Math.abs(aboveLimit))}`;
}

export function number(
	description: string,
	examples: number[],
	{ least, most }: { least: number; most: number },
) {
	return z.number().min(least).max(most).meta({ description, examples });
}

export function word(
	description: string,
	examples: readonly string[] = [],
	form?: readonly [RegExp, string],
) {
	const text = form ? z.string().regex(form[0], form[1]) : z.string().min(1);
	return described(text, description, examples);
}

export function named<const Name extends string>(name: Name, description: string) {
	return z.literal(name).meta({ description });
}

export function count(description: string, most: number, examples: number[], least = 1) {
	return z.int().min(least).max(most).meta({ description, examples });
}

export function bytes(description: string, examples: string[], least: number, most = Infinity) {
	const bounds =
		most === Infinity
			? `at least ${formatBytesExact(least)}`
			: `${formatBytesExact(least)} to ${formatBytesExact(most)}`;
	return unit("size", { description, examples }, (value) =>
		value < least || value > most ? `must be ${bounds}` : undefined,
	);
}

export function choice<const Words extends readonly [string, ...string[]]>(
	words: Words,
	description: string,
	examples: readonly string[] = [],
) {
	return described(z.enum(words), description, examples);
}

export function flag(description: string, examples: readonly boolean[] = []) {
	return described(z.boolean(), description, examples);
}

/** Written as for taskset: "0-3,8". Whether the machine has these CPUs shows when a run starts. */
export const CpuSet = z.string().regex(/^\d+(-\d+)?(,\d+(-\d+)?)*$/, tell("cpu-set"));

/** "0-2,8" -> 0, 1, 2, 8 */
export function cpusOf(set: string): number[] {
	return set.split(",").flatMap((range) => {
		const [from = 0, to = from] = range.split("-").map(Number);
		return Array.from({ length: to - from + 1 }, (_, i) => from + i);
	});
}

export function parsed<T>(parse: (text: string) => T) {
	return (text: string, context: z.RefinementCtx): T => {
		try {
			return parse(text);
		} catch (error) {
			if (!(error instanceof UnitError)) throw error;
			const { message, ofValue } = error;
			context.addIssue({ code: "custom", message, params: { ofValue } });
			return z.NEVER;
		}
	};
}

// --- internal ---

const PARSERS = { duration: parseDuration, size: parseBytes, rate: parseRate };

/** `pattern`: the text that editors accept, as a regular expression of JSON Schema. */
function read<T>(pattern: string, docs: Docs, parse: (text: string) => T) {
	return z
		.string()
		.meta({ ...docs, pattern })
		.transform(parsed(parse));
}

function parseWarmup(text: string): Warmup {
	const messages = /^\s*(\d{1,10})\s+messages?\s*$/.exec(text)?.[1];
	if (messages !== undefined) return { messages: Number(messages) };
	const ns = parseDuration(text);
	if (ns > WEEK_NS) throw UnitError.of("duration", `must be at most 168h, got ${text}`);
	return { ns };
}
