import { z } from "zod";
import { parseDuration, UnitError } from "../units.ts";

/** The kinds of fields that `schema.ts` is made of. */

type Docs = { description: string; examples: (string | number)[] };

/** Text with a unit. The docs sit on the text, not on the parsed value: that's what a person writes. */
export function unit<T>(
	parse: (text: string) => T,
	docs: Docs,
	complaint: (value: T) => string | undefined = () => undefined,
) {
	return z
		.string()
		.meta(docs)
		.transform(
			parsed((text) => {
				const value = parse(text);
				const message = complaint(value);
				if (message !== undefined)
					throw new UnitError(`${message}, got ${text}`);
				return value;
			}),
		);
}

/** A duration in ns, at most a week. */
export function span(
	description: string,
	examples: string[],
	least?: "above 0",
) {
	return unit(parseDuration, { description, examples }, (ns) => {
		if (least && ns === 0) return "duration must be above 0";
		return ns > WEEK_NS ? "duration must be at most 168h" : undefined;
	});
}

/**
 * A warm-up: a duration, or a number of messages where the load is one ("10000 messages"; 0: none). Which of them a load
 * takes is not the field's to say.
 */
type Warmup = { readonly ns: number } | { readonly messages: number };
export function warmup(description: string, examples: string[]) {
	return z
		.union([
			unit(parseWarmup, { description, examples }),
			z
				.literal(0)
				.meta({ description: "None." })
				.transform((): Warmup => ({ ns: 0 })),
		])
		.meta({ description, examples });
}

/** A number with a fraction, in the bounds. */
export function number(
	description: string,
	examples: number[],
	{ least, most }: { least: number; most: number },
) {
	return z.number().min(least).max(most).meta({ description, examples });
}

/** A whole number from 1. */
export function count(description: string, most: number, examples: number[]) {
	return z.int().min(1).max(most).meta({ description, examples });
}

/** Turns a parser that throws sentences into a zod transform. */
export function parsed<T>(parse: (text: string) => T) {
	return (text: string, context: z.RefinementCtx): T => {
		try {
			return parse(text);
		} catch (error) {
			if (!(error instanceof UnitError)) throw error;
			context.addIssue({ code: "custom", message: error.message });
			return z.NEVER;
		}
	};
}

// --- internal ---

function parseWarmup(text: string): Warmup {
	const messages = /^\s*(\d{1,10})\s+messages?\s*$/.exec(text)?.[1];
	if (messages !== undefined) return { messages: Number(messages) };
	const ns = parseDuration(text);
	if (ns > WEEK_NS)
		throw new UnitError(`duration must be at most 168h, got ${text}`);
	return { ns };
}

const WEEK_NS = 7 * 24 * 3600 * 1e9;
