import { activemq, artemis } from "./amqp.ts";
import { kafka } from "./kafka.ts";
import { mqtt } from "./mqtt.ts";
import { nats } from "./nats.ts";
import { nsq } from "./nsq.ts";
import { rabbitmq } from "./rabbitmq.ts";
import { redis } from "./redis.ts";
import type { Contest } from "./rival.ts";
import { streaming } from "./streaming.ts";

/** What mqbench is set beside, by the name that `tools.js` takes. */
export const contests: Readonly<Record<string, Contest>> = {
	nats,
	redis,
	rabbitmq,
	kafka,
	nsq,
	mqtt,
	artemis,
	activemq,
	"nats-streaming": streaming,
};

/** Systems without a tool that could be set beside mqbench, and why. */
export const without: Readonly<Record<string, string>> = {
	sqs: "neither ElasticMQ nor Amazon has a program that makes load",
};
