import { brokerOf, SystemOptions } from "../../runner/brokers/index.ts";
import type { HostSetup } from "../../runner/brokers/process.ts";
import type { Level } from "../../runner/model/plan.ts";
import type { System } from "../../runner/scenario/scenario.ts";
import { fakeWorld } from "../../runner/world.fake.ts";
import type { Binaries } from "../binaries/resolve.ts";
import { toolsOf } from "../local/tools.ts";

/** For tests: a broker that is to be placed on h1 (10.0.0.5), which answers all questions with `said`. */
export function hostSetup(
	broker: "redis" | "rabbitmq",
	parts: {
		readonly options?: Readonly<Record<string, unknown>>;
		readonly level?: Level | null;
		readonly messageBytes?: number;
		readonly said?: string;
		readonly code?: number;
	} = {},
): HostSetup {
	const port = { redis: 6379, rabbitmq: 5672 }[broker];
	return {
		system: hostSystem(broker, parts.options),
		level: parts.level ?? null,
		messageBytes: parts.messageBytes ?? 256,
		nodes: [
			{
				ip: "10.0.0.5",
				hostname: "h1",
				client: `10.0.0.5:${port}`,
				reached: [],
				published: false,
				store: "/disk/run's/store",
				memory: null,
				memoryBytes: null,
				brought: "/brought",
			},
		],
		tools: toolsOf(fakeWorld(), {} as Binaries),
		ask: async () => ({ code: parts.code ?? 0, said: parts.said ?? "" }),
	};
}

/** For tests: the system "mine" as a scenario writes it. */
export function hostSystem(
	broker: "redis" | "rabbitmq",
	written: Readonly<Record<string, unknown>> = {},
): System {
	const options = SystemOptions.parse({ broker, ...written });
	return {
		key: "mine",
		broker,
		url: null,
		port: null,
		binary: null,
		image: null,
		ownTopics: null,
		options,
		traits: brokerOf(options).traits(options),
	};
}
