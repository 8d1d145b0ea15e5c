import { brokerOf, SystemOptions } from "../../runner/brokers/index.ts";
import type { System } from "../../runner/scenario/scenario.ts";

/** For tests: a system of target docker, by its part of a scenario. */
export function dockerSystem(
	written: Readonly<Record<string, unknown>> & { readonly broker: string },
): System {
	const options = SystemOptions.parse(written);
	return {
		key: "mine",
		broker: written.broker,
		url: null,
		port: null,
		binary: null,
		image: typeof written.image === "string" ? written.image : null,
		existingTopics: null,
		options,
		traits: brokerOf(options).traits(options),
		durability: "",
	};
}
