import type { BrokerName } from "../../runner/scenario/brokers.ts";
import type { LocalBroker } from "../local/local-broker.ts";
import { kafka } from "./kafka.ts";
import { nats } from "./nats.ts";
import { rabbitmq } from "./rabbitmq.ts";
import { redis } from "./redis.ts";

/** How to run each kind of broker here; null: it has no process. */
export const localBrokers: Record<BrokerName, LocalBroker | null> = {
	kafka,
	nats,
	redis,
	rabbitmq,
	noop: null,
};
