import { describe, expect, test } from "vitest";
import { brokerOf, SystemOptions } from "./index.ts";
import { largestPayload, sizeInConfig, varintBytes } from "./size-limits.ts";

const traits = (written: Readonly<Record<string, unknown>>) => {
	const options = SystemOptions.parse(written);
	return brokerOf(options).traits(options);
};

describe("the largest message of a system", () => {
	test.each([
		["nats", { max_payload: "64KB" }, 65_536],
		["nats-streaming", { max_payload: "64KB" }, 65_536 - 1024],
		["nats-streaming", { MAX_PAYLOAD: 65_536 }, 65_536 - 1024],
		["nsq", { "max-msg-size": 65_536 }, 65_536],
		["mqtt", { message_size_limit: 65_536 }, 65_536],
		["mqtt", { message_size_limit: 0 }, 268_435_455 - 256],
		["mqtt", { max_packet_size: 65_536 }, 65_536 - 256],
		["rabbitmq", { max_message_size: 65_536 }, 65_536],
		["redis", { "proto-max-bulk-len": "2mb" }, 2 * 1024 ** 2],
		["redis", { "Proto-Max-Bulk-Len": "2m" }, 2_000_000],
		["sqs", { "rest-sqs.sqs-limits": "relaxed" }, null],
		["kafka", { "message.max.bytes": 1_048_588 }, 1_048_588 - 72],
	])("%s with %j is what that says", (broker, config, bytes) => {
		expect(traits({ broker, config }).maxMessageBytes).toBe(bytes);
	});

	test("headers of deduplication count towards that of JetStream", () => {
		const config = { max_payload: "64KB" };
		expect(traits({ broker: "nats", mode: "jetstream", dedup: true, config }).maxMessageBytes).toBe(
			65_536 - 4096,
		);
	});

	test("NATS Streaming counts the name of the topic, byte for byte", () => {
		const config = { max_payload: "64KB" };
		const { maxMessageBytesTo } = traits({ broker: "nats-streaming", config });
		const [short = 0, long = 0] = ["ab", "abc"].map((topic) => maxMessageBytesTo?.(topic) ?? 0);
		expect(short - long).toBe(1);
		// 39 for the connection's name, two ids of 24, the topic's 4, and 4 before 65 441 bytes.
		expect(short).toBe(65_536 - 39 - 48 - 4 - 4);
	});

	test("Kafka is told what its topics are to take", () => {
		const config = { "message.max.bytes": 65_536 };
		const options = SystemOptions.parse({ broker: "kafka", config });
		expect(brokerOf(options).driverOptions(options)).toMatchObject({ messageMaxBytes: 65_536 });
	});
});

test.each([
	[undefined, null],
	["", null],
	["10x", null],
	[1000, 1000],
	["1000", 1000],
	["1k", 1000],
	["1kb", 1024],
	["1KiB", 1024],
	["1G", 1e9],
	["1gb", 1024 ** 3],
])("a size of %j in config is %j bytes", (written, bytes) => {
	expect(sizeInConfig(written)).toBe(bytes);
});

test.each([
	[0, 1],
	[127, 1],
	[128, 2],
	[16_383, 2],
	[16_384, 3],
	[2 ** 28, 5],
])("%d takes %d bytes of seven bits", (value, bytes) => {
	expect(varintBytes(value)).toBe(bytes);
});

test("the largest payload is within the limit, and one byte more is not", () => {
	const whole = (payload: number) => payload + varintBytes(payload) + 3;
	for (let limit = 100; limit < 20_000; limit++) {
		const most = largestPayload(limit, (payload) => whole(payload) - payload);
		expect(whole(most)).toBeLessThanOrEqual(limit);
		expect(whole(most + 1)).toBeGreaterThan(limit);
	}
});
