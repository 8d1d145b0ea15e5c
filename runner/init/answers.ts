import { brokerOf } from "../brokers/index.ts";
import { PATTERNS, type Pattern } from "../model/pattern.ts";
import { didYouMean } from "../suggest.ts";
import { parseBytes, parseDuration, parseRate, UnitError } from "../units.ts";
import { type Described, systems } from "./systems.ts";

/** What a new scenario is made from; all as a person writes it. */
export interface Answers {
	/** A broker, or a broker and its mode: a word of `systems`. */
	readonly broker: string;
	readonly pattern: Pattern;
	readonly rate: string;
	readonly message: string;
	readonly duration: string;
	/** Limit of p99. */
	readonly p99: string;
	/** Of an existing broker, or the name of the variable that holds it; "": mqbench starts one. */
	readonly url: string;
}

/** One thing to know: how to ask for it, what it is without an answer, and what is wrong with an answer. */
export interface Question {
	readonly key: keyof Answers;
	/** In one or two words. */
	readonly about: string;
	/** `missing`: brokers that cannot be started on this machine. */
	ask(known: Partial<Answers>, missing: readonly string[]): string;
	readonly otherwise: string;
	/** A sentence, or undefined when the answer is right. */
	wrong(answer: string, known: Partial<Answers>): string | undefined;
}

/** In the order in which they are asked: later ones may depend on earlier answers. */
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
	{
		key: "rate",
		about: "rate",
		ask: () => "Rate: messages per second, all producers together",
		otherwise: "1000/s",
		wrong: parsedBy(parseRate),
	},
	{
		key: "message",
		about: "message size",
		ask: () => "Size of each message",
		otherwise: "1KiB",
		wrong: parsedBy(parseBytes),
	},
	{
		key: "duration",
		about: "duration",
		ask: () => "Duration of the measurement, after the warm-up",
		otherwise: "30s",
		wrong: parsedBy(parseDuration),
	},
	{
		key: "p99",
		about: "limit of p99",
		ask: () => "99 of 100 messages must be faster than",
		otherwise: "20ms",
		wrong: parsedBy(parseDuration),
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

/** The system that an answer names, by its word or by what others call it. */
export function systemCalled(answer: string): Described | undefined {
	const all = systems();
	const word = answer.toLowerCase();
	const meant = all
		.map(({ name }) => brokerOf({ broker: name }).alsoCalled[word])
		.find((text) => text !== undefined);
	return all.find((one) => one.word === word || one.written === meant);
}

// --- internal ---

/** Words of the systems whose broker is not missing. */
function offered(missing: readonly string[]): string[] {
	return systems()
		.filter(({ name }) => !missing.includes(name))
		.map(({ word }) => word);
}

/** The patterns that the system can do as it comes. */
function patternsOf({ broker = "" }: Partial<Answers>): Pattern[] {
	const cannot = systemCalled(broker)?.traits.cannot;
	return PATTERNS.filter((pattern) => cannot?.[pattern] === undefined);
}

function wrongPattern(answer: string, known: Partial<Answers>): string | undefined {
	const can = patternsOf(known);
	if (can.includes(answer as Pattern)) return undefined;
	const { traits } = systemCalled(known.broker ?? "") ?? {};
	const why = traits?.cannot[answer as Pattern];
	return why === undefined
		? unknown("pattern", answer, can)
		: `${traits?.title} cannot do ${answer}: ${why}; choose one of ${can.join(", ")}`;
}

function unknown(what: string, answer: string, known: readonly string[]): string {
	return `unknown ${what} ${JSON.stringify(answer)}${didYouMean(answer, known)}`;
}

function parsedBy(parse: (text: string) => unknown) {
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
