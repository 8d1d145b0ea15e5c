import { z } from "zod";
import type { Broker } from "./broker.ts";
import type { SystemOptionsOfAnyBroker } from "./fields.ts";
import { room as kafka } from "./kafka/index.ts";
import { room as nats } from "./nats/index.ts";
import { room as noop } from "./noop/index.ts";
import type { BrokerProcess } from "./process.ts";
import { room as rabbitmq } from "./rabbitmq/index.ts";
import { room as redis } from "./redis/index.ts";

export { type Broker, Delivery, Order, type Traits } from "./broker.ts";
export { type SystemOptionsOfAnyBroker, variable } from "./fields.ts";

/** The systems that mqbench can measure, by the word that scenarios, drivers and their folders know them by. */
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

/** How each kind of broker is run in that way; null: it has no process. */
export function startedAs<Way extends keyof BrokerProcess>(
	way: Way,
): Readonly<Record<string, BrokerProcess[Way] | null>> {
	return Object.fromEntries(
		Object.entries<Broker<never>>(brokers).map(([name, { process }]) => [
			name,
			process && process[way],
		]),
	);
}

/** The options of a system, as far as all brokers have them. */
export function commonOptions(
	options: SystemOptions,
): SystemOptionsOfAnyBroker {
	return options;
}
