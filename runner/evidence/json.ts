import type { z } from "zod";
import { failure, MqbenchError } from "../errors.ts";
import { readGiven } from "../given-folder.ts";
import { reasonOf } from "../reason.ts";

export function readJson<T>(path: string, schema: z.ZodType<T>): T {
	try {
		const text = readGiven(path);
		// A power failure can leave it empty.
		if (text.trim() === "") throw new Error("it is empty");
		return schema.parse(JSON.parse(text));
	} catch (error) {
		throw failure("run-file-unreadable", { path, reason: whyNot(error) });
	}
}

/** The reason of a failure of `readJson`; throws any other error. */
export function damageIn(error: unknown): string {
	if ((error as NodeJS.ErrnoException).code === "ELINKED") return reasonOf(error);
	if (error instanceof MqbenchError && error.code === "run-file-unreadable")
		return (error.details as { reason: string }).reason;
	throw error;
}

/** The value of a line, or null, which none of our schemas accepts, if it is not JSON. */
export function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return null;
	}
}

/**
 * Parses lines through a schema. If lines differ only in numbers, only the first goes through it: a long run has a million lines of
 * three kinds, and the schema takes ten times as long as JSON. 0 and numbers too large to be exact make kinds of their own.
 */
export function lineParser<T>(schema: z.ZodType<T>) {
	const known = new Map<string, T>();
	return (text: string) => {
		const value = parsed(text);
		if (value === null) return { line: null, reason: "no JSON" };
		const shape = text.replaceAll(NUMBER, (digits) =>
			/^[^"0]\d{0,14}$/.test(digits) ? "1" : digits,
		);
		const like = known.get(shape);
		if (like !== undefined) return { line: shapedLike(like, value), reason: null };
		const result = schema.safeParse(value);
		if (!result.success) return { line: null, reason: whyNot(result.error) };
		if (known.size < MOST_SHAPES) known.set(shape, result.data);
		return { line: result.data, reason: null };
	};
}

// --- internal ---

/** Digits, and whole strings because digits inside them do not count. */
const NUMBER = /"(?:[^"\\]|\\.)*"|\d+/g;
/** Shapes are kept whole, and a file whose lines all differ gains nothing from them. */
const MOST_SHAPES = 1000;

/** The fields of `value` in the order of `like`, with the defaults that the schema gave to `like`. */
function shapedLike<T>(like: T, value: unknown): T {
	if (typeof like !== "object" || like === null) return (value ?? like) as T;
	if (Array.isArray(like)) {
		const all = value as unknown[];
		return (typeof like[0] === "object" ? all.map((one, i) => shapedLike(like[i], one)) : all) as T;
	}
	const made: Record<string, unknown> = {};
	for (const key in like) made[key] = shapedLike(like[key], (value as typeof made)[key]);
	return made as T;
}

function whyNot(error: unknown): string {
	const issues = (error as { issues?: { path: PropertyKey[]; message: string }[] }).issues;
	const first = issues?.[0];
	if (first) return `${first.path.join(".")}: ${first.message}`;
	return error instanceof SyntaxError ? "it is not JSON" : reasonOf(error);
}
