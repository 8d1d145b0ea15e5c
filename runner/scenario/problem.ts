import type { Drivers } from "../brokers/outside.ts";
import type { Target } from "../model/plan.ts";
import { maskSameLength } from "../secrets.ts";
import { type Telling, type Told, tell } from "../text/tell.ts";
import type { RigFile } from "./rig-file.ts";

/** A mistake at the schema's path; `source.ts` finds its line. */
export interface Problem {
	/** Keys and positions from the top: ["cases", 0, "rate"]. */
	readonly path: Path;
	/** The key is wrong, not its value. */
	readonly at?: "key";
	readonly message: string;
	/** From the catalogue or zod. Absent for a sentence of a broker's definition. */
	readonly code?: string | undefined;
}
export type Path = readonly (string | number)[];

/** Rules report with it: the field at fault (or a place below it), and a catalogue sentence or a finished one. */
export interface Wrong<Key extends string = string> {
	<C extends Told>(place: Place<Key>, code: C, ...values: Telling<C>): void;
	(place: Place<Key>, sentence: Sentence): void;
}
type Place<Key> = Key | readonly [Key, ...Path];
interface Sentence {
	readonly text: string;
	readonly code?: string;
}

/** Adds only the first mistake of each field, because the others follow from it. `where` finds the field in the file. */
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

/** A mistake at an offset in the text, or from a command-line option. */
export type Located = Pick<Problem, "message" | "code"> &
	({ readonly offset: number } | { readonly label: string });

/** A mistake as `mqbench validate --json` prints it. */
export interface Mistake {
	/** Null for a sentence of a broker's definition. */
	readonly code: string | null;
	readonly file: string;
	/** From 1; null if a command-line option caused the mistake. */
	readonly line: number | null;
	readonly column: number | null;
	/** "--set workload.rate=3"; null if the mistake is in the file. */
	readonly option: string | null;
	/** Secrets are masked. */
	readonly message: string;
	/** The text to write instead; null if the sentence has no such part. */
	readonly remedy: string | null;
}

const MOST = 20;
const WIDTH = 120;

/** In the order of the file, after mistakes on the command line, which was typed last. */
export function mistakesOf(file: string, text: string, problems: readonly Located[]): Mistake[] {
	const all = [...problems]
		.sort((a, b) => order(a) - order(b))
		.map((problem): Mistake => {
			const sentence = maskSameLength(oneLine(problem.message));
			// "...; this workload is round-trip" describes; it is not a remedy.
			const [, message = sentence, remedy = null] = /^(.*); (?!this )(.*?)$/.exec(sentence) ?? [];
			return {
				code: problem.code ?? null,
				file,
				...("label" in problem
					? { line: null, column: null, option: maskSameLength(problem.label) }
					: { ...position(text, problem.offset), option: null }),
				message,
				remedy,
			};
		});
	// Two rules may give the same sentence at the same place.
	return [...new Map(all.map((one) => [JSON.stringify({ ...one, code: null }), one])).values()];
}

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

/** The rig and the file it came from. Holds passwords. */
export interface GivenRig {
	readonly path: string;
	readonly rig: RigFile;
	/** From `--only`: systems that do not match need no broker. */
	readonly only?: string | undefined;
}

export interface Surroundings {
	/** Absolute; paths in the scenario count from here. */
	readonly folder: string;
	/** As Node names it: "linux". */
	readonly platform: string;
	readonly rig?: GivenRig | undefined;
	/** What the scenario's extensions are (infra/read-scenario.ts). */
	readonly drivers?: Drivers | null | undefined;
	/** Size of a file, or null if it is unreadable. */
	fileBytes(path: string): number | "folder" | null;
	fileText(path: string): string;
}

export interface Context extends Omit<Surroundings, "rig"> {
	readonly target: Target;
	/** If the command line chose the target, settings that only other targets have are ignored, not refused. */
	readonly targetChosen: boolean;
	/** Its brokers replace the target's; its clients make the load unless the scenario names its own. */
	readonly rig: GivenRig | null;
	readonly problems: Problem[];
	readonly env: Readonly<Record<string, string | undefined>>;
	/** Values of secret variables, from every `config`. */
	readonly secrets: readonly string[];
	/** The option that set the value at `path`, or undefined if the file did. */
	labelOf(path: Path): string | undefined;
}

// --- internal ---

const NEW_LINE = /\r\n|\n|\r/;

function order(problem: Located): number {
	return "offset" in problem ? problem.offset : -1;
}

function position(text: string, offset: number) {
	const before = text.slice(0, offset).split(NEW_LINE);
	return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/** Shows no line if the caret would be too far right. Masks secrets. */
function excerpt(source: string, line: number, column: number): string {
	if (source.trim() === "" || column > WIDTH) return "";
	const shown = maskSameLength(source).replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, " ");
	const piece = shown.length > WIDTH ? `${shown.slice(0, WIDTH)}...` : shown;
	const gutter = `${line}`.padStart(4);
	return `\n${gutter} | ${piece}\n${" ".repeat(gutter.length)} | ${" ".repeat(column - 1)}^`;
}

/** Messages may quote the author's text: strip control characters, limit the length. */
function oneLine(text: string): string {
	const line = text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]+/gu, " ");
	return line.length > 400 ? `${line.slice(0, 400)}...` : line;
}
