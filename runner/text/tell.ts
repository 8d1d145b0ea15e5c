import { commands } from "./commands.ts";
import { doctor } from "./doctor.ts";
import { machines } from "./machines.ts";
import { rented } from "./rented.ts";
import { reports } from "./reports.ts";
import { runs } from "./runs.ts";

/** What mqbench tells people and no result keeps by its code: code -> sentence, with the names of its values in braces. */
const sentences = {
	...commands,
	...doctor,
	...machines,
	...rented,
	...reports,
	...runs,
} as const;

type Told = keyof typeof sentences;

/** The names in a sentence; braces around more than a word are its own: "{ broker: nats }". */
type Names<Text extends string> = Text extends `${string}{${infer Rest}`
	? Names<Rest> | (Rest extends `${infer Name}}${string}` ? Word<Name> : never)
	: never;
type Word<Text extends string> = Text extends `${string}${" " | "{"}${string}`
	? never
	: Text;

/** Values of a sentence, as they are to be read: nothing where it names none. */
type Telling<C extends Told> =
	Names<(typeof sentences)[C]> extends never
		? []
		: [values: Readonly<Record<Names<(typeof sentences)[C]>, string | number>>];

export function tell<C extends Told>(code: C, ...values: Telling<C>): string {
	const [given = {}] = values as [Readonly<Record<string, unknown>>?];
	return sentences[code].replaceAll(/\{(\w+)\}/g, (_, name: string) =>
		String(given[name]),
	);
}
