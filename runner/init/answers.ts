import {
	type BrokerName,
	brokerOf,
	realBrokers,
	SystemOptions,
} from "../brokers/index.ts";
import { PATTERNS, type Pattern } from "../model/workload.ts";
import { didYouMean } from "../suggest.ts";
import { parseBytes, parseDuration, parseRate, UnitError } from "../units.ts";

/** What a new scenario is made from; all as a person writes it. */
export interface Answers {
	readonly broker: BrokerName;
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
	ask(known: Partial<Answers>): string;
	readonly otherwise: string;
	/** A sentence, or undefined when the answer is right. */
	wrong(answer: string, known: Partial<Answers>): string | undefined;
}

/** In the order in which they are asked: later ones may depend on earlier answers. */
export const questions: readonly Question[] = [
	{
		key: "broker",
		ask: () => `Broker (${realBrokers.join(", ")})`,
		otherwise: realBrokers[0] ?? "",
		wrong: (answer) => oneOf("broker", answer, realBrokers),
	},
	{
		key: "pattern",
		ask: (known) => `Pattern (${patternsOf(known).join(", ")})`,
		otherwise: "round-trip",
		wrong: (answer, known) => oneOf("pattern", answer, patternsOf(known)),
	},
	{
		key: "rate",
		ask: () => "Messages per second, all producers together",
		otherwise: "1000/s",
		wrong: parsedBy(parseRate),
	},
	{
		key: "message",
		ask: () => "Size of a message",
		otherwise: "1KiB",
		wrong: parsedBy(parseBytes),
	},
	{
		key: "duration",
		ask: () => "Measured for",
		otherwise: "30s",
		wrong: parsedBy(parseDuration),
	},
	{
		key: "p99",
		ask: () => "99 of 100 messages have to be faster than",
		otherwise: "20ms",
		wrong: parsedBy(parseDuration),
	},
	{
		key: "url",
		ask: () =>
			"URL of your broker, or a variable of the environment that holds it (nothing: mqbench starts one here)",
		otherwise: "",
		wrong: () => undefined,
	},
];

// --- internal ---

/** The patterns that the broker can do as it comes. */
function patternsOf({ broker }: Partial<Answers>): Pattern[] {
	if (broker === undefined) return [...PATTERNS];
	const { cannot } = brokerOf({ broker }).traits(
		SystemOptions.parse({ broker }),
	);
	return PATTERNS.filter((pattern) => cannot[pattern] === undefined);
}

function oneOf(
	what: string,
	answer: string,
	known: readonly string[],
): string | undefined {
	return known.includes(answer)
		? undefined
		: `${answer} is no ${what} here${didYouMean(answer, known)}; there are ${known.join(", ")}`;
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
