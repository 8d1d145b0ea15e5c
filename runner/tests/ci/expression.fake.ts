/**
 * For tests: the expressions of GitHub Actions, as far as our actions use them: contexts, literals, == != && || ! and
 * parentheses, and the functions of a step's status.
 */
export interface Context {
	/** inputs, github, steps, runner: nested, as GitHub has them. */
	readonly values: Readonly<Record<string, unknown>>;
	/** Of the steps so far. */
	readonly status: "success" | "failure";
}

/** Replaces each `${{ }}` of a text by its value. */
export function filled(text: string, context: Context): string {
	return text.replaceAll(/\$\{\{(.*?)\}\}/g, (_, inner: string) =>
		asText(evaluate(inner, context)),
	);
}

/** Whether a step runs: without a function of the status in its `if`, only as long as nothing has failed. */
export function runs(condition: unknown, context: Context): boolean {
	const text = String(condition ?? "").replace(/^\$\{\{(.*)\}\}$/, "$1");
	const asks = /\b(always|success|failure|cancelled)\(\)/.test(text);
	if (!asks && context.status !== "success") return false;
	return text.trim() === "" || truthy(evaluate(text, context));
}

// --- internal ---

type Value = string | number | boolean | null;

const TOKEN =
	/\s*(?:('(?:[^']|'')*')|(==|!=|&&|\|\||[!()])|(-?\d+(?:\.\d+)?)|([A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*))/y;

function evaluate(text: string, context: Context): Value {
	const tokens = tokensOf(text);
	let at = 0;
	const next = () => tokens[at++];
	const taken = (token: string) => tokens[at] === token && at++ >= 0;
	const expect = (token: string) => {
		if (!taken(token)) throw new Error(`${token} missing in: ${text}`);
	};
	const or = (): Value => {
		let left = and();
		while (taken("||")) {
			const right = and();
			left = truthy(left) ? left : right;
		}
		return left;
	};
	const and = (): Value => {
		let left = equality();
		while (taken("&&")) {
			const right = equality();
			left = truthy(left) ? right : left;
		}
		return left;
	};
	const equality = (): Value => {
		const left = unary();
		if (taken("==")) return same(left, unary());
		if (taken("!=")) return !same(left, unary());
		return left;
	};
	const unary = (): Value => (taken("!") ? !truthy(unary()) : primary());
	const primary = (): Value => {
		if (taken("(")) {
			const inner = or();
			expect(")");
			return inner;
		}
		const token = next();
		if (token === undefined) throw new Error(`ends too early: ${text}`);
		if (token.startsWith("'")) return token.slice(1, -1).replaceAll("''", "'");
		if (/^-?\d/.test(token)) return Number(token);
		if (token === "true" || token === "false") return token === "true";
		if (token === "null") return null;
		if (taken("(")) {
			expect(")");
			return statusOf(token, context);
		}
		return lookUp(token, context);
	};
	const value = or();
	if (at !== tokens.length) throw new Error(`not understood: ${text}`);
	return value;
}

function tokensOf(text: string): string[] {
	const tokens: string[] = [];
	TOKEN.lastIndex = 0;
	const trimmed = text.trim();
	while (TOKEN.lastIndex < trimmed.length) {
		const from = TOKEN.lastIndex;
		const found = TOKEN.exec(trimmed);
		if (!found) throw new Error(`not understood at ${from}: ${trimmed}`);
		tokens.push(found[0].trim());
	}
	return tokens;
}

function statusOf(name: string, { status }: Context): boolean {
	if (name === "always") return true;
	if (name === "cancelled") return false;
	if (name === "success" || name === "failure") return status === name;
	throw new Error(`function ${name} is not known to this test`);
}

/** What is not there is null, as with GitHub; a first word that is no context is a mistake. */
function lookUp(path: string, { values }: Context): Value {
	const [first = "", ...rest] = path.split(".");
	if (!(first in values)) throw new Error(`there is no context ${first}`);
	let value: unknown = values[first];
	for (const name of rest)
		value =
			typeof value === "object" && value !== null
				? (value as Record<string, unknown>)[name]
				: undefined;
	if (typeof value === "object" && value !== null)
		throw new Error(`${path} is no single value`);
	return (value as Value | undefined) ?? null;
}

function same(a: Value, b: Value): boolean {
	if (typeof a === "string" && typeof b === "string")
		return a.toLowerCase() === b.toLowerCase();
	return typeof a === typeof b ? a === b : Number(a) === Number(b);
}

function truthy(value: Value): boolean {
	return value !== "" && value !== 0 && value !== null && value !== false;
}

function asText(value: Value): string {
	return value === null ? "" : String(value);
}
