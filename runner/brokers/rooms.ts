export { amqp } from "./amqp/index.ts";
export { kafka } from "./kafka/index.ts";
export { mqtt } from "./mqtt/index.ts";
export { nats } from "./nats/index.ts";
export { streaming as "nats-streaming" } from "./nats-streaming/index.ts";
export { noop } from "./noop/index.ts";
export { nsq } from "./nsq/index.ts";
export { rabbitmq } from "./rabbitmq/index.ts";
export { redis } from "./redis/index.ts";
