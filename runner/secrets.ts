/**
 * Hides what logs in by a URL in a text: user and password, `nats://***@host`, and parameters such as `?sig=`. For whatever is
 * written or printed. Rather too much than too little: all up to the last @ of the word, as a password may hold any letter.
 */
export function maskUrls(text: string): string {
	return replaceLogins(text, () => "***").replaceAll(
		SECRET_PARAMETER,
		(_, name: string) => `${name}***`,
	);
}

/** The same for texts whose URLs have an @ further on, as Go's have: `https://proxy/module/@v/v1.0.0.mod`. */
export function maskUserinfo(text: string): string {
	return text.replaceAll(/:\/\/[^\s/]*@/g, "://***@");
}

/**
 * Replaces what may be a secret by as many stars: what logs in by a URL, and values of keys that sound
 * like one. The length stays, so that a caret under the text still points where it should.
 */
export function maskSameLength(text: string): string {
	return replaceLogins(text, stars)
		.replaceAll(SECRET_PARAMETER, (_, name: string, secret: string) => name + stars(secret))
		.replaceAll(SECRET_VALUE, (all, name: string, value: string) => {
			const { quote, secret } = unquoted(value);
			return PLACEHOLDER.test(secret) ? all : name + quote + stars(secret) + quote;
		});
}

/** Is the value of such a key, or of such a variable of the environment, a secret? */
export function soundsSecret(name: string): boolean {
	return ENDS_SECRET.test(name);
}

/** A text without these values, as they are and as files of brokers write them. Of fewer letters than four, one would hide half of it. */
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

/**
 * The environment for a program that needs no secret, as a browser: without variables that sound like one, whose value is a URL with a
 * password, or is, or is part of, one of these `secrets`.
 */
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

/** What `maskUrls` and `maskSameLength` would hide in a text: to be hidden wherever else it turns up. */
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

/** What a run folder keeps of a scenario's text. */
export function maskScenario(text: string, secrets: readonly string[]): string {
	return maskSameLength(maskUrls(hide(text, secrets)));
}

/**
 * Does the URL itself hold a password, or a token (which stands where a user does, or in a parameter)? `${NAME}` in its place does
 * not count, and a user beside a password is no secret.
 */
export function holdsSecret(url = ""): boolean {
	const { begin, end } = loginIn(url);
	const [user = "", ...password] = url.slice(begin, end).split(":");
	const secret = password.length > 0 ? password.join(":") : user;
	const parameters = [...url.matchAll(SECRET_PARAMETER)].map(([, , one]) => one);
	return [secret, ...parameters].join("").replaceAll(/\$\{\w+\}/g, "") !== "";
}

/** A word of a command line, or one URL, which may hold blanks: what logs in by it is hidden. */
export function maskUrl(url: string): string {
	const { begin, end } = loginIn(url);
	return maskUrls(begin < end ? `${url.slice(0, begin)}***${url.slice(end)}` : url);
}

/** We hide our own command line, not those of npx and the shell above us. */
export const VISIBLE_PASSWORD =
	// biome-ignore lint/suspicious/noTemplateCurlyInString: that is what a person is to type.
	"There is a password on the command line: whoever lists this machine's processes may have seen it. Better in the environment: BROKER_URL=... mqbench ... --url '${BROKER_URL}'";

// --- internal ---

/** Where a word that is one URL has who logs in; nowhere: `begin` is `end`. */
function loginIn(url: string): { begin: number; end: number } {
	const scheme = url.indexOf("://");
	const begin = scheme < 0 ? url.length : scheme + 3;
	return { begin, end: Math.max(begin, url.lastIndexOf("@")) };
}

/** Who logs in, as messages write it for a person to copy: nobody's password. */
const EXAMPLE = /^(?:user)?:\$\{\w+\}$/;

/** Ends of names whose value is a secret, as configurations of brokers and clients write them. */
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
	// How to log in, but not which way: auth is one of these words in a scenario.
	"auth(?![\"']?\\s*[:=]\\s*[\"']?(?:user|token|creds)[\"']?\\s*(?:[,}#]|$))",
	// Of nkeys; that of a workload is a number.
	"seed(?![\"']?\\s*[:=]\\s*[\"']?-?[\\d.]+[\"']?\\s*(?:[,}#]|$))",
];

const ENDS_SECRET = new RegExp(`(?:${SECRET_NAMES.join("|")})$`, "i");

/** A parameter of a URL whose value is a secret. */
const SECRET_PARAMETER = new RegExp(
	`([?&][\\w.%-]*(?:${SECRET_NAMES.join("|")}|(?<=[?&])(?:key|code))=)([^&#\\s"'\`<>\\\\]+)`,
	"gi",
);

/** What messages have in place of a secret (variables.ts), and variables' names. */
const PLACEHOLDER = /^(?:\.\.\. before |(?:\$\{\w+\}?)+$)/;

/**
 * A name, and its value: within its quotes, which may stand in a quoted text themselves; to the end of a line that has no other key, else to
 * the comma, or to the brace that closes its map; of a key with its value in the lines below all that are further in.
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
 * Replaces what logs in by each URL: from :// to the last @ of the word. A word that ends within a login (what follows the colon is no port)
 * has a password with a blank, which ends at the next word with an @. One look at each line, however many URLs it has.
 */
function replaceLogins(text: string, by: (who: string) => string): string {
	return text.includes("://")
		? text.replaceAll(/[^\r\n]+/g, (line) => lineWithout(line, by))
		: text;
}

function lineWithout(line: string, by: (who: string) => string): string {
	let done = "";
	/** Where a login has begun that has not met its @ yet. */
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

/** A word, up to the comma before another URL: of the addresses of a cluster, each has its login. */
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
