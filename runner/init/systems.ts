import {
	type BrokerName,
	brokerOf,
	realBrokers,
	SystemOptions,
	type Traits,
} from "../brokers/index.ts";
import type { InstallMachine } from "../brokers/server.ts";

/** A broker in one of its modes. */
export interface Described {
	/** The broker. */
	readonly name: BrokerName;
	/** One word for it: the broker as it comes, or "broker-mode". */
	readonly word: string;
	/** "{ broker: ..., mode: ... }" */
	readonly written: string;
	readonly traits: Traits;
}

/** Every broker, once for each kind of system that it can be; the one without an option comes first. */
export function systems(): Described[] {
	return realBrokers.flatMap((name) => {
		const own = traitsOf({ broker: name });
		const described = kindsOf(name).map(([key, value]): Described => {
			const traits = traitsOf({ broker: name, [key]: value });
			const [word, option] =
				traits.title === own.title ? [name, ""] : [`${name}-${value}`, `, ${key}: ${value}`];
			return { name, word, written: `{ broker: ${name}${option} }`, traits };
		});
		if (described.length > 0) return described;
		return [{ name, word: name, written: `{ broker: ${name} }`, traits: own }];
	});
}

/** Of a system with these options. */
export function traitsOf(options: Record<string, unknown>): Traits {
	const parsed = SystemOptions.parse(options);
	return brokerOf(parsed).traits(parsed);
}

/** Brokers that cannot be started here, and what each needs. */
export async function missingHere(machine: InstallMachine): Promise<Map<string, string>> {
	const looked = await Promise.all(
		realBrokers.map(async (broker) => {
			const program = await brokerOf({ broker }).install?.look(machine);
			return [broker, program] as const;
		}),
	);
	return new Map(
		looked.flatMap(([broker, found]) =>
			found === undefined || found.here ? [] : [[broker, found.sentence]],
		),
	);
}

// --- internal ---

/** Options that make another system of a broker: another promise, another place for messages. */
const KINDS = ["mode", "queue"] as const;

function kindsOf(name: BrokerName): [string, string][] {
	const fields = brokerOf({ broker: name }).options.toJSONSchema({ io: "input" })
		.properties as Record<string, { enum?: string[] }>;
	return KINDS.flatMap((key) =>
		(fields[key]?.enum ?? []).map((value): [string, string] => [key, value]),
	);
}
