import type { z } from "zod";
import { failure, MqbenchError } from "../errors.ts";
import { isLink, readGiven } from "../given-folder.ts";
import { reasonOf } from "../reason.ts";
import { tell } from "../text/tell.ts";

/** Reads a JSON file of a run folder through its schema. */
export function readJson<T>(path: string, schema: z.ZodType<T>): T {
	try {
		const text = readGiven(path);
		// As a power failure leaves it.
		if (text.trim() === "") throw new Error(tell("file-empty"));
		return schema.parse(JSON.parse(text));
	} catch (error) {
		throw failure("run-file-unreadable", { path, reason: whyNot(error) });
	}
}

/** Why a file could not be read by `readJson`, or was not to be; throws any other error. */
export function damageIn(error: unknown): string {
	if (isLink(error)) return reasonOf(error);
	if (error instanceof MqbenchError && error.code === "run-file-unreadable")
		return (error.details as { reason: string }).reason;
	throw error;
}

/** The value of a line; null, which no schema of ours takes, where it is no JSON. */
export function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return null;
	}
}

// --- internal ---

function whyNot(error: unknown): string {
	const issues = (
		error as { issues?: { path: PropertyKey[]; message: string }[] }
	).issues;
	const first = issues?.[0];
	if (first) return `${first.path.join(".")}: ${first.message}`;
	return error instanceof SyntaxError ? tell("not-json") : reasonOf(error);
}
