import { describe, expect, test } from "vitest";
import { kafka } from "./options.ts";

const options = (written: object = {}) => kafka.options.parse({ broker: "kafka", ...written });
const traits = (written: object) => kafka.traits(options(written));
const wrong = (written: object) =>
	kafka.contradictions(options(written)).map(({ key, message }) => `${key}: ${message}`);

describe("what Kafka promises", () => {
	test.each([
		[{}, true, "at-least-once"],
		[{ acks: "all" }, true, "at-least-once"],
		[{ acks: 1 }, true, "at-least-once"],
		[{ acks: 1, replicas: 3 }, true, "at-most-once"],
		[{ acks: 1, url: "kafka://theirs" }, true, "at-most-once"],
		[{ acks: 0 }, false, "at-most-once"],
	])("%j: acknowledgements %s, %s", (written, acks, delivery) => {
		expect(traits(written)).toMatchObject({ acks, delivery });
	});

	test("with acks: 0 nothing can be published that ends at its acknowledgement", () => {
		expect(traits({ acks: 0 }).cannot.publish).toBe("with acks: 0 nothing is acknowledged");
		expect(traits({ acks: 1 }).cannot).toEqual({});
	});

	test("each level names its setting and the acks, which decide as much", () => {
		expect(traits({ acks: 1 }).levels).toEqual({
			memory: "log.dirs on tmpfs, acks=1",
			os: "flush.messages and flush.ms: never, acks=1",
			interval: "flush.ms=1000, acks=1",
			fsync: "flush.messages=1, acks=1",
		});
		expect(traits({}).ownDurability).toBe("os (no flush, default), acks=all");
	});
});

test("the driver gets what is said, in ns and bytes, and no secret", () => {
	expect(kafka.driverOptions(options())).toEqual({
		acks: "all",
		lingerNs: 0,
		compression: "none",
		assignor: "range",
		acknowledge: "message",
	});
	expect(
		kafka.driverOptions(
			options({
				url: "kafka://user:secret@host",
				acks: 1,
				linger: "5ms",
				batch: "16KiB",
				compression: "lz4",
				fetchMinBytes: "1KiB",
				fetchMaxWait: "100ms",
				assignor: "cooperative-sticky",
				commitInterval: "5s",
				sasl: "scram-sha-512",
				tls: { ca: "/ca.pem" },
			}),
		),
	).toEqual({
		acks: "1",
		lingerNs: 5_000_000,
		batchBytes: 16_384,
		compression: "lz4",
		fetchMinBytes: 1024,
		fetchMaxWaitNs: 100_000_000,
		assignor: "cooperative-sticky",
		acknowledge: "interval",
		commitIntervalNs: 5_000_000_000,
		sasl: "scram-sha-512",
		tls: { ca: "/ca.pem" },
	});
});

test("a group commits each message, unless the scenario says otherwise", () => {
	const group = (written: object) => kafka.traits(options(written)).acknowledge.group;
	expect(group({})).toBe("message");
	expect(group({ acknowledge: "batch" })).toBe("batch");
	expect(group({ commitInterval: "5s" })).toBe("interval");
});

test("copies in sync are of a cluster of one's own", () => {
	expect(wrong({ minInsyncReplicas: 2, url: "kafka://theirs" })).toEqual([]);
});
