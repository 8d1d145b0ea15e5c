import type { BrokerName } from "../../runner/brokers/index.ts";
import type { DockerBroker } from "../docker/docker-broker.ts";
import type { HostBroker } from "../hosts/host-broker.ts";
import type { LocalBroker } from "../local/local-broker.ts";
import { kafka, kafkaInDocker, kafkaOnHosts } from "./kafka.ts";
import { nats, natsInDocker, natsOnHosts } from "./nats.ts";
import { rabbitmq, rabbitmqInDocker, rabbitmqOnHosts } from "./rabbitmq.ts";
import { redis, redisInDocker, redisOnHosts } from "./redis.ts";

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

/** How to run each kind of broker on hosts that ssh reaches; null: it has no process. */
export const hostBrokers: Record<BrokerName, HostBroker | null> = {
	kafka: kafkaOnHosts,
	nats: natsOnHosts,
	redis: redisOnHosts,
	rabbitmq: rabbitmqOnHosts,
	noop: null,
};
