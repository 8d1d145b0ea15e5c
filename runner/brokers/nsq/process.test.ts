import { expect, test } from "vitest";
import { started } from "../started.fake.ts";

test.each([
	["its own", {}, {}],
	["memory", { durability: "memory" }, { "mem-queue-size": "10000" }],
	[
		"os, and settings of the scenario",
		{ durability: "os", config: { "sync-every": 10 } },
		{ "mem-queue-size": "0", "sync-every": "10", "sync-timeout": "24h" },
	],
	[
		"interval",
		{ durability: "interval" },
		{ "mem-queue-size": "0", "sync-every": "2500", "sync-timeout": "1s" },
	],
])("nsqd comes up with durability %s, and says what that is", async (_, written, settings) => {
	const broker = await started("nsq", written);
	expect(broker.settings).toEqual(settings);
	expect(broker.version).toBe("nsqd 1.3.0");
	expect(broker.url).toMatch(/^nsq:\/\/127\.0\.0\.1:\d+\?http=127\.0\.0\.1:\d+$/);
});

test("its limits are raised when the run needs more", async () => {
	const broker = await started(
		"nsq",
		{ prefetch: 3000, msgTimeout: "20min" },
		{ messageBytes: 3 * 1024 ** 2 },
	);
	expect(broker.settings).toEqual({
		"max-msg-size": String(3 * 1024 ** 2),
		"max-body-size": String(15 * 1024 ** 2),
		"max-rdy-count": "3000",
		"max-msg-timeout": "1200000ms",
	});
});

test("several come up side by side, and the url names both ports of each", async () => {
	const { url } = await started("nsq", { nodes: 2 });
	const [tcp, http] = url.slice("nsq://".length).split("?http=");
	const ports = [tcp, http].flatMap((list) => list?.split(",") ?? []);
	expect(new Set(ports).size).toBe(4);
});
