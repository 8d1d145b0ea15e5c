import { describe, expect, test } from "vitest";
import { mqtt } from "./options.ts";

type Some = Readonly<Record<string, unknown>>;

function options(some: Some = {}) {
	return mqtt.options.parse({ broker: "mqtt", ...some });
}

function refusals(some: Some, place: "process" | "container" = "process"): string[] {
	return mqtt.contradictions(options(some), place).map(({ key, message }) => `${key}: ${message}`);
}

describe("MQTT", () => {
	test.each([
		[0, false, "at-most-once", "automatic", null],
		[1, true, "at-least-once", "message", 20],
		[2, true, "exactly-once", "message", 20],
	])("of QoS %i acknowledges: %s, and promises %s", (qos, acks, delivery, way, prefetch) => {
		expect(mqtt.traits(options({ qos }))).toMatchObject({
			title: `MQTT QoS ${qos}`,
			acks,
			delivery,
			acknowledge: { alone: way, group: way },
			prefetch,
			wildcards: true,
		});
	});

	test("says what it cannot do, and what to write instead", () => {
		const of = (some: Some) => mqtt.traits(options(some));
		expect(of({}).cannot).toEqual({});
		expect(of({ qos: 0 })).toMatchObject({
			cannot: { publish: "QoS 0 acknowledges nothing" },
			instead: { publish: "write qos: 1", backlog: "write qos: 1" },
		});
		expect(of({ maxQueued: 1000 }).keepsOnly).toEqual({
			messages: 1000,
			bytes: 0,
			option: "maxQueued",
		});
	});

	test.each<[Some, string | null, string]>([
		[{}, "memory", "memory (nothing is written before an acknowledgement)"],
		[{ qos: 0 }, null, "none, QoS 0 is neither stored nor acknowledged"],
	])("%j is durable: %s, %s", (some, level, text) => {
		expect(mqtt.durability(options(some), true)).toMatchObject({ level, text });
	});

	test("tells the driver all that it sets", () => {
		const all = { session: "persistent", keepAlive: "60s", tls: true };
		expect(mqtt.driverOptions(options(all))).toEqual({
			protocol: "5",
			qos: 1,
			session: "persistent",
			receiveMaximum: 20,
			keepAliveNs: 60e9,
			noDelay: true,
			tls: {},
		});
	});

	test("in a container it may have another version", () => {
		expect(refusals({ version: "2.0.20" }, "container")).toEqual([]);
	});
});
