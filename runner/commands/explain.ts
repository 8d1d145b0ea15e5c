import type { Command } from "commander";
import { EXIT, type ExitCode, failure } from "../errors.ts";
import { terms } from "../explain/terms.ts";
import { topicNames, topics } from "../explain/topics.ts";
import { largestOf } from "../extremes.ts";
import { didYouMean } from "../suggest.ts";
import { wrap } from "../terminal/wrap.ts";
import type { World } from "../world.ts";
import type { Action } from "./options.ts";

export function declare(command: Command, on: Action): void {
	command.argument("[topic...]", "without a topic: list all of them").action(on(explain, "words"));
}

/** `mqbench explain`: the idea behind a word of the reports, or the list of those that there are. */
export async function explain(
	{ words }: { readonly words: readonly string[] },
	world: World,
): Promise<ExitCode> {
	world.stdout.write(words.length === 0 ? list() : textOf(words));
	return EXIT.pass;
}

// --- internal ---

/** Of a topic, which may be of two words ("not offered"), or of several one after another ("floor others"). */
function textOf(words: readonly string[]): string {
	const one = (word: string) => pageOf(word) ?? termOf(word);
	const topic = words.join(" ");
	const whole = one(topic);
	if (whole !== null) return whole;
	if (words.every((word) => one(word) === null)) unknown(topic);
	return words.map((word) => one(word) ?? unknown(word)).join("\n");
}

/** null: there is no page of that name. */
function pageOf(word: string): string | null {
	// Codes in result.json of lines that something other than the system decided: late-by-held.
	const asked = /-by-(lag|burst|stops|held)$/i.test(word) ? "invalid" : word;
	const name = topicNames.find((known) => alike(known, asked));
	return name === undefined ? null : topics[name].text.replace(/^\n/, "");
}

/** "lag: ...", of a word that needs no page; null: reports do not have it. */
function termOf(word: string): string | null {
	const asked = /^p\d+(\.\d+)?$/i.test(word) ? "percentile" : word;
	const term = terms.find(({ name }) => alike(name, asked));
	if (term === undefined) return null;
	const more = term.more === null ? "" : `\nMore: mqbench explain ${term.more}\n`;
	return `${wrap(`${term.name}: ${term.means}`, COLUMNS).join("\n")}\n${more}`;
}

function unknown(topic: string): never {
	const known = [...topicNames, ...terms.map(({ name }) => name)];
	throw failure("unknown-topic", { topic, guess: didYouMean(topic, known) });
}

/** "notOffered", "not offered", "Not-Offered". */
function alike(a: string, b: string): boolean {
	const plain = (word: string) => word.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
	return plain(a) === plain(b);
}

const COLUMNS = 80;

function list(): string {
	const width = largestOf(topicNames.map((name) => name.length));
	const lines = topicNames.map(
		(name) => `  mqbench explain ${name.padEnd(width)}  ${topics[name].title}`,
	);
	const others = wrap(`also: ${terms.map(({ name }) => name).join(", ")}, p99`, COLUMNS, "  ");
	return `${[...lines, "", ...others].join("\n")}\n`;
}
