import { describe, expect, test } from "vitest";
import { nats } from "./options.ts";

const options = (written: object) => nats.options.parse({ broker: "nats", ...written });
const wrong = (written: object) =>
	nats.contradictions(options(written), "process").map(({ key, message }) => `${key}: ${message}`);

describe("NATS core", () => {
	test("promises nothing, and says what it cannot do and who can", () => {
		const traits = nats.traits(options({}));
		expect(traits).toMatchObject({
			title: "NATS core",
			acks: false,
			delivery: "at-most-once",
			wildcards: true,
			levels: {},
			ownDurability: "none, nothing is stored",
		});
		expect(traits.cannot.backlog).toBe("it stores nothing");
		expect(traits.instead?.backlog).toBe("write mode: jetstream");
		expect(nats.driverOptions(options({}))).toEqual({ mode: "core" });
	});

	test("refuses what is of JetStream, with the remedy", () => {
		expect(wrong({ storage: "file", dedup: true })).toEqual([
			"storage: storage needs mode: jetstream; this mode is core",
			"dedup: dedup needs mode: jetstream; this mode is core",
		]);
	});
});

describe("JetStream", () => {
	const jetstream = (written: object) => options({ mode: "jetstream", ...written });

	test("acknowledges, stores, and names what each level sets", () => {
		expect(nats.traits(jetstream({}))).toMatchObject({
			title: "JetStream",
			acks: true,
			delivery: "at-least-once",
			cannot: {},
			ownDurability: "interval 2m (default)",
			levels: { fsync: "storage: file, sync_interval: always" },
		});
		expect(nats.traits(jetstream({ storage: "memory" })).ownDurability).toBe(
			"memory (storage: memory)",
		);
	});

	test("cannot share an ordered consumer", () => {
		const { cannot } = nats.traits(jetstream({ consumer: "ordered" }));
		expect(Object.keys(cannot)).toEqual(["request-reply", "work-queue", "backlog"]);
	});

	test("acknowledges each message of a subscriber where it is asked to", () => {
		const asked = jetstream({ acknowledge: "message" });
		expect(nats.driverOptions(asked)).toMatchObject({ consumer: "pull" });
		expect(nats.traits(asked).acknowledge.alone).toBe("message");
		expect(nats.traits(jetstream({})).acknowledge.alone).toBe("automatic");
	});

	test("hands its options to the driver, storage as the durability says", () => {
		expect(
			nats.driverOptions(
				jetstream({
					durability: "memory",
					publish: "sync",
					ackWait: "5s",
					maxAckPending: 10,
					tls: { ca: "/ca.pem" },
					auth: "token",
				}),
			),
		).toEqual({
			mode: "jetstream",
			tls: { ca: "/ca.pem" },
			auth: "token",
			storage: "memory",
			publish: "sync",
			maxAckPending: 10,
			ackWaitNs: 5e9,
		});
	});
});

test.each([
	[undefined, 8 * 1024 ** 2],
	[2_000_000, 2_000_000],
	["4MB", 4 * 1024 ** 2],
	["512KiB", 512 * 1024],
	["2M", 2_000_000],
])("max_payload %s lets messages of %d bytes through", (max_payload, bytes) => {
	const config = max_payload === undefined ? {} : { config: { max_payload } };
	expect(nats.traits(options(config)).maxMessageBytes).toBe(bytes);
});
