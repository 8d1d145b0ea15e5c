import type { YAMLError } from "yaml";

/** A text in which one cause of YAML errors is mended. Lines stay lines, and keep what stands at their ends. */
export interface Repair {
	readonly text: string;
	/** Where the cause stands; line and column count from 0. */
	readonly line: number;
	readonly column: number;
	readonly message: string;
	/** Of equal repairs the cheaper is likelier: fewer lines moved, to a column that two divides. */
	readonly cost?: number;
}

/** Repairs to try for an error in `line`: the likeliest causes first, alternatives of one cause together. */
export function repairs(
	text: string,
	line: number,
	error: YAMLError,
): Repair[][] {
	const lines = text.split("\n");
	const at = error.pos[0] - (text.lastIndexOf("\n", error.pos[0] - 1) + 1);
	return [
		quoted(lines, line, at),
		spaces(lines, error),
		colon(lines, line),
		indented(lines, line),
	];
}

// --- internal ---

/** `{ url: ${NATS_URL} }`: between brackets, `{` begins a map wherever it stands. The error says that this one does. */
function quoted(lines: readonly string[], line: number, at: number): Repair[] {
	const source = lines[line] ?? "";
	for (const { 0: value, index } of source.matchAll(WORD)) {
		if (!/\$\{\w+\}/.test(value)) continue;
		if (at < index || at >= index + value.length) continue;
		const key = /([A-Za-z]+): *$/.exec(source.slice(0, index))?.[1];
		const mended =
			source.slice(0, index) +
			"x".repeat(value.length) +
			source.slice(index + value.length);
		return [
			{
				text: lines.with(line, mended).join("\n"),
				line,
				column: index,
				message: `between { } or [ ] a value with \${ in it needs quotes: ${key ? `${key}: ` : ""}"${value}"`,
			},
		];
	}
	return [];
}

/** What stands between the ends that brackets give a value, with the brackets of ${NAME} in it. */
const WORD = /(?:[^\s,{}[\]"'$]|\$\{\w+\}|\$)+/g;

function spaces(lines: readonly string[], error: YAMLError): Repair[] {
	if (error.code !== "TAB_AS_INDENT") return [];
	const tabbed = lines.flatMap((source, line) =>
		/^ *\t/.test(source) ? [line] : [],
	);
	const [first = 0, ...others] = tabbed;
	const more =
		others.length === 0
			? ""
			: `, here and in ${others.length} more line${others.length === 1 ? "" : "s"}`;
	const text = lines
		.map((source) =>
			source.replace(/^[ \t]+/, (indent) => indent.replaceAll("\t", "  ")),
		)
		.join("\n");
	return [
		{
			text,

			line: first,
			column: 0,
			message: `a tab indents this line${more}; YAML takes spaces only`,
		},
	];
}

/** `rate:3000/s` is one word for YAML, and goes on in the next line. */
function colon(lines: readonly string[], near: number): Repair[] {
	return [near, near - 1].flatMap((line): Repair[] => {
		const match = /^( *(?:- +)?)([A-Za-z]+):([^\s:/].*)$/.exec(
			lines[line] ?? "",
		);
		if (!match) return [];
		const [, before = "", key = "", value = ""] = match;
		return [
			{
				text: lines.with(line, `${before}${key}: ${value}`).join("\n"),

				line,
				column: before.length,
				message: `a key takes a space after its colon: ${key}: ${value.trim()}`,
			},
		];
	});
}

/** Moves lines around the error, alone or with those that follow, to where their neighbours stand. */
function indented(lines: readonly string[], near: number): Repair[] {
	const filled = lines.flatMap((source, line) =>
		/^\s*(#|$)/.test(source) ? [] : [line],
	);
	const middle = filled.findIndex((line) => line >= near);
	if (middle < 0) return [];
	return [middle, middle + 1, middle - 1].flatMap((at): Repair[] => {
		const line = filled[at];
		const above = filled[at - 1];
		if (line === undefined) return [];
		const column = indentOf(lines[line]);
		// Who stands like the line above is not the one that stands out.
		if (above !== undefined && columnsOf(lines[above]).includes(column))
			return [];
		const block = blockFrom(lines, filled, at);
		const next = filled[at + 1];
		const afterBlock = filled[at + block.length];
		const targets = new Set([
			...columnsAbove(lines, filled, at),
			...[next, afterBlock].flatMap((other) =>
				other === undefined ? [] : [indentOf(lines[other])],
			),
		]);
		targets.delete(column);
		return [...targets].flatMap((target) => {
			const message = `${nameOf(lines[line] ?? "")} stands at column ${column + 1}, its neighbours at column ${target + 1}: indent it like them`;
			const move = (moved: readonly number[]): Repair => ({
				text: lines
					.map((source, i) =>
						moved.includes(i) ? shift(source, target - column) : source,
					)
					.join("\n"),
				line,
				column,
				message,
				cost: moved.length * 2 + (target % 2) * 3,
			});
			return block.length > 1 ? [move([line]), move(block)] : [move([line])];
		});
	});
}

/** The line at `at` and those after it that stand no further left. */
function blockFrom(
	lines: readonly string[],
	filled: readonly number[],
	at: number,
): number[] {
	const column = indentOf(lines[filled[at] ?? 0]);
	const rest = filled.slice(at);
	const end = rest.findIndex((line) => indentOf(lines[line]) < column);
	return end < 0 ? rest : rest.slice(0, end);
}

/** Columns of the line above and of those that it is part of. */
function columnsAbove(
	lines: readonly string[],
	filled: readonly number[],
	at: number,
): number[] {
	const found: number[] = [];
	let least = Number.POSITIVE_INFINITY;
	for (let i = at - 1; i >= 0 && least > 0; i--) {
		const source = lines[filled[i] ?? 0];
		const indent = indentOf(source);
		if (indent >= least) continue;
		found.push(...columnsOf(source));
		least = indent;
	}
	return found;
}

/** Where a line begins, and where the first key of its list item does. */
function columnsOf(source = ""): number[] {
	const item = /^ *- +(?=[A-Za-z]+:)/.exec(source)?.[0].length;
	return item === undefined ? [indentOf(source)] : [item, indentOf(source)];
}

function indentOf(source = ""): number {
	return /^ */.exec(source)?.[0].length ?? 0;
}

function shift(source: string, by: number): string {
	const indent = Math.max(0, indentOf(source) + by);
	return " ".repeat(indent) + source.trimStart();
}

/** "connections:", else the first words of the line. */
function nameOf(source: string): string {
	const text = source.trim();
	return /^[A-Za-z]+:/.exec(text)?.[0] ?? `"${text.slice(0, 30)}"`;
}
