// Produces to a topic of its own, and reads it from the beginning: keys, headers and times come back.
import { check } from "k6";
import { CODEC_SNAPPY, Connection, Reader, SchemaRegistry, SCHEMA_TYPE_JSON, SCHEMA_TYPE_STRING, Writer } from "k6/x/kafka";

export const options = {
	vus: 2,
	iterations: 6,
	thresholds: {
		checks: ["rate==1"],
		kafka_writer_error_count: ["count==0"],
		kafka_reader_error_count: ["count==0"],
		kafka_writer_message_count: ["count==60"],
		kafka_reader_message_count: ["count==60"],
		kafka_writer_write_seconds: ["p(99)<10000"],
	},
};

const brokers = (__ENV.KAFKA_BROKERS || "127.0.0.1:9092").split(",");
const topic = "k6-produce-consume";
const writer = new Writer({ brokers, topic, compression: CODEC_SNAPPY, requiredAcks: 1 });
const reader = new Reader({ brokers, topic });
const connection = new Connection({ address: brokers[0] });
const registry = new SchemaRegistry();

export function setup() {
	connection.createTopic({ topic, configEntries: [{ configName: "retention.ms", configValue: "600000" }] });
	check(connection.listTopics(), { "the topic is there": (topics) => topics.includes(topic) });
}

export default function () {
	writer.produce({
		messages: Array.from({ length: 10 }, (_, n) => ({
			key: registry.serialize({ data: `key ${n}`, schemaType: SCHEMA_TYPE_STRING }),
			value: registry.serialize({ data: { vu: __VU, n }, schemaType: SCHEMA_TYPE_JSON }),
			headers: { from: "k6" },
			time: new Date("2026-01-02T03:04:05.678Z"),
		})),
	});
	const messages = reader.consume({ limit: 10 });
	check(messages, {
		"ten come": (all) => all.length === 10,
		"in the order of the topic": (all) => all.every((m, n) => m.offset === all[0].offset + n),
		"keys are text": (all) =>
			registry.deserialize({ data: all[3].key, schemaType: SCHEMA_TYPE_STRING }).startsWith("key "),
		"values are objects": (all) => registry.deserialize({ data: all[3].value, schemaType: SCHEMA_TYPE_JSON }).vu > 0,
		"headers are bytes": (all) => String.fromCharCode(...all[0].headers.from) === "k6",
		"times are kept": (all) => new Date(all[0].time).getTime() === Date.UTC(2026, 0, 2, 3, 4, 5, 678),
		"the end of the partition is known": (all) => all[0].highWaterMark >= 10,
	});
}

export function teardown() {
	connection.deleteTopic(topic);
	writer.close();
	reader.close();
	connection.close();
}
