/** Called for what a scenario cannot have: the key as it is in the file, and what becomes of it, or what to do. */
export type Leave = (what: string, why: string) => void;

/** A key with its value where that is a number, a switch, or a list of numbers: any other text may be a secret, whatever its key is. */
export function quoted(key: string, value: unknown): string {
	const text = typeof value === "string" ? value : JSON.stringify(value);
	const harmless = /^(?:true|false|-?[\d.]+|\[[\d., -]*\])$/.test(text);
	return harmless && text.length <= 60 && !SECRET.test(key) ? `${key}: ${text}` : key;
}

// --- internal ---

const SECRET = /pass|pwd|secret|token|key$|jaas|auth|cred|user|login/i;
