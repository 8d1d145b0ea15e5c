import { commandLine } from "./shell.ts";
import { formatBytesExact, formatCount, formatDurationExact, plural } from "./units.ts";

/** The names in "{system}" or "{nodes:node}"; braces around more than a word are literal: "{ broker: nats }". */
export type Names<Text extends string> = Text extends `${string}{${infer Rest}`
	? Names<Rest> | (Rest extends `${infer Name}}${string}` ? Word<Name> : never)
	: never;
type Word<Text extends string> = Text extends `${string}${" " | "{"}${string}`
	? never
	: Text extends `${infer Name}:${string}`
		? Name
		: Text;

/** Names in Ns, Bytes and PerSecond get units; `{file:quoted}` is a word of a command, `{wrong:lines}` a line for each. */
export function fill(sentence: string, values: Readonly<Record<string, unknown>>): string {
	return sentence.replaceAll(/\{(\w+)(?::([\w ]+))?\}/g, (_, name: string, noun?: string) =>
		shown(name, values[name], noun),
	);
}

// --- internal ---

function shown(name: string, value: unknown, noun?: string): string {
	if (noun === "quoted") return commandLine([String(value)]);
	if (Array.isArray(value)) return value.join(noun === "lines" ? "\n" : ", ");
	if (typeof value !== "number") return String(value);
	if (noun !== undefined) return plural(value, noun);
	if (name.endsWith("Ns")) return formatDurationExact(value);
	if (/perSecond$/i.test(name)) return `${formatCount(value)}/s`;
	return name.endsWith("Bytes") ? formatBytesExact(value) : String(value);
}
