import { soundsSecret } from "../secrets.ts";
import { type Path, type Problem, reporter } from "./problem.ts";
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
	problems: Problem[],
): { value: Written; secrets: string[] } {
	const secrets: string[] = [];
	const fillText = (text: string, path: Path): string => {
		const names = variablesIn(text);
		const secret = names.filter((name) => SECRET.test(name) || soundsSecret(name));
		const missing = missingVariable(text, env);
		const key = String(path.at(-1));
		const wrong = reporter(problems, () => path);
		if (secret.length > 0 && path[depthOf(path)] !== "config")
			wrong(key, "secret-in-report", { variable: secret[0], key });
		else if (missing !== undefined)
			wrong(key, "variable-unset", { variable: missing, form: "..." });
		else {
			for (const name of secret) secrets.push(env[name] ?? "");
			return text.replaceAll(REFERENCE, (_, name: string) => env[name] ?? "");
		}
		return text;
	};
	const fill = (value: unknown, path: Path): unknown => {
		// The word for a broker, or a url, which has its own rules.
		const own = path.length - depthOf(path);
		if (own < 0 && !isMap(value)) return value;
		if (typeof value === "string")
			return own === 0 || (own === 1 && path.at(-1) === "url") ? value : fillText(value, path);
		if (Array.isArray(value)) return value.map((item, index) => fill(item, [...path, index]));
		return isMap(value) ? mapValues(value, (item, key) => fill(item, [...path, key])) : value;
	};
	const value = mapValues(written, (item, key) =>
		key === "system" || key === "systems" ? fill(item, [key]) : item,
	);
	return { value, secrets };
}

/** Names of all variables in the texts of a value, in their order. */
export function variablesIn(value: unknown): string[] {
	const text = JSON.stringify(value) ?? "";
	return [...new Set([...text.matchAll(REFERENCE)].map(([, name = ""]) => name))];
}

/** The first variable of the text that the environment lacks, or undefined. */
export function missingVariable(text: string, env: Env): string | undefined {
	return variablesIn(text).find((name) => !env[name]);
}

// --- internal ---

/** Words of variables whose values nobody wants to see in a report. */
const SECRET = /pass|secret|token|credential|creds|apikey|api_key|nkey|jwt/i;

/** How many steps lead to a system. */
function depthOf(path: Path): number {
	return path[0] === "systems" ? 2 : 1;
}

/** Keeps keys such as "__proto__" what they are: unknown keys. */
function mapValues(map: Written, change: (value: unknown, key: string) => unknown): Written {
	const result = {};
	for (const [key, value] of Object.entries(map)) define(result, key, change(value, key));
	return result;
}
