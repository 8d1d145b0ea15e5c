// VUs of a group share the partitions of a topic; names of the public module's second version.
import { check } from "k6";
import { AdminClient, Consumer, Producer, SECOND } from "k6/x/kafka";

export const options = {
	scenarios: {
		produce: { executor: "per-vu-iterations", exec: "produce", vus: 1, iterations: 10 },
		consume: { executor: "per-vu-iterations", exec: "consume", vus: 2, iterations: 1, maxDuration: "60s" },
	},
	thresholds: {
		checks: ["rate==1"],
		kafka_reader_message_count: ["count==100"],
		kafka_reader_error_count: ["count==0"],
	},
};

const brokers = (__ENV.KAFKA_BROKERS || "127.0.0.1:9092").split(",");
const topic = "k6-group";
const producer = new Producer({ brokers, topic });
const admin = new AdminClient({ brokers });

export function setup() {
	admin.createTopic({ topic, numPartitions: 4 });
	check(admin.getMetadata(topic), { "it has four partitions": ({ partitions }) => partitions.length === 4 });
	check(admin.listTopics(), { "it is listed": (topics) => topics.some((one) => one.topic === topic) });
}

export async function produce() {
	await producer.produceAsync({ messages: Array.from({ length: 10 }, (_, n) => ({ key: `${n}`, value: `text ${n}` })) });
}

// Until nothing has come for a while: how many a member gets is the group's business.
export function consume() {
	const consumer = new Consumer({ brokers, groupTopics: [topic], groupId: "k6", maxWait: 8 * SECOND });
	for (;;) {
		const messages = consumer.consume({ maxMessages: 1, expectTimeout: true, nanoPrecision: true });
		if (messages.length === 0) break;
		check(messages[0], { "it says when, to the nanosecond": ({ time }) => /\.\d{9}Z$/.test(time) });
	}
	consumer.close();
}

export function teardown() {
	producer.close();
	admin.deleteTopic(topic);
	admin.close();
}
