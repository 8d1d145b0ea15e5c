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

test("what cannot go together is refused with the remedy", () => {
	expect(wrong({})).toEqual([]);
	expect(wrong({ acknowledge: "automatic" })).toEqual([
		"acknowledge: Kafka cannot do acknowledge: automatic, as a group is where its commits say; remove acknowledge",
	]);
	expect(wrong({ acknowledge: "batch", commitInterval: "5s" })).toEqual([
		"commitInterval: commitInterval needs acknowledge: interval; here it is acknowledge: batch",
	]);
	expect(wrong({ acks: 1, idempotence: true })).toEqual([
		"idempotence: idempotence needs acks: all; here it is acks: 1",
	]);
	expect(wrong({ acks: 1, minInsyncReplicas: 2 })).toEqual([
		"minInsyncReplicas: minInsyncReplicas needs acks: all; here it is acks: 1",
	]);
	expect(wrong({ minInsyncReplicas: 2 })).toEqual([
		"minInsyncReplicas: minInsyncReplicas: 2 needs as many replicas, and there is one; write replicas: 2",
	]);
	expect(wrong({ minInsyncReplicas: 2, url: "kafka://theirs" })).toEqual([]);
	expect(wrong({ binary: "/opt/kafka", version: "4.0.0" })).toEqual([
		"version: binary is an installation with a version of its own; remove version",
	]);
});

test.each([
	["batch", "100B", "size must be 1KiB to 64MiB, got 100B"],
	["fetchMinBytes", "0B", "size must be 1B to 64MiB, got 0B"],
	["heap", "64MiB", "size must be 128MiB to 256GiB, got 64MiB"],
	["commitInterval", "0s", "duration must be above 0, got 0s"],
])("%s: %s is refused", (key, value, message) => {
	const parsed = kafka.options.safeParse({ broker: "kafka", [key]: value });
	expect(parsed.error?.issues.map((issue) => issue.message)).toEqual([message]);
});
