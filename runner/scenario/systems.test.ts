import { describe, expect, test } from "vitest";
import { BrokerName, brokerOf, hasProcess, loginUrl, variable } from "../brokers/index.ts";
import { MqbenchError } from "../errors.ts";
import { loadScenario } from "./load.ts";
import type { Overrides } from "./overrides.ts";
import { resolveUrl } from "./url.ts";

const workload = "workload: { rate: 3000/s, message: 256B, duration: 10s }\n";
const reference = variable("NATS_URL");
const env = { NATS_URL: "nats://me:hunter2@10.0.0.5:4222" };

function systems(text: string, overrides: Overrides = {}, environment = {}) {
	return loadScenario("s.yaml", `${workload}${text}`, overrides, environment);
}

function refusal(text: string, overrides: Overrides = {}, environment = {}) {
	try {
		systems(text, overrides, environment);
	} catch (error) {
		if (error instanceof MqbenchError) return error.message;
		throw error;
	}
	throw new Error("the scenario was taken");
}

describe("an existing broker", () => {
	test("gets its url from the environment", () => {
		const text = `target: existing\nsystem: { broker: nats, url: "${reference}" }\n`;
		expect(systems(text, {}, env).systems).toMatchObject([
			{ key: "nats", broker: "nats", url: env.NATS_URL, port: null },
		]);
	});

	test("--url stands for target existing and the url of the one system", () => {
		for (const text of [
			"system: nats\n",
			"systems: { a: nats }\n",
			"system: { broker: nats, port: 4223 }\n",
		]) {
			const scenario = systems(text, { url: "nats://h:4222" });
			expect(scenario.target).toBe("existing");
			expect(scenario.systems[0]?.url).toBe("nats://h:4222");
		}
	});

	test("--target local leaves the url of the file aside, and needs no variable for it", () => {
		const text = `target: existing\nsystem: { broker: nats, url: "${reference}" }\n`;
		const scenario = systems(text, { target: "local" });
		expect([scenario.target, scenario.systems[0]?.url]).toEqual(["local", null]);
	});

	test.each([
		["nats://a:4222,b:4223", "nats://a:4222,b:4223"],
		["nats://a:4222,tls://b", "nats://a:4222,tls://b"],
		["nats://me:x@a:1,b:2", "nats://me:x@a:1,b:2"],
		["nats://me:x^y@a:1,nats://me:z@b:2", "nats://me:x%5Ey@a:1,nats://me:z@b:2"],
	])("may be a cluster: %s", (url, resolved) => {
		expect(systems("system: nats\n", { url }).systems[0]?.url).toBe(resolved);
	});

	test("noop needs none", () => {
		expect(systems("target: existing\nsystem: noop\n").systems[0]?.url).toBeNull();
	});
});

describe("a password", () => {
	test.each(BrokerName.options.filter((broker) => hasProcess({ broker })))(
		"goes into the environment of %s as the message says, and works at once",
		(name) => {
			const broker = brokerOf({ broker: name });
			const { url, variable } = loginUrl(broker);
			const [[scheme, port] = []] = Object.entries(broker.urls);
			const text = `target: existing\nsystem: { broker: ${name}, url: "${scheme}://me:hunter2@h" }\n`;
			expect(refusal(text)).toContain(
				`write url: "${url}", and ${variable}=... before the command`,
			);
			expect(refusal(text)).not.toContain("hunter2");
			expect(resolveUrl(url, broker, { [variable]: "hunter/2@" }, true)).toEqual({
				url: `${scheme}://${broker.urlUser ?? "user"}:hunter%2F2%40@host:${port}`,
			});
		},
	);

	test("may be a variable within the url, whatever its letters", () => {
		const text = (user: string) =>
			`target: existing\nsystem: { broker: nats, url: "nats://${user}@h:4222" }\n`;
		const environment = { U: "me", P: "hunter/2@:" };
		for (const user of [`${variable("U")}:${variable("P")}`, `me:${variable("P")}`])
			expect(systems(text(user), {}, environment).systems[0]?.url).toBe(
				"nats://me:hunter%2F2%40%3A@h:4222",
			);
		expect(refusal(text("token"))).toContain("url holds a password or token");
	});

	test("hides behind as many stars, so that the caret stays right", () => {
		expect(refusal(`system: { broker: nats, url: "nats://me:x@h:4222", prot: 1 }\n`)).toContain(
			`s.yaml:2:52 unknown key "prot"; did you mean port?\n   2 | system: { broker: nats, url: "nats://****@h:4222", prot: 1 }\n     | ${" ".repeat(51)}^`,
		);
	});
});

describe("variables of the environment", () => {
	const text = (system: string) => `system: { broker: nats, ${system} }\n`;

	test("stand in any text of a system", () => {
		const { systems: found } = systems(
			text(
				`mode: ${variable("MODE")}, config: { a: "x${variable("A")}y", b: 2 }, binary: "${variable("BUILD")}/nats-server"`,
			).replace(`mode: ${variable("MODE")}`, `mode: "${variable("MODE")}"`),
			{},
			{ MODE: "jetstream", A: "-", BUILD: "/opt" },
		);
		expect(found[0]).toMatchObject({
			binary: "/opt/nats-server",
			traits: { title: "JetStream" },
			options: { mode: "jetstream", config: { a: "x-y", b: 2 } },
		});
	});

	test("that are secrets may stand in config, and are known as such", () => {
		const { systems: found } = systems(
			text(
				`config: { a: "x${variable("DB_PASSWORD")}", b: ${variable("B")}, authorization.token: "${variable("C")}", tls.password: literal }`,
			).replace(variable("B"), `"${variable("B")}"`),
			{},
			{ DB_PASSWORD: "hunter2", B: "seen", C: "unseen" },
		);
		expect(found[0]?.options).toMatchObject({
			config: { a: "xhunter2", b: "seen", "authorization.token": "unseen" },
			secrets: ["hunter2", "unseen", "literal"],
		});
	});
});

describe("paths of a system", () => {
	const at = (system: string) =>
		loadScenario(
			"/bench/scenarios/s.yaml",
			`${workload}target: ${system.includes("url") ? "existing" : "local"}\nsystem: { broker: nats, ${system} }\n`,
		).systems[0];

	test("count from the scenario's folder; a bare name is looked up on PATH", () => {
		expect(at("binary: ./build/nats-server")?.binary).toBe("/bench/scenarios/build/nats-server");
		expect(at("binary: ../nats-server")?.binary).toBe("/bench/nats-server");
		expect(at("binary: /opt/nats-server")?.binary).toBe("/opt/nats-server");
		expect(at("binary: nats-server")?.binary).toBe("nats-server");
	});

	test("of certificates do too", () => {
		expect(at('url: "tls://h:4222", tls: { ca: ca.pem, serverName: h }')?.options).toMatchObject({
			tls: { ca: "/bench/scenarios/ca.pem", serverName: "h" },
		});
	});
});

describe("settings of a broker that mqbench starts", () => {
	const text =
		'system: { broker: nats, mode: jetstream, url: "nats://h:4222", binary: ./x, nodes: 3, replicas: 3, pin: "1", tls: true }\n';

	test("are left aside on a target that the command line chose and that does not have them", () => {
		expect(systems(text, { target: "local" }).systems[0]).toMatchObject({
			url: null,
			binary: expect.stringMatching(/\/x$/),
		});
		expect(systems(text, { target: "existing" }).systems[0]).toMatchObject({
			url: "nats://h:4222",
			binary: null,
		});
	});
});
