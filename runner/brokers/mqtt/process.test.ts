import path from "node:path";
import { describe, expect, test } from "vitest";
import { script, testFolder } from "../../../infra/test-folder.fake.ts";
import { describedHere, describedThere, started } from "../started.fake.ts";

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

test("it is mosquitto, unless the scenario says Mochi", async () => {
	const home = testFolder();
	script(path.join(home, "mosquitto"), "exit 0");
	const here = async (PATH: string, written: Some = {}) =>
		(await describedHere("mqtt", written, { env: { PATH } })).nodes[0]?.argv[0];
	expect(await here(home)).toBe(path.join(home, "mosquitto"));
	expect(await here(home, { server: "mochi" })).toMatch(/mochi/);
});

test("on a host it is the host's, behind a password of each run", async () => {
	const there = () =>
		describedThere({ broker: "mqtt" }, { said: "mqbench:program=/sbin/mosquitto\n" });
	const { nodes, url, file } = await there();
	const conf = file("mosquitto.conf");
	expect(nodes[0]?.argv[0]).toBe("/sbin/mosquitto");
	expect(conf).toContain("listener 1883 10.0.0.1\n");
	expect(conf).toContain("password_file /disk/run's/store/passwords\n");
	expect(conf).not.toContain("allow_anonymous");
	const { username, password } = new URL(url());
	expect(username).toBe("mqbench");
	expect(file("passwords")).toMatch(/^mqbench:\$7\$101\$[\w+/=]{16}\$[\w+/=]{88}\n$/);
	expect(JSON.stringify(nodes)).not.toContain(password);
	expect((await there()).url()).not.toBe(url());
});
