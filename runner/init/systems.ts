import {
	type BrokerName,
	brokerOf,
	realBrokers,
	SystemOptions,
	type Traits,
} from "../brokers/index.ts";
import type { InstallMachine } from "../brokers/server.ts";

export interface Described {
	readonly name: BrokerName;
	/** The broker's name for its default mode, otherwise "broker-mode". */
	readonly word: string;
	readonly written: string;
	readonly traits: Traits;
}

/** Lists each broker once for each kind of system it can be, its default first. */
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

export function traitsOf(options: Record<string, unknown>): Traits {
	const parsed = SystemOptions.parse(options);
	return brokerOf(parsed).traits(parsed);
}

export async function missingHere(machine: InstallMachine): Promise<Map<string, string>> {
	const looked = await Promise.all(
		realBrokers.map(async (broker) => {
			return [broker, await brokerOf({ broker }).install?.look(machine)] as const;
		}),
	);
	return new Map(
		looked.flatMap(([broker, found]) =>
			found === undefined || found.here ? [] : [[broker, found.sentence]],
		),
	);
}

// --- internal ---

/** Options that change the system's promises or where it stores messages. */
const KINDS = ["mode", "queue"] as const;

function kindsOf(name: BrokerName): [string, string][] {
	const fields = brokerOf({ broker: name }).options.toJSONSchema({ io: "input" })
		.properties as Record<string, { enum?: string[] }>;
	return KINDS.flatMap((key) =>
		(fields[key]?.enum ?? []).map((value): [string, string] => [key, value]),
	);
}
