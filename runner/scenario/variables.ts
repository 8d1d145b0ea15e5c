import { type Broker, bareUrl, loginUrl, variable } from "../brokers/index.ts";
import { holdsSecret, soundsSecret } from "../secrets.ts";
import { tell } from "../text/tell.ts";
import { isMap, mapValues, type Written } from "./place.ts";
import { type Path, type Problem, reporter } from "./problem.ts";

export const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;
export type Env = Readonly<Record<string, string | undefined>>;

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
					(key === "url" && typeof value === "string") || key === "metrics"
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

/** A complete URL, or a sentence about the mistake that never quotes it. */
export type ResolvedUrl = { readonly url: string } | { readonly wrong: string };

/** Fills in `${NAME}` and checks the result. A URL `inFile` must hold no secret, because reports keep a copy of the file. */
export function resolveUrl(
	raw: string,
	broker: Pick<Broker, "urls" | "urlUser">,
	env: Env,
	inFile: boolean,
): ResolvedUrl {
	const schemes = Object.keys(broker.urls);
	const form = bareUrl(broker);
	const example = variable(`${schemes[0]?.toUpperCase()}_URL`);
	if (inFile && raw.split(NEXT_URL).some(holdsSecret))
		return { wrong: tell("url-secret", loginUrl(broker)) };
	const missing = missingVariable(raw, env);
	if (missing !== undefined) {
		const whole = raw === variable(missing) ? form : "...";
		return { wrong: tell("variable-unset", { variable: missing, form: whole }) };
	}
	const userEnds = raw.lastIndexOf("@");
	const url = raw.replaceAll(REFERENCE, (_, name: string, at: number) => {
		const value = env[name] ?? "";
		// A password's characters must not end its part of the URL.
		return at < userEnds ? encodeURIComponent(value) : value;
	});
	if (raw.replaceAll(REFERENCE, "").includes("${"))
		return { wrong: tell("url-variable", { url: example }) };
	// Messages show the variable's name, never its value.
	const source = raw === url ? "url" : `url (from ${raw.match(REFERENCE)?.join(", ")})`;
	const parts = url.split(NEXT_URL).map(hosts);
	const parsed = parts.flatMap(({ urls }) => urls);
	const somewhere = (one: URL | null) =>
		one !== null && (one.hostname || (one.protocol === "unix:" && one.pathname.length > 1));
	if (!parsed.every(somewhere)) {
		// "nats://::1:4222", without brackets.
		const ipv6 = /:\/\/(?:[^@]*@)?[\da-f]*:[\da-f]*:/i.test(url);
		const meant = ipv6 ? form.replace("host", "[::1]") : form;
		return { wrong: tell("url-odd", { url: source, form: meant }) };
	}
	const all = schemes.map((scheme) => `${scheme}://`).join(", ");
	if (parsed.some((one) => one && !schemes.includes(one.protocol.slice(0, -1))))
		return { wrong: tell("url-scheme", { url: source, schemes: all, form }) };
	return { url: parts.map(({ whole }) => whole).join(",") };
}

// --- internal ---

const SECRET = /pass|secret|token|credential|creds|apikey|api_key|nkey|jwt/i;

/** "nats://a:4222,nats://b:4222" */
const NEXT_URL = /,(?=[a-z][a-z0-9+.-]*:\/\/)/i;

/** Parses each host of "kafka://me:secret@a:9092,b:9092", null if invalid. `whole` has the password encoded. */
function hosts(text: string): { whole: string; urls: (URL | null)[] } {
	const after = Math.max(text.lastIndexOf("@"), text.indexOf("://") + 2) + 1;
	const before = text.slice(0, after);
	const [first = "", ...others] = text.slice(after).split(",");
	const parse = (one: string) => (URL.canParse(one) ? new URL(one) : null);
	const head = parse(before + first);
	const scheme = before.slice(0, before.indexOf("://") + 3);
	return {
		whole: [head ? encoded(head, before + first) : first, ...others].join(","),
		urls: [head, ...others.map((host) => parse(scheme + host))],
	};
}

/** Client libraries refuse URLs with unencoded characters in the password as "invalid". */
function encoded(parsed: URL, url: string): string {
	if (parsed.username === "" && parsed.password === "") return url;
	// `href` always adds a path.
	return url.endsWith("/") ? parsed.href : parsed.href.replace(/\/$/, "");
}
