import path from "node:path";
import { describe, expect, test } from "vitest";
import { realBinaries } from "../../../infra/binaries/real.fake.ts";
import { hostSetup } from "../../../infra/hosts/setup.fake.ts";
import { describedHere } from "../../../infra/local/described.fake.ts";
import { script, testFolder } from "../../../infra/test-folder.fake.ts";
import { started, systemOf } from "../started.fake.ts";
import { process as mqtt } from "./process.ts";

const real = await realBinaries();

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

test("without a word it is mosquitto where that is, else the one that mqbench builds", async () => {
	const home = testFolder();
	script(path.join(home, "mosquitto"), "exit 0");
	const here = async (PATH: string, written: Some = {}) =>
		(await describedHere(mqtt, real, { system: systemOf("mqtt", written), env: { PATH } })).nodes[0]
			?.argv[0];
	expect(await here(home)).toBe(path.join(home, "mosquitto"));
	expect(await here(home, { server: "mochi" })).toMatch(/mochi/);
});

test("on a host it is the host's, behind a password of each run", async () => {
	const said = "mqbench:program=/usr/sbin/mosquitto\nmqbench:version=mosquitto version 2.0.11\n";
	const setup = hostSetup({ broker: "mqtt" }, { said });
	const { nodes, url } = await mqtt.describe(setup);
	const conf = nodes[0]?.files["mosquitto.conf"] ?? "";
	expect(nodes[0]?.argv[0]).toBe("/usr/sbin/mosquitto");
	expect(conf).toContain("listener 1883 10.0.0.1\n");
	expect(conf).toContain("password_file /disk/run's/store/passwords\n");
	expect(conf).not.toContain("allow_anonymous");
	const { username, password } = new URL(url());
	expect(username).toBe("mqbench");
	expect(nodes[0]?.files.passwords).toMatch(/^mqbench:\$7\$101\$[\w+/=]{16}\$[\w+/=]{88}\n$/);
	expect(JSON.stringify(nodes)).not.toContain(password);
	expect((await mqtt.describe(setup)).url()).not.toBe(url());
	await expect(
		mqtt.describe(hostSetup({ broker: "mqtt", version: "2.1" }, { said })),
	).rejects.toMatchObject({ code: "broker-missing" });
});
