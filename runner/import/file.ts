import { parse, YAMLError } from "yaml";
import { failure } from "../errors.ts";
import type { Leave } from "./left-out.ts";

/** A file as it was given: its name for messages, and its text. */
export interface NamedText {
	readonly file: string;
	readonly text: string;
}

export type Env = Readonly<Record<string, string | undefined>>;

/**
 * The map of keys that a YAML file of OpenMessaging Benchmark holds, which replaces `${NAME}` and `${NAME:-default}` in the text
 * by variables of the environment. `stay`: variables without a default are the scenario's own, too. Errors quote nothing of
 * the text, which may hold passwords.
 */
export function parseFile(
	{ file, text }: NamedText,
	env: Env,
	leave: Leave,
	stay: boolean,
): Record<string, unknown> {
	let value: unknown;
	try {
		value = parse(withVariables(text, env, leave, stay), { logLevel: "error" });
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

// --- internal ---

/** The innermost first, as a default may be a variable. */
const VARIABLE = /\$\{([A-Za-z_][\w.]*)(?::-([^${}\n]*))?\}/;

function withVariables(text: string, env: Env, leave: Leave, stay: boolean) {
	return text.replaceAll(/^.*$/gm, (line) => {
		if (/^\s*#/.test(line)) return line;
		const key = /^[\s-]*([\w.]+)\s*(?::(?=\s)|=)/.exec(line)?.[1] ?? "";
		const fill = (rest: string): string => {
			const [all, name = "", otherwise] = VARIABLE.exec(rest) ?? [];
			if (all === undefined) return rest;
			const at = rest.indexOf(all);
			const goOn = (value: string) => rest.slice(0, at) + value + fill(rest.slice(at + all.length));
			if (otherwise === undefined && (stay || env[name] === undefined)) return goOn(all);
			const what = key === "" ? name : `${key}: \${${name}}`;
			if (env[name] !== undefined) {
				leave(what, `the value of ${name} in the environment is taken`);
				return goOn(env[name]);
			}
			const value = otherwise ?? "";
			leave(what, `${name} is not set; its default in the file is taken`);
			return fill(rest.slice(0, at) + value + rest.slice(at + all.length));
		};
		return fill(line);
	});
}
