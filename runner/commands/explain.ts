import type { Command } from "commander";
import { EXIT, type ExitCode, failure } from "../errors.ts";
import { extensionPage } from "../explain/extension.ts";
import { otherNames, terms } from "../explain/terms.ts";
import { topicNames, topics } from "../explain/topics.ts";
import { largestOf } from "../extremes.ts";
import { suggest } from "../suggest.ts";
import { wrap } from "../terminal/wrap.ts";
import type { World } from "../world.ts";
import type { Action } from "./options.ts";

export function declare(command: Command, on: Action): void {
	command
		.argument(
			"[topic...]",
			"without a topic: list all of them; also a driver from outside: its folder, or module@version",
		)
		.action(on(explain, "words"));
}

/** The idea behind words of the reports ("not offered", or several: "floor others"), or a list of all. */
export async function explain(
	{ words }: { readonly words: readonly string[] },
	world: World,
): Promise<ExitCode> {
	const topic = words.join(" ");
	const pages = pageOf(topic) === undefined ? words.map(pageOf) : [pageOf(topic)];
	const missing = pages.every((page) => page === undefined)
		? topic
		: words[pages.indexOf(undefined)];
	const extension = missing === undefined ? null : await extensionPage(topic, world);
	if (words.length > 0 && missing !== undefined && extension === null) {
		const near = suggest(missing, [...topicNames, ...terms.map(({ name }) => name)]);
		const guess = near === undefined ? "" : `; did you mean ${near}?`;
		throw failure("unknown-topic", { topic: missing, guess });
	}
	world.stdout.write(extension ?? (words.length === 0 ? list() : pages.join("\n")));
	return EXIT.pass;
}

// --- internal ---

const COLUMNS = 80;

const OWN: ReadonlyMap<string, string> = new Map([
	...terms.map(({ name, means, more }) => {
		const text = wrap(`${name}: ${means}`, COLUMNS).join("\n");
		return [
			plain(name),
			`${text}\n${more === null ? "" : `\nMore: npx mqbench explain ${more}\n`}`,
		] as const;
	}),
	...topicNames.map((name) => [plain(name), topics[name].text.trimStart()] as const),
]);

const PAGES: ReadonlyMap<string, string> = new Map([
	...[...otherNames].map(([word, name]) => [plain(word), OWN.get(plain(name)) ?? ""] as const),
	...OWN,
]);

function pageOf(word: string): string | undefined {
	const meant = word
		// Codes in result.json of lines that something other than the system decided: late-by-held.
		.replace(/^.*-by-(lag|burst|stops|held)$/i, "invalid")
		.replace(/^p\d+(\.\d+)?$/i, "percentile")
		.replace(/(?<=B)\/s$/, "")
		.replace(/^(back under) .*/i, "$1");
	return PAGES.get(plain(meant));
}

/** "notOffered", "not offered", "Not-Offered"; a sign stays. */
function plain(word: string): string {
	return word.toLowerCase().replaceAll(/[^a-z0-9]/g, "") || word;
}

function list(): string {
	const width = largestOf(topicNames.map((name) => name.length));
	const lines = topicNames.map(
		(name) => `  npx mqbench explain ${name.padEnd(width)}  ${topics[name].title}`,
	);
	// A shell replaces a sign without quotes.
	const names = terms.map(({ name }) => (/\w/.test(name) ? name : `'${name}'`));
	const others = wrap(`also: ${names.join(", ")}, p99`, COLUMNS, "  ");
	return `${[...lines, "", ...others].join("\n")}\n`;
}
