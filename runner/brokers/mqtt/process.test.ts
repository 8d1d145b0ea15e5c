import { describe, expect, test } from "vitest";
import { started } from "../started.fake.ts";

type Some = Readonly<Record<string, unknown>>;

describe("a real server comes up and says what it is:", () => {
	test.each<[string, Some, RegExp, Some]>([
		[
			"mosquitto",
			{ receiveMaximum: 100, maxQueued: 5, config: { max_keepalive: 600 } },
			/^mosquitto \d/,
			{
				set_tcp_nodelay: "true",
				max_inflight_messages: "100",
				max_queued_messages: "5",
				persistence: "false",
				max_keepalive: "600",
			},
		],
		["mochi", {}, /^mochi 2\.7\.9$/, { "receive-maximum": "20" }],
	])("%s", async (server, options, version, settings) => {
		const broker = await started("mqtt", { server, ...options });
		expect(broker.settings).toMatchObject(settings);
		expect(broker.version).toMatch(version);
		expect(broker.url).toMatch(/^mqtt:\/\/mqbench:\w+@127\.0\.0\.1:\d+$/);
	});
});
