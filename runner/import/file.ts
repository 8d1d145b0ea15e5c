import { parse, YAMLError } from "yaml";
import { failure } from "../errors.ts";

export interface NamedText {
	readonly file: string;
	readonly text: string;
}

/** Called for each setting that a scenario cannot have, with the key as written, and its replacement or a remedy. */
export type Leave = (what: string, why: string) => void;

/** Parses a YAML map from OpenMessaging Benchmark, where `${NAME:-default}` is its default. Errors quote no text: it may hold passwords. */
export function parseFile({ file, text }: NamedText): Record<string, unknown> {
	let value: unknown;
	try {
		value = parse(text.replaceAll(/\$\{\w+:-([^${}\n]*)\}/g, "$1"), { logLevel: "error" });
	} catch (error) {
		const line = error instanceof YAMLError ? error.linePos?.[0].line : null;
		throw failure("import-unreadable", {
			path: file,
			reason: line ? `line ${line} is not YAML` : "it is not YAML",
		});
	}
	if (typeof value !== "object" || value === null || Array.isArray(value))
		throw failure("import-unreadable", { path: file, reason: "it is not a map of keys" });
	return value as Record<string, unknown>;
}

/** Adds the value only if it is a number, a switch or a list of numbers: any other text may be a secret, whatever its key. */
export function quoted(key: string, value: unknown): string {
	const text = typeof value === "string" ? value : JSON.stringify(value);
	const harmless = /^(?:true|false|-?[\d.]+|\[[\d., -]*\])$/.test(text);
	return harmless && text.length <= 60 && !SECRET.test(key) ? `${key}: ${text}` : key;
}

/** Parses Java properties (java.util.Properties.load): separators `=`, `:` or space, comments, escapes, continued lines. Default: "". */
export function parseProperties(text: string): [key: string, value: string][] {
	return text
		.replaceAll(/(?<!\\)((?:\\\\)*)\\\r?\n[ \t\f]*/g, "$1")
		.split(/\r?\n/)
		.flatMap((line): [string, string][] => {
			const [, key = "", value = ""] =
				/^\s*((?:[^\\\s=:]|\\.)+)\s*[=:\s]?\s*(.*)$/.exec(line) ?? [];
			if (key === "" || /^[#!]/.test(key)) return [];
			return [[plain(key), plain(value.trimEnd())]];
		});
}

// --- internal ---

const LETTERS: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

function plain(text: string): string {
	return text.replaceAll(/\\(?:u([0-9a-f]{4})|(.))/gi, (_, code, letter) =>
		code ? String.fromCharCode(Number.parseInt(code, 16)) : (LETTERS[letter] ?? letter),
	);
}

const SECRET = /pass|pwd|secret|token|key$|jaas|auth|cred|user|login/i;
