// Produces to a topic of its own, and reads it from the beginning.
//
//   k6 run -e KAFKA_BROKERS=127.0.0.1:9092 produce-consume.js
import { check } from "k6";
import { Connection, Reader, Writer } from "k6/x/kafka";

export const options = { vus: 2, iterations: 6, thresholds: { checks: ["rate==1"], kafka_writer_error_count: ["count==0"] } };

const brokers = (__ENV.KAFKA_BROKERS || "127.0.0.1:9092").split(",");
const topic = "k6-orders";
const connection = new Connection({ address: brokers[0] });
const writer = new Writer({ brokers, topic });
const reader = new Reader({ brokers, topic });

export function setup() {
	connection.createTopic({ topic });
}

export default function () {
	writer.produce({ messages: [{ key: "7", value: "one of it", headers: { from: "k6" } }] });
	const [message] = reader.consume({ limit: 1 });
	check(message, { "it is the text": ({ value }) => String.fromCharCode(...value) === "one of it" });
}

export function teardown() {
	connection.deleteTopic(topic);
}
