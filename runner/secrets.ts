/**
 * Hides who and password of every URL in a text: `nats://***@host`. For whatever is written or printed. Rather too much
 * than too little: all up to the last @ of the word, as a password may hold any letter.
 */
export function maskUrls(text: string): string {
	return text.replaceAll(/:\/\/(\S*)@/g, (all, who: string) =>
		EXAMPLE.test(who) ? all : "://***@",
	);
}

/** The same for texts whose URLs have an @ further on, as Go's have: `https://proxy/module/@v/v1.0.0.mod`. */
export function maskUserinfo(text: string): string {
	return text.replaceAll(/:\/\/[^\s/]*@/g, "://***@");
}

/**
 * Replaces what may be a secret by as many stars: who and password of a URL, and values of keys that sound
 * like one. The length stays, so that a caret under the text still points where it should.
 */
export function maskSameLength(text: string): string {
	return text
		.replaceAll(
			/(:\/\/)(\S*)(@)/g,
			(all, before: string, secret: string, after: string) =>
				EXAMPLE.test(secret) ? all : before + stars(secret) + after,
		)
		.replaceAll(
			SECRET_VALUE,
			(all, name: string, quote: string, secret: string) =>
				PLACEHOLDER.test(secret) ? all : name + quote + stars(secret),
		);
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

/** Who logs in by these URLs, and with what. */
export function userinfoOf(url: string): string[] {
	return [...url.matchAll(/:\/\/(\S*)@/g)].map(([, who = ""]) => who);
}

/** What a run folder keeps of a scenario's text. */
export function maskScenario(text: string, secrets: readonly string[]): string {
	return maskSameLength(maskUrls(hide(text, secrets)));
}

/**
 * Does the URL itself hold a password, or a token (which stands where a user does)? `${NAME}` in its place does
 * not count, and a user beside a password is no secret.
 */
export function holdsSecret(url = ""): boolean {
	const [user = "", ...password] = (/:\/\/(\S*)@/.exec(url)?.[1] ?? "").split(
		":",
	);
	const secret = password.length > 0 ? password.join(":") : user;
	return secret.replaceAll(/\$\{\w+\}/g, "") !== "";
}

/** We hide our own command line, not those of npx and the shell above us. */
export const VISIBLE_PASSWORD =
	// biome-ignore lint/suspicious/noTemplateCurlyInString: that is what a person is to type.
	"There is a password on the command line: whoever lists this machine's processes may have seen it. Better in the environment: BROKER_URL=... mqbench ... --url '${BROKER_URL}'";

// --- internal ---

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
	// How to log in, but not which way: auth is one of these words in a scenario.
	"auth(?![\"']?\\s*[:=]\\s*[\"']?(?:user|token|creds)[\"']?\\s*(?:[,}#]|$))",
	// Of nkeys; that of a workload is a number.
	"seed(?![\"']?\\s*[:=]\\s*[\"']?-?[\\d.]+[\"']?\\s*(?:[,}#]|$))",
];

const ENDS_SECRET = new RegExp(`(?:${SECRET_NAMES.join("|")})$`, "i");

/** What messages have in place of a secret (variables.ts), and a variable's name. */
const PLACEHOLDER = /^(?:\.\.\. before |\$\{\w+$)/;

/** To the end of the line, or to the brace that closes its map; of a key with its value in the lines below all that are further in. */
const SECRET_VALUE = new RegExp(
	`((?:${SECRET_NAMES.join("|")})["']?[ \\t]*[:=][ \\t]*)(["']?)((?:[|>][^\\n]*)?\\r?\\n(?:[ \\t]+[^\\n]*(?:\\n|$))+|[^\\s"',}](?:[^"',}\\r\\n]*[^\\s"',}])?)`,
	"gim",
);

function stars(secret: string): string {
	return secret.replaceAll(/[^\r\n]/g, "*");
}
