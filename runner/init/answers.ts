import { brokerOf } from "../brokers/index.ts";
import { failure } from "../errors.ts";
import { type MainPattern, PATTERNS } from "../model/load.ts";
import { didYouMean } from "../suggest.ts";
import { tell } from "../text/tell.ts";
import { parseBytes, parseDuration, parseRate, UnitError } from "../units.ts";
import type { World } from "../world.ts";
import { type Described, systems } from "./systems.ts";

export interface Answers {
	/** A word of `systems`: a broker, or a broker and its mode. */
	readonly broker: string;
	readonly pattern: MainPattern;
	readonly rate: string;
	readonly message: string;
	readonly duration: string;
	readonly p99: string;
	/** URL of an existing broker or the variable that holds it; "" if mqbench starts one. */
	readonly url: string;
}

export interface Question {
	readonly key: keyof Answers;
	readonly about: string;
	/** `missing`: brokers that cannot start on this machine. */
	ask(known: Partial<Answers>, missing: readonly string[]): string;
	readonly otherwise: string;
	wrong(answer: string, known: Partial<Answers>): string | undefined;
}

/** Later questions may depend on earlier answers. */
export const questions: readonly Question[] = [
	{
		key: "broker",
		about: "system",
		ask: (_, missing) => `System (${offered(missing).join(", ")})`,
		otherwise: offered([])[0] ?? "",
		wrong: (answer) => (systemCalled(answer) ? undefined : unknown("system", answer, offered([]))),
	},
	{
		key: "pattern",
		about: "pattern",
		ask: (known) => `Pattern (${patternsOf(known).join(", ")})`,
		otherwise: "round-trip",
		wrong: wrongPattern,
	},
	plain("rate", "rate", "Rate: messages per second, all producers together", "1000/s", parseRate),
	plain("message", "message size", "Size of each message", "1KiB", parseBytes),
	plain(
		"duration",
		"duration",
		"Duration of the measurement, after the warm-up",
		"30s",
		parseDuration,
	),
	{
		key: "p99",
		about: "limit of p99",
		ask: () => "99 of 100 messages must be faster than",
		otherwise: "20ms",
		wrong: (answer) =>
			/^\s*\d+\s*$/.test(answer)
				? tell("without-unit", { what: "p99", value: answer, write: `${answer.trim()}ms` })
				: parsedBy(parseDuration)(answer),
	},
	{
		key: "url",
		about: "URL",
		ask: () =>
			"URL of your own broker, or the environment variable that holds it (empty: mqbench starts a broker)",
		otherwise: "",
		wrong: () => undefined,
	},
];

/** Also accepts the names in `alsoCalled`. */
export function systemCalled(answer: string): Described | undefined {
	const all = systems();
	const word = answer.toLowerCase();
	const meant = all
		.map(({ name }) => brokerOf({ broker: name }).alsoCalled[word])
		.find((text) => text !== undefined);
	return all.find((one) => one.word === word || one.written === meant);
}

/** Answers come from the arguments, a terminal, a pipe's next line or the default, in this order. Prints defaults that it took unasked. */
export async function answersOf(
	args: Partial<Record<keyof Answers, string>> & { readonly yes?: boolean | undefined },
	missing: readonly string[],
	world: World,
): Promise<Answers> {
	const known: Record<string, string> = {};
	let any = false;
	const defaults: string[] = [];
	for (const question of questions) {
		const { key, about, otherwise } = question;
		const given = args[key];
		const wrong = given === undefined ? undefined : question.wrong(given, known);
		if (wrong !== undefined) throw failure("usage", { message: `--${key}: ${wrong}` });
		const answer = given ?? (args.yes ? null : await answered(question, known, missing, world));
		known[key] = answer ?? otherwise;
		if (answer === null && otherwise !== "") defaults.push(`${about} ${otherwise}`);
		any ||= given === undefined && answer !== null;
	}
	if (defaults.length > 0 && !args.yes)
		world.stderr.write(
			`${any ? "No more answers" : "No answers on standard input"}. Using the defaults: ${defaults.join(", ")}\n`,
		);
	return known as unknown as Answers;
}

// --- internal ---

function plain(key: keyof Answers, about: string, text: string, otherwise: string, parse: Parse) {
	return { key, about, ask: () => text, otherwise, wrong: parsedBy(parse) };
}

type Parse = (text: string) => unknown;
function offered(missing: readonly string[]): string[] {
	return systems()
		.filter(({ name }) => !missing.includes(name))
		.map(({ word }) => word);
}

function patternsOf({ broker = "" }: Partial<Answers>): MainPattern[] {
	const cannot = systemCalled(broker)?.traits.cannot;
	return PATTERNS.filter((pattern) => cannot?.[pattern] === undefined);
}

function wrongPattern(answer: string, known: Partial<Answers>): string | undefined {
	const can = patternsOf(known);
	if (can.includes(answer as MainPattern)) return undefined;
	const { traits } = systemCalled(known.broker ?? "") ?? {};
	const why = traits?.cannot[answer as MainPattern];
	return why === undefined
		? unknown("pattern", answer, can)
		: `${traits?.title} cannot do ${answer}: ${why}; choose one of ${can.join(", ")}`;
}

function unknown(what: string, answer: string, known: readonly string[]): string {
	return `unknown ${what} ${JSON.stringify(answer)}${didYouMean(answer, known)}`;
}

function parsedBy(parse: Parse) {
	return (answer: string): string | undefined => {
		try {
			parse(answer);
			return undefined;
		} catch (error) {
			if (error instanceof UnitError) return error.message;
			throw error;
		}
	};
}

/** Returns null at the end of input. */
async function answered(
	question: Question,
	known: Partial<Answers>,
	missing: readonly string[],
	world: World,
): Promise<string | null> {
	const { otherwise } = question;
	const shown = otherwise === "" ? "" : ` [${otherwise}]`;
	const text = `${question.ask(known, missing)}${shown}: `;
	for (;;) {
		const line = world.ask ? await world.ask(text) : ((await world.nextLine?.()) ?? null);
		if (line === null) return null;
		const answer = line.trim() === "" ? otherwise : line.trim();
		if (!world.ask) world.stderr.write(`${text}${answer}\n`);
		const wrong = question.wrong(answer, known);
		if (wrong === undefined) return answer;
		if (!world.ask) throw failure("usage", { message: wrong });
		world.stderr.write(`${wrong}\n`);
	}
}
