import { commandLine } from "../shell.ts";
import { formatBytesExact, formatCount, formatDurationExact, plural } from "../units.ts";
import { fileMistakes } from "./file-mistakes.ts";
import { loadMistakes } from "./load-mistakes.ts";
import { shared } from "./shared.ts";
import { slaMistakes } from "./sla-mistakes.ts";
import { systemMistakes } from "./system-mistakes.ts";

/** What mqbench tells people and no result keeps, mistakes above all: code -> sentence, with the names of its values in braces. */
const sentences = {
	...shared,
	...fileMistakes,
	...loadMistakes,
	...slaMistakes,
	...systemMistakes,
} as const;

export type Told = keyof typeof sentences;

/** The names in a sentence, "{system}" or "{nodes:node}"; braces around more than a word are its own: "{ broker: nats }". */
type Names<Text extends string> = Text extends `${string}{${infer Rest}`
	? Names<Rest> | (Rest extends `${infer Name}}${string}` ? Word<Name> : never)
	: never;
type Word<Text extends string> = Text extends `${string}${" " | "{"}${string}`
	? never
	: Text extends `${infer Name}:${string}`
		? Name
		: Text;

/** Its values; nothing where it names none. */
export type Telling<C extends Told> =
	Names<(typeof sentences)[C]> extends never
		? []
		: [values: Readonly<Record<Names<(typeof sentences)[C]>, unknown>>];

/** Its text. Values ending in Ns, Bytes and PerSecond are written with their unit, lists with commas, and counts with the noun behind their name. `{file:quoted}` is a word of a command that people paste. */
export function tell<C extends Told>(code: C, ...values: Telling<C>): string {
	const [given = {}] = values as [Readonly<Record<string, unknown>>?];
	return sentences[code].replaceAll(/\{(\w+)(?::([\w ]+))?\}/g, (_, name: string, noun?: string) =>
		shown(name, given[name], noun),
	);
}

// --- internal ---

function shown(name: string, value: unknown, noun?: string): string {
	if (noun === "quoted") return commandLine([String(value)]);
	if (Array.isArray(value)) return value.join(", ");
	if (typeof value !== "number") return String(value);
	if (noun !== undefined) return plural(value, noun);
	if (name.endsWith("Ns")) return formatDurationExact(value);
	if (/perSecond$/i.test(name)) return `${formatCount(value)}/s`;
	return name.endsWith("Bytes") ? formatBytesExact(value) : String(value);
}
