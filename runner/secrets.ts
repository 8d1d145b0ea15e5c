/**
 * Hides who and password of every URL in a text: `nats://***@host`. For whatever is written or printed. Rather too much
 * than too little: all up to the last @ of the word, as a password may hold any letter.
 */
export function maskUrls(text: string): string {
	return text.replaceAll(/:\/\/\S*@/g, "://***@");
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
			(_, before: string, secret: string, after: string) =>
				before + stars(secret) + after,
		)
		.replaceAll(
			/((?:pass|passwd|password|secret|token|credentials?|creds|apikey|nkey|jwt)["']?\s*[:=]\s*["']?)([^\s"',}][^"',}]*)/gi,
			(_, before: string, secret: string) => before + stars(secret),
		);
}

/**
 * Does the URL itself hold a password, or a token (which stands where a user does)? `${NAME}` in its place does
 * not count, and a user beside a password is no secret.
 */
export function holdsSecret(url: string): boolean {
	const [user = "", ...password] = (/:\/\/(\S*)@/.exec(url)?.[1] ?? "").split(
		":",
	);
	const secret = password.length > 0 ? password.join(":") : user;
	return secret.replaceAll(/\$\{\w+\}/g, "") !== "";
}

// --- internal ---

function stars(secret: string): string {
	return "*".repeat(secret.length);
}
