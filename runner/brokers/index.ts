import { z } from "zod";
import type { Broker, SystemOptionsOfAnyBroker } from "./broker.ts";
import { kafka } from "./kafka/options.ts";
import { nats } from "./nats/options.ts";
import { noop } from "./noop/options.ts";
import { rabbitmq } from "./rabbitmq/options.ts";
import { redis } from "./redis/options.ts";

export {
	type Broker,
	Delivery,
	Order,
	type SystemOptionsOfAnyBroker,
	type Traits,
	variable,
} from "./broker.ts";

/** The systems that mqbench can measure, by the word that scenarios, drivers and `infra/brokers/` know them by. */
export const brokers = { nats, kafka, redis, rabbitmq, noop } as const;

export type BrokerName = keyof typeof brokers;
export const BrokerName = z.enum(
	Object.keys(brokers) as [BrokerName, ...BrokerName[]],
);

/** What a scenario may say about a system of each kind. */
export const SystemOptions = z.discriminatedUnion("broker", [
	nats.options,
	kafka.options,
	redis.options,
	rabbitmq.options,
	noop.options,
]);
export type SystemOptions = z.infer<typeof SystemOptions>;

/** The broker of a system, for code that treats all alike. */
export function brokerOf(options: { readonly broker: BrokerName }): Broker {
	return brokers[options.broker] as Broker<never> as Broker;
}

/** The options of a system, as far as all brokers have them. */
export function commonOptions(
	options: SystemOptions,
): SystemOptionsOfAnyBroker {
	return options;
}
