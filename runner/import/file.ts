import { parse } from "yaml";
import { failure } from "../errors.ts";
import { tell } from "../text/tell.ts";

/** A file as it was given: its name for messages, and its text. */
export interface NamedText {
	readonly file: string;
	readonly text: string;
}

/** The map of keys that a YAML file of another tool holds. */
export function parseFile({ file, text }: NamedText): Record<string, unknown> {
	let value: unknown;
	try {
		value = parse(text, { logLevel: "error" });
	} catch (error) {
		const [first = ""] = (error as Error).message.split("\n");
		throw failure("import-unreadable", { path: file, reason: first });
	}
	if (typeof value !== "object" || value === null || Array.isArray(value))
		throw failure("import-unreadable", {
			path: file,
			reason: tell("import-no-map"),
		});
	return value as Record<string, unknown>;
}
