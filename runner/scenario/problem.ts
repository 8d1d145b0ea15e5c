import type { WorkloadField } from "../model/workload.ts";
import { maskSameLength } from "../secrets.ts";
import { KNOWN } from "../suggest.ts";
import { type Telling, type Told, tell } from "../text/tell.ts";

/** One mistake in a scenario, where the schema sees it. `source.ts` knows the line. */
export interface Problem {
	/** Keys and positions from the top: ["cases", 0, "rate"]. */
	readonly path: Path;
	/** The key is wrong, or its value is. */
	readonly at: "key" | "value";
	readonly message: string;
}
export type Path = readonly (string | number)[];

/** A mistake in a field of a workload, wherever the scenario has written it. */
export interface FieldProblem {
	readonly field: WorkloadField;
	readonly message: string;
}

/** Makes (does not throw) a mistake in the value at `path`. */
export function refuse<C extends Told>(
	path: Path,
	code: C,
	...values: Telling<C>
): Problem {
	return { path, at: "value", message: tell(code, ...values) };
}

/** The same of a key: it should not be there, or it is missing. */
export function refuseKey<C extends Told>(
	path: Path,
	code: C,
	...values: Telling<C>
): Problem {
	return { ...refuse(path, code, ...values), at: "key" };
}

/** The same of a field of a workload. */
export function refuseField<C extends Told>(
	field: WorkloadField,
	code: C,
	...values: Telling<C>
): FieldProblem {
	return { field, message: tell(code, ...values) };
}

/** A mistake at its place in the text, or with the option of the command line that it came by. */
export type Located =
	| { readonly offset: number; readonly message: string }
	| { readonly label: string; readonly message: string };

/** How many mistakes are shown: more help nobody. */
const MOST = 20;
const WIDTH = 100;

/** `path:line:column message`, the line and a caret, for each mistake in the order of the file. */
export function report(
	path: string,
	text: string,
	problems: readonly Located[],
): string {
	const lines = text.split(/\r\n|\n|\r/);
	const starts = lineStarts(text);
	const sorted = [...problems].sort((a, b) => order(a) - order(b));
	const lists = new Set<string>();
	const blocks = sorted
		.map((problem) => {
			const [what = "", list] = oneLine(problem.message).split(KNOWN);
			const known = list === undefined ? "" : `${KNOWN}${list}`;
			const repeated = lists.has(known);
			lists.add(known);
			const message = maskSameLength(repeated ? what : `${what}${known}`);
			if ("label" in problem)
				return `${maskSameLength(problem.label)}: ${message}`;
			const { line, column } = position(starts, problem.offset);
			return `${path}:${line}:${column} ${message}${excerpt(lines[line - 1] ?? "", line, column)}`;
		})
		.filter((block, i, all) => all.indexOf(block) === i);
	const more = blocks.length - MOST;
	return [
		...blocks.slice(0, MOST),
		...(more > 0 ? [`... and ${more} more`] : []),
	].join("\n");
}

// --- internal ---

/** Options of the command line come first: they are what was typed last. */
function order(problem: Located): number {
	return "offset" in problem ? problem.offset : -1;
}

function lineStarts(text: string): number[] {
	const starts = [0];
	for (const match of text.matchAll(/\r\n|\n|\r/g))
		starts.push(match.index + match[0].length);
	return starts;
}

function position(starts: readonly number[], offset: number) {
	const after = starts.findIndex((start) => start > offset);
	const line = after === -1 ? starts.length : after;
	return { line, column: offset - (starts[line - 1] ?? 0) + 1 };
}

/** The line with a caret below; of a long line only what surrounds the caret. Secrets are masked. */
function excerpt(source: string, line: number, column: number): string {
	if (source.trim() === "") return "";
	const shown = maskSameLength(source).replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, " ");
	const from = column > WIDTH ? column - Math.floor(WIDTH / 2) : 0;
	const head = from > 0 ? "..." : "";
	const piece = shown.slice(from, from + WIDTH);
	const tail = shown.length > from + WIDTH ? "..." : "";
	const gutter = `${line}`.padStart(4);
	const caret = " ".repeat(head.length + column - 1 - from);
	return `\n${gutter} | ${head}${piece}${tail}\n${" ".repeat(gutter.length)} | ${caret}^`;
}

/** Messages may quote what a person wrote: no control characters reach the terminal, no novel either. */
function oneLine(text: string): string {
	const line = text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]+/gu, " ");
	return line.length > 400 ? `${line.slice(0, 400)}...` : line;
}
