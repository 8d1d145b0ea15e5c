import type { BrokerName } from "../../runner/scenario/brokers.ts";
import type { LocalBroker } from "../local/local-broker.ts";
import { nats } from "./nats.ts";

/** How to run each kind of broker here; null: it has no process. */
export const localBrokers: Record<BrokerName, LocalBroker | null> = {
	nats,
	noop: null,
};
