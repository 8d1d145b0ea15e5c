import { type BrokerName, brokers } from "../../runner/brokers/index.ts";
import type { System } from "../../runner/scenario/scenario.ts";

/** For tests: a system of target docker, by what a scenario says of it. */
export function dockerSystem(
	written: Readonly<Record<string, unknown>> & { readonly broker: BrokerName },
): System {
	const kind = brokers[written.broker];
	const options = kind.options.parse(written);
	return {
		key: "mine",
		broker: written.broker,
		url: null,
		port: null,
		binary: null,
		image: typeof written.image === "string" ? written.image : null,
		ownTopics: null,
		options,
		// Each broker knows its own options only.
		traits: kind.traits(options as never),
	};
}
