import { soundsSecret } from "../secrets.ts";
import { tell } from "../text/tell.ts";
import type { Path, Problem } from "./problem.ts";
import { define, isMap, type Written } from "./written.ts";

/** How a variable of the environment stands in a text: `${NAME}`. */
export const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Fills in the environment's variables in every text of every system, `url` aside: that one may hold a password and is
 * resolved by itself (url.ts). Secrets may stand in `config` alone, and are told: all other values end in the files of a run.
 */
export function fillVariables(
	written: Written,
	env: Env,
): { value: Written; problems: Problem[]; secrets: string[] } {
	const problems: Problem[] = [];
	const secrets: string[] = [];
	const fill = (value: unknown, path: Path): unknown => {
		if (typeof value === "string") {
			const filled = fillText(value, path, env);
			for (const one of filled.problems) problems.push(one);
			for (const one of filled.secrets) secrets.push(one);
			return filled.text;
		}
		if (Array.isArray(value)) return value.map((item, index) => fill(item, [...path, index]));
		if (!isMap(value)) return value;
		const url = systemOf(path) ? "url" : undefined;
		return mapValues(value, (item, key) => (key === url ? item : fill(item, [...path, key])));
	};
	const value = mapValues(written, (item, key) => {
		if (key === "system" && isMap(item)) return fill(item, ["system"]);
		if (key !== "systems" || !isMap(item)) return item;
		return mapValues(item, (system, name) =>
			isMap(system) ? fill(system, ["systems", name]) : system,
		);
	});
	return { value, problems, secrets };
}

/** Names of all variables in the texts of a value, in their order. */
export function variablesIn(value: unknown): string[] {
	const text = JSON.stringify(value) ?? "";
	return [...new Set([...text.matchAll(REFERENCE)].map(([, name = ""]) => name))];
}

/** The first variable of the text that the environment lacks, or undefined. */
export function missingVariable(text: string, env: Env): string | undefined {
	return [...text.matchAll(REFERENCE)].map((match) => match[1] ?? "").find((name) => !env[name]);
}

// --- internal ---

/** Words of variables whose values nobody wants to see in a report. */
const SECRET = /pass|secret|token|credential|creds|apikey|api_key|nkey|jwt/i;

function fillText(
	text: string,
	path: Path,
	env: Env,
): { text: string; problems: Problem[]; secrets: string[] } {
	const key = String(path.at(-1));
	const wrong = (message: string) => ({
		text,
		secrets: [],
		problems: [{ path, at: "value", message } as const],
	});
	const names = [...text.matchAll(REFERENCE)].map((match) => match[1] ?? "");
	const secrets = names.filter((name) => SECRET.test(name) || soundsSecret(name));
	if (secrets.length > 0 && path[depthOf(path)] !== "config")
		return wrong(tell("secret-in-report", { variable: secrets[0], key }));
	const missing = missingVariable(text, env);
	if (missing !== undefined)
		return wrong(tell("variable-unset", { variable: missing, form: "..." }));
	return {
		text: text.replaceAll(REFERENCE, (_, name: string) => env[name] ?? ""),
		problems: [],
		secrets: secrets.map((name) => env[name] ?? ""),
	};
}

/** Is it the path of a system itself? */
function systemOf(path: Path): boolean {
	return path.length === depthOf(path);
}

function depthOf(path: Path): number {
	return path[0] === "systems" ? 2 : 1;
}

/** Keeps keys such as "__proto__" what they are: unknown keys. */
function mapValues(map: Written, change: (value: unknown, key: string) => unknown): Written {
	const result = {};
	for (const [key, value] of Object.entries(map)) define(result, key, change(value, key));
	return result;
}
