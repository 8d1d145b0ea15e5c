import { readFileSync } from "node:fs";
import type { z } from "zod";
import { failure } from "../errors.ts";

/** Reads a JSON file of a run folder through its schema. */
export function readJson<T>(path: string, schema: z.ZodType<T>): T {
	try {
		return schema.parse(JSON.parse(readFileSync(path, "utf8")));
	} catch (error) {
		throw failure("run-file-unreadable", { path, reason: reasonOf(error) });
	}
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

function reasonOf(error: unknown): string {
	const issues = (
		error as { issues?: { path: PropertyKey[]; message: string }[] }
	).issues;
	const first = issues?.[0];
	return first
		? `${first.path.join(".")}: ${first.message}`
		: (error as Error).message;
}
