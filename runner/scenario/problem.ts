import { maskSameLength } from "../secrets.ts";
import { type Telling, type Told, tell } from "../text/tell.ts";

/** One mistake in a scenario, where the schema sees it. `source.ts` knows the line. */
export interface Problem {
	/** Keys and positions from the top: ["cases", 0, "rate"]. */
	readonly path: Path;
	/** The key is wrong, not its value. */
	readonly at?: "key";
	readonly message: string;
	/** Of the catalogue, or zod's; absent: a sentence of a broker's definition. */
	readonly code?: string | undefined;
}
export type Path = readonly (string | number)[];

/**
 * How every rule reports what may not go together: the field at fault (or what is below it), and the sentence with its values, or one that was
 * made elsewhere.
 */
export interface Wrong<Key extends string = string> {
	<C extends Told>(place: Place<Key>, code: C, ...values: Telling<C>): void;
	(place: Place<Key>, sentence: Sentence): void;
}
type Place<Key> = Key | readonly [Key, ...Path];
interface Sentence {
	readonly text: string;
	readonly code?: string;
}

/** Adds to `problems`, of each field the first one alone: what comes after it follows from that. `where`: where the file has the field. */
export function reporter<Key extends string>(
	problems: Problem[],
	where: (key: Key) => Path = (key) => [key],
): Wrong<Key> {
	const seen = new Set<Key>();
	return (place: Place<Key>, sentence: Told | Sentence, ...values: unknown[]) => {
		const [key, ...below] = typeof place === "string" ? [place] : place;
		if (seen.has(key)) return;
		seen.add(key);
		const { text: message, ...code } =
			typeof sentence === "string"
				? { code: sentence, text: tell(sentence, ...(values as Telling<Told>)) }
				: sentence;
		problems.push({ path: [...where(key), ...below], message, ...code });
	};
}

/** A mistake at its place in the text, or with the option of the command line that it came by. */
export type Located = Pick<Problem, "message" | "code"> &
	({ readonly offset: number } | { readonly label: string });

/** A mistake as `mqbench validate --json` prints it. */
export interface Mistake {
	/** null: a sentence of a broker's definition. */
	readonly code: string | null;
	readonly file: string;
	/** From 1; null: it came by an option of the command line. */
	readonly line: number | null;
	readonly column: number | null;
	/** "--set workload.rate=3"; null: it is in the file. */
	readonly option: string | null;
	/** What is wrong. Secrets are masked. */
	readonly message: string;
	/** What to write; null: the sentence has no such part. */
	readonly remedy: string | null;
}

/** How many mistakes are shown: more help nobody. */
const MOST = 20;
const WIDTH = 120;

/** All mistakes in the order of the file; those of the command line first, as they are what was typed last. */
export function mistakesOf(file: string, text: string, problems: readonly Located[]): Mistake[] {
	const all = [...problems]
		.sort((a, b) => order(a) - order(b))
		.map((problem): Mistake => {
			const sentence = maskSameLength(oneLine(problem.message));
			// "...; this workload is round-trip" says what is, not what to write.
			const [, message = sentence, remedy = null] = /^(.*); (?!this )(.*?)$/.exec(sentence) ?? [];
			return {
				code: problem.code ?? null,
				file,
				...("label" in problem
					? { ...NOWHERE, option: maskSameLength(problem.label) }
					: { ...position(text, problem.offset), option: null }),
				message,
				remedy,
			};
		});
	// By two ways to the same sentence at the same place.
	const once = new Map(all.map((one) => [JSON.stringify({ ...one, code: null }), one]));
	return [...once.values()];
}

/** `path:line:column message`, the line and a caret, for each mistake. */
export function report(text: string, mistakes: readonly Mistake[]): string {
	const lines = text.split(NEW_LINE);
	const blocks = mistakes.map(({ file, line, column, option, message: what, remedy }) => {
		const sentence = remedy === null ? what : `${what}; ${remedy}`;
		return line === null || column === null
			? `${option}: ${sentence}`
			: `${file}:${line}:${column} ${sentence}${excerpt(lines[line - 1] ?? "", line, column)}`;
	});
	const more = blocks.length - MOST;
	return [...blocks.slice(0, MOST), ...(more > 0 ? [`... and ${more} more`] : [])].join("\n");
}

// --- internal ---

const NEW_LINE = /\r\n|\n|\r/;

const NOWHERE = { line: null, column: null };

function order(problem: Located): number {
	return "offset" in problem ? problem.offset : -1;
}

function position(text: string, offset: number) {
	const before = text.slice(0, offset).split(NEW_LINE);
	return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/** The line with a caret below; nothing where a caret would be too far right. Secrets are masked. */
function excerpt(source: string, line: number, column: number): string {
	if (source.trim() === "" || column > WIDTH) return "";
	const shown = maskSameLength(source).replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, " ");
	const piece = shown.length > WIDTH ? `${shown.slice(0, WIDTH)}...` : shown;
	const gutter = `${line}`.padStart(4);
	return `\n${gutter} | ${piece}\n${" ".repeat(gutter.length)} | ${" ".repeat(column - 1)}^`;
}

/** Messages may quote what a person wrote: no control characters reach the terminal, no novel either. */
function oneLine(text: string): string {
	const line = text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]+/gu, " ");
	return line.length > 400 ? `${line.slice(0, 400)}...` : line;
}
