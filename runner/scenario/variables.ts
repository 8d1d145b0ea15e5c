import type { Path, Problem } from "./problem.ts";
import { isMap, type Written } from "./written.ts";

/** How a variable of the environment stands in a text: `${NAME}`. */
export const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Fills in the environment's variables in every text of every system, `url` aside: that one may hold a password and is
 * resolved by itself (url.ts). All other values end in the files of a run, so that they must not be secrets.
 */
export function fillVariables(
	written: Written,
	env: Env,
): { value: Written; problems: Problem[] } {
	const problems: Problem[] = [];
	const fill = (value: unknown, path: Path): unknown => {
		if (typeof value === "string") {
			const found = fillText(value, path, env);
			problems.push(...found.problems);
			return found.text;
		}
		if (Array.isArray(value))
			return value.map((item, index) => fill(item, [...path, index]));
		if (!isMap(value)) return value;
		const url = systemOf(path) ? "url" : undefined;
		return mapValues(value, (item, key) =>
			key === url ? item : fill(item, [...path, key]),
		);
	};
	const value = mapValues(written, (item, key) => {
		if (key === "system" && isMap(item)) return fill(item, ["system"]);
		if (key !== "systems" || !isMap(item)) return item;
		return mapValues(item, (system, name) =>
			isMap(system) ? fill(system, ["systems", name]) : system,
		);
	});
	return { value, problems };
}

/** The first variable of the text that the environment lacks, or undefined. */
export function missingVariable(text: string, env: Env): string | undefined {
	return [...text.matchAll(REFERENCE)]
		.map((match) => match[1] ?? "")
		.find((name) => !env[name]);
}

// --- internal ---

/** Words of variables whose values nobody wants to see in a report. */
const SECRET = /pass|secret|token|credential|creds|apikey|api_key|nkey|jwt/i;

function fillText(
	text: string,
	path: Path,
	env: Env,
): { text: string; problems: Problem[] } {
	const key = String(path.at(-1));
	const wrong = (message: string) => ({
		text,
		problems: [{ path, at: "value", message } as const],
	});
	const names = [...text.matchAll(REFERENCE)].map((match) => match[1] ?? "");
	const secret = names.find((name) => SECRET.test(name));
	if (secret !== undefined)
		return wrong(
			`${secret} sounds like a secret, and reports keep a copy of ${key}; write secrets in url only`,
		);
	const missing = missingVariable(text, env);
	if (missing !== undefined)
		return wrong(
			`the environment variable ${missing} is not set; write ${missing}=... before the command`,
		);
	return {
		text: text.replaceAll(REFERENCE, (_, name: string) => env[name] ?? ""),
		problems: [],
	};
}

/** Is it the path of a system itself? */
function systemOf(path: Path): boolean {
	return path.length === (path[0] === "systems" ? 2 : 1);
}

/** Keeps keys such as "__proto__" what they are: unknown keys. */
function mapValues(
	map: Written,
	change: (value: unknown, key: string) => unknown,
): Written {
	const result = {};
	for (const [key, value] of Object.entries(map))
		Object.defineProperty(result, key, {
			value: change(value, key),
			writable: true,
			enumerable: true,
			configurable: true,
		});
	return result;
}
