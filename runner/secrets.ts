/** Hides credentials in URLs: `nats://***@host`, `?sig=`. Up to a word's last @, because a password may hold any letter. */
export function maskUrls(text: string): string {
	return replaceLogins(text, () => "***").replaceAll(
		SECRET_PARAMETER,
		(_, name: string) => `${name}***`,
	);
}

/** Hides user and password of every URL in a plain value; `mask` may hide more. */
export function maskAll<T>(value: T, mask = maskUrls): T {
	if (typeof value === "string") return mask(value) as T;
	if (Array.isArray(value)) return value.map((v) => maskAll(v, mask)) as T;
	if (typeof value === "object" && value !== null)
		return Object.fromEntries(
			Object.entries(value).map(([key, v]) => [key, maskAll(v, mask)]),
		) as T;
	return value;
}

/** For texts such as Go's, whose URLs may have a later @: `https://proxy/module/@v/v1.0.0.mod`. */
export function maskUserinfo(text: string): string {
	return text.replaceAll(/:\/\/[^\s/]*@/g, "://***@");
}

/** Hides credentials of URLs and secret-sounding keys by one star a letter: a caret under the text still points where it should. */
export function maskSameLength(text: string): string {
	return replaceLogins(text, stars)
		.replaceAll(SECRET_PARAMETER, (_, name: string, secret: string) => name + stars(secret))
		.replaceAll(SECRET_VALUE, (all, name: string, value: string) => {
			const { quote, secret } = unquoted(value);
			return PLACEHOLDER.test(secret) ? all : name + quote + stars(secret) + quote;
		});
}

export function soundsSecret(name: string): boolean {
	return ENDS_SECRET.test(name);
}

/** Hides these values, plain and as in brokers' files; not those below four letters, which would hide half of the text. */
export function hide(text: string, secrets: readonly string[]): string {
	return secrets
		.filter((secret) => secret.length >= 4)
		.toSorted((a, b) => b.length - a.length)
		.flatMap((secret) => [
			JSON.stringify(secret).slice(1, -1),
			secret.replaceAll("\\", "\\\\"),
			secret,
		])
		.reduce((left, secret) => left.replaceAll(secret, "***"), text);
}

/** The environment for a program without need of secrets: no names that sound like one, no URL with a password, no part of `secrets`. */
export function withoutSecrets(
	env: Readonly<Record<string, string | undefined>>,
	secrets: readonly string[] = [],
): Record<string, string | undefined> {
	return Object.fromEntries(
		Object.entries(env).filter(
			([name, value = ""]) =>
				!soundsSecret(name) &&
				maskUrls(value) === value &&
				!(value.length >= 4 && secrets.some((one) => one.includes(value))) &&
				hide(value, secrets) === value,
		),
	);
}

/** Everything that `maskUrls` and `maskSameLength` would hide, to hide it elsewhere too. */
export function secretsIn(text: string): string[] {
	const logins: string[] = [];
	replaceLogins(text, (who) => {
		const password = who.slice(who.indexOf(":") + 1);
		logins.push(who, password, decoded(password));
		return who;
	});
	return [
		...logins,
		...[...text.matchAll(SECRET_PARAMETER)].map(([, , secret = ""]) => secret),
		...[...text.matchAll(SECRET_VALUE)].map(([, , value = ""]) => unquoted(value).secret),
	];
}

/** For the scenario's copy in a run folder. */
export function maskScenario(text: string, secrets: readonly string[]): string {
	return maskSameLength(maskUrls(hide(text, secrets)));
}

/** Is there a password or token in the URL (as a user, or in a parameter)? `${NAME}` does not count, nor does a user with a password. */
export function holdsSecret(url = ""): boolean {
	const { begin, end } = loginIn(url);
	const [user = "", ...password] = url.slice(begin, end).split(":");
	const secret = password.length > 0 ? password.join(":") : user;
	const parameters = [...url.matchAll(SECRET_PARAMETER)].map(([, , one]) => one);
	return [secret, ...parameters].join("").replaceAll(/\$\{\w+\}/g, "") !== "";
}

/** For a word of a command line, or one URL, which may hold blanks. */
export function maskUrl(url: string): string {
	const { begin, end } = loginIn(url);
	return maskUrls(begin < end ? `${url.slice(0, begin)}***${url.slice(end)}` : url);
}

/** We hide our own command line, not the lines of npx and the shell above us. */
export const VISIBLE_PASSWORD =
	// biome-ignore lint/suspicious/noTemplateCurlyInString: a person is to type that.
	"There is a password on the command line: other users of this machine may have seen it in the process list. Better in the environment: BROKER_URL=... mqbench ... --url '${BROKER_URL}'";

// --- internal ---

/** Position of the credentials in a single URL; without any, `begin` is `end`. */
function loginIn(url: string): { begin: number; end: number } {
	const scheme = url.indexOf("://");
	const begin = scheme < 0 ? url.length : scheme + 3;
	return { begin, end: Math.max(begin, url.lastIndexOf("@")) };
}

/** Placeholder credentials in messages, to copy. */
const EXAMPLE = /^(?:user)?:\$\{\w+\}$/;

const SECRET_NAMES = [
	"pass(?:wd|word|phrase|code)?",
	"pwd",
	"secret",
	"token",
	"credentials?",
	"creds",
	"nkey",
	"jwt",
	"cookie",
	"authorization",
	"bearer",
	"(?:api|access|account|private|secret|shared|encryption|signing|master)[._-]?key(?:[._-]?id)?",
	"keystore[._-]?key",
	"user[._-]?info",
	"connection[._-]?string",
	"jaas[._-]?config",
	"(?<![a-z])sig(?:nature)?",
	// Not the kinds of auth in a scenario.
	"auth(?![\"']?\\s*[:=]\\s*[\"']?(?:user|token|creds)[\"']?\\s*(?:[,}#]|$))",
	// An nkey's; a workload's is a number.
	"seed(?![\"']?\\s*[:=]\\s*[\"']?-?[\\d.]+[\"']?\\s*(?:[,}#]|$))",
];

const ENDS_SECRET = new RegExp(`(?:${SECRET_NAMES.join("|")})$`, "i");

const SECRET_PARAMETER = new RegExp(
	`([?&][\\w.%-]*(?:${SECRET_NAMES.join("|")}|(?<=[?&])(?:key|code))=)([^&#\\s"'\`<>\\\\]+)`,
	"gi",
);

/** Instead of a secret in messages (variables.ts), and variables' names. */
const PLACEHOLDER = /^(?:\.\.\. before |(?:\$\{\w+\}?)+$)/;

/**
 * A name and its value: within quotes, perhaps in a quoted text; else to the line's end, the comma or the map's closing brace; for a value
 * in the lines below, all deeper ones.
 */
const SECRET_VALUE = new RegExp(
	`((?:${SECRET_NAMES.join("|")})(?:\\\\?["'])?[ \\t]*[:=][ \\t]*)(?![ \\t])(${[
		`"(?:[^"\\\\\\r\\n]|\\\\.)+"`,
		"'(?:[^'\\r\\n]|'')+'",
		`\\\\(?:"[^"\\r\\n]+\\\\"|'[^'\\r\\n]+\\\\')`,
		"(?:[|>][^\\n]*)?\\r?\\n(?:[ \\t]+[^\\n]*(?:\\n|$))+",
		`(?<=^[ \\t]*(?:-[ \\t]+)?["']?[\\w.-]*["']?[ \\t]*:[ \\t]+)[^\\s"'{[][^\\r\\n]*`,
		`[^\\s"',}](?:[^"',}\\r\\n]*[^\\s"',}])?`,
	].join("|")})`,
	"gim",
);

/**
 * Replaces each URL's credentials, from :// to the word's last @. A word that ends within them (no port follows the colon) has a password
 * with a blank, which ends at the next word with an @. One pass per line.
 */
function replaceLogins(text: string, by: (who: string) => string): string {
	return text.includes("://")
		? text.replaceAll(/[^\r\n]+/g, (line) => lineWithout(line, by))
		: text;
}

function lineWithout(line: string, by: (who: string) => string): string {
	let done = "";
	/** Start of credentials whose @ has not come yet. */
	let open: number | null = null;
	let kept = 0;
	for (const { 0: word, index } of line.matchAll(URL_WORD)) {
		const scheme = word.indexOf("://");
		const begin: number | null = open ?? (scheme < 0 ? null : index + scheme + 3);
		if (begin === null) continue;
		const at = word.lastIndexOf("@");
		const end = index + at;
		if (at < 0 || end < begin) {
			open ??= OPEN_LOGIN.test(word.slice(scheme + 3)) ? begin : null;
			continue;
		}
		open = null;
		const who = line.slice(begin, end);
		done += line.slice(kept, begin) + (EXAMPLE.test(who) ? who : by(who));
		kept = end;
	}
	return done + line.slice(kept);
}

/** Up to a comma before another URL: each address of a cluster has its own credentials. */
const URL_WORD = /(?:(?!,[a-z][a-z\d+.-]*:\/\/)\S)+/gi;

/** A user, and the beginning of a password: no port follows the colon. */
const OPEN_LOGIN = /^[^\s/?#:[\]]*:(?!\d*(?:[/?#]|[^\w]*$|,))/;

function unquoted(value: string): { quote: string; secret: string } {
	const quote = /^\\?["']/.exec(value)?.[0] ?? "";
	return { quote, secret: quote === "" ? value : value.slice(quote.length, -quote.length) };
}

function decoded(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}

function stars(secret: string): string {
	return secret.replaceAll(/[^\r\n]/g, "*");
}
