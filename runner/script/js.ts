/** Template for generated JavaScript: values become literals, so text from a scenario never becomes code; `raw` parts are our own. */
export function js(strings: TemplateStringsArray, ...values: readonly Value[]): string {
	return strings.reduce(
		(code, part, i) => code + part + (i < values.length ? write(values[i] ?? null) : ""),
		"",
	);
}

/** Code that `js` takes over unchanged. Never give it a user's text. */
export function raw(code: string): Raw {
	return { [RAW]: code };
}

/** Control characters and line ends become spaces, and no `*` `/` closes the comment. */
export function comment(text: string): Raw {
	const line = text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]+/gu, " ").replaceAll("*/", "* /");
	return raw(`// ${line}`.trimEnd());
}

// --- internal ---

const RAW = Symbol("raw");
type Raw = { readonly [RAW]: string };
type Literal =
	| string
	| number
	| boolean
	| null
	| readonly Literal[]
	| { readonly [key: string]: Literal };
type Value = Literal | Raw;

function write(value: Value): string {
	const isRaw = typeof value === "object" && value !== null && RAW in value;
	return isRaw ? value[RAW] : literal(value, "");
}

/** Readable: single quotes, quoted keys only where needed, two spaces. */
function literal(value: Literal, indent: string): string {
	if (typeof value === "string") return quote(value);
	if (typeof value === "number" && !Number.isFinite(value))
		throw new RangeError(`no literal for ${value}`);
	if (typeof value !== "object" || value === null) return String(value);
	const inner = `${indent}  `;
	if (Array.isArray(value)) return `[${value.map((item) => literal(item, indent)).join(", ")}]`;
	const entries = Object.entries(value).map(
		([key, item]) =>
			`${inner}${/^[A-Za-z_$][\w$]*$/.test(key) && key !== "__proto__" ? key : `[${quote(key)}]`}: ${literal(item, inner)},\n`,
	);
	return entries.length === 0 ? "{}" : `{\n${entries.join("")}${indent}}`;
}

function quote(text: string): string {
	const body = JSON.stringify(text)
		.slice(1, -1)
		.replaceAll('\\"', '"')
		.replaceAll("'", "\\'")
		.replaceAll("\u2028", "\\u2028")
		.replaceAll("\u2029", "\\u2029");
	return `'${body}'`;
}
