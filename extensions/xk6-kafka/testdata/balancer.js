// A balancer of the script's own: everything goes to the seventh of ten partitions.
import { check } from "k6";
import { BALANCER_LEAST_BYTES, Connection, Reader, Writer } from "k6/x/kafka";

export const options = { iterations: 1, thresholds: { checks: ["rate==1"] } };

const brokers = (__ENV.KAFKA_BROKERS || "127.0.0.1:9092").split(",");
const topic = "k6-balancer";
const writer = new Writer({ brokers, topic, balancer: (key, partitionCount) => (key.length > 0 ? partitionCount - 4 : 0) });
const least = new Writer({ brokers, topic, balancer: BALANCER_LEAST_BYTES });
const reader = new Reader({ brokers, topic, partition: 6 });
const connection = new Connection({ address: brokers[0] });

export function setup() {
	connection.createTopic({ topic, numPartitions: 10 });
}

export default function () {
	writer.produce({ messages: [{ key: "a", value: "1" }, { key: "b", value: "2" }, { value: "3", partition: 6, key: null }] });
	const messages = reader.consume({ limit: 3 });
	check(messages, {
		"all are in the seventh": (all) => all.length === 3 && all.every((m) => m.partition === 6),
		"no key is null": (all) => all[2].key === null,
	});
	least.produce({ messages: [{ value: "4" }, { value: "5" }] });
}

export function teardown() {
	connection.deleteTopic(topic);
}
