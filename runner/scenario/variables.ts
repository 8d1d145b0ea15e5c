import { soundsSecret } from "../secrets.ts";
import { isMap, mapValues, type Written } from "./place.ts";
import { type Path, type Problem, reporter } from "./problem.ts";

export const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;
type Env = Readonly<Record<string, string | undefined>>;

/** Fills in each system except `url` (url.ts). Only `config` may hold secrets, because other values end up in a run's files. */
export function fillVariables(
	written: Written,
	env: Env,
	problems: Problem[],
): { value: Written; secrets: string[] } {
	const secrets: string[] = [];
	const fill = (value: unknown, path: Path, inConfig: boolean): unknown => {
		if (Array.isArray(value)) return value.map((item, i) => fill(item, [...path, i], inConfig));
		if (isMap(value)) return mapValues(value, (item, key) => fill(item, [...path, key], inConfig));
		if (typeof value !== "string") return value;
		const secret = variablesIn(value).filter((name) => SECRET.test(name) || soundsSecret(name));
		const missing = missingVariable(value, env);
		const key = String(path.at(-1));
		const wrong = reporter(problems, () => path);
		if (secret.length > 0 && !inConfig)
			wrong(key, "secret-in-report", { variable: secret[0], key });
		else if (missing !== undefined)
			wrong(key, "variable-unset", { variable: missing, form: "..." });
		else {
			for (const name of secret) secrets.push(env[name] ?? "");
			return value.replaceAll(REFERENCE, (_, name: string) => env[name] ?? "");
		}
		return value;
	};
	// A broker's name has no variables, and a url has its own rules.
	const inSystem = (system: unknown, path: Path) =>
		isMap(system)
			? mapValues(system, (value, key) =>
					key === "url" && typeof value === "string"
						? value
						: fill(value, [...path, key], key === "config"),
				)
			: system;
	const value = mapValues(written, (part, key) => {
		if (key === "system") return inSystem(part, [key]);
		return key === "systems" && isMap(part)
			? mapValues(part, (system, name) => inSystem(system, [key, name]))
			: part;
	});
	return { value, secrets };
}

export function variablesIn(value: unknown): string[] {
	const text = JSON.stringify(value) ?? "";
	return [...new Set([...text.matchAll(REFERENCE)].map(([, name = ""]) => name))];
}

export function missingVariable(text: string, env: Env): string | undefined {
	return variablesIn(text).find((name) => !env[name]);
}

// --- internal ---

const SECRET = /pass|secret|token|credential|creds|apikey|api_key|nkey|jwt/i;
