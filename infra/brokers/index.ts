import type { BrokerName } from "../../runner/scenario/brokers.ts";
import type { DockerBroker } from "../docker/docker-broker.ts";
import type { LocalBroker } from "../local/local-broker.ts";
import { kafka, kafkaInDocker } from "./kafka.ts";
import { nats, natsInDocker } from "./nats.ts";
import { rabbitmq, rabbitmqInDocker } from "./rabbitmq.ts";
import { redis, redisInDocker } from "./redis.ts";

/** How to run each kind of broker here; null: it has no process. */
export const localBrokers: Record<BrokerName, LocalBroker | null> = {
	kafka,
	nats,
	redis,
	rabbitmq,
	noop: null,
};

/** How to run each kind of broker in containers; null: it has no process. */
export const dockerBrokers: Record<BrokerName, DockerBroker | null> = {
	kafka: kafkaInDocker,
	nats: natsInDocker,
	redis: redisInDocker,
	rabbitmq: rabbitmqInDocker,
	noop: null,
};
