import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { MANIFEST } from "../../infra/programs/extension.fake.ts";
import { packageFolder } from "../package.ts";
import { expand } from "../plan/expand.ts";
import { around, loadScenario } from "../scenario/load.ts";
import { brokerFrom, CONTRACT, Manifest } from "./outside.ts";

const manifest = Manifest.parse(MANIFEST);
const found = {
	module: "example.com/xk6-mybroker",
	version: "v1.0.0",
	title: "example.com/xk6-mybroker v1.0.0",
	sum: "h1:x",
	folder: "/m",
	before: null,
	manifest,
	broker: brokerFrom(manifest),
};

function load(system: string, top = "", pattern = "round-trip") {
	const text = `${top}\nsystem: ${system}\nworkload: { pattern: ${pattern}, rate: 10/s, message: 64B, duration: 5s }\n`;
	const drivers = { lock: "/s.lock", found: [found] };
	return loadScenario("s.yaml", text, {}, {}, { ...around("s.yaml"), drivers });
}

test("the contract is the one of the Go package", () => {
	const go = readFileSync(
		path.join(packageFolder, "extensions/xk6-mqbench/broker/contract.go"),
		"utf8",
	);
	expect(Number(/^const Contract = (\d+)$/m.exec(go)?.[1])).toBe(CONTRACT);
});

test("a driver gets its options as the manifest has them: defaults, durations in ns, sizes in bytes, and nothing of mqbench's", () => {
	const options = (system: string) => expand(load(system), { runId: "r" })[0]?.driverOptions;
	expect(options("mybroker")).toEqual({ prefetch: 100, ackWaitNs: 30e9, mode: "queue" });
	expect(
		options(
			"{ broker: mybroker, ackWait: 250ms, buffer: 64KiB, mode: topic, port: 7001, command: [x] }",
		),
	).toEqual({ prefetch: 100, ackWaitNs: 250e6, buffer: 65_536, mode: "topic" });
});

test("its traits, title and durability are those of the manifest", () => {
	const [system] = load("mybroker").systems;
	expect(system).toMatchObject({
		durability: "memory",
		traits: {
			title: "My Broker",
			redeliverAfterNs: 30e9,
			killedAfterNs: 30e9,
			keys: true,
			acks: false,
		},
	});
	expect(() => load("mybroker", "", "work-queue")).toThrow(/all get all/);
	expect(() => load("mybroker", "", "publish")).toThrow(/it acknowledges nothing/);
});

test.each([
	["{ broker: mybroker, prefetch: 0 }", /prefetch must be at least 1, got 0/],
	["{ broker: mybroker, prefetch: many }", /prefetch must be a number/],
	["{ broker: mybroker, ackWait: 30 }", /ackWait.*write 30s/],
	["{ broker: mybroker, mode: queues }", /mode.*did you mean queue\?/],
	["{ broker: mybroker, prefetsh: 1 }", /unknown key "prefetsh"; did you mean prefetch\?/],
	["{ broker: mybroker, image: x }", /image/],
	["{ broker: mybroker, durability: fsync }", /durability/],
	["mybrocker", /did you mean mybroker\?/],
])("%s is refused as in any other broker", (system, message) => {
	expect(() => load(system)).toThrow(message);
});

test.each([
	["docker", /target local only/],
	["kubernetes", /target local only/],
	["existing", /needs a url for mybroker; write \{ broker: mybroker/],
])("target %s", (target, message) => {
	expect(() => load("mybroker", `target: ${target}`)).toThrow(message);
});

test("local needs a command, of the manifest or the scenario, whose paths count from the scenario's folder", () => {
	const { local: _, ...rest } = manifest;
	const silent = { ...found, broker: brokerFrom(rest) };
	const read = (system: string) =>
		loadScenario(
			"s.yaml",
			`system: ${system}\nworkload: { rate: 1/s, message: 1KiB, duration: 5s }`,
			{},
			{},
			{
				...around("/there/s.yaml"),
				drivers: { lock: "/s.lock", found: [silent] },
			},
		);
	expect(() => read("mybroker")).toThrow(/does not say how it is started; write command/);
	expect(() => read("{ broker: mybroker, command: [./bin/server] }")).toThrow(
		/no word of this has \{port\}; write where it belongs, or port:/,
	);
	const [system] = read("{ broker: mybroker, command: [./bin/server, --at, './x{port}'] }").systems;
	expect(system?.options.command).toEqual(["/there/bin/server", "--at", "./x{port}"]);
});

test("two systems of it, and one of mqbench's, are compared", () => {
	const { systems } = loadScenario(
		"s.yaml",
		"systems: { a: mybroker, b: { broker: mybroker, mode: topic }, nats: nats }\nworkload: { rate: 1/s, message: 1KiB, duration: 5s }",
		{},
		{},
		{ ...around("s.yaml"), drivers: { lock: "/s.lock", found: [found] } },
	);
	expect(systems.map(({ key, broker, traits }) => [key, broker, traits.title])).toEqual([
		["a", "mybroker", "My Broker"],
		["b", "mybroker", "My Broker"],
		["nats", "nats", "NATS core"],
	]);
});

test.each([
	[{ broker: "nats" }, /mqbench has a nats of its own/],
	[
		{ options: { properties: { url: { description: "x" } } } },
		/properties.url: mqbench has that option itself/,
	],
	[
		{ options: { properties: { a: { type: "integer", default: "x", description: "x" } } } },
		/properties.a: its default is refused/,
	],
])("%j cannot be a broker", (changes, message) => {
	expect(() => brokerFrom(Manifest.parse({ ...MANIFEST, ...changes }))).toThrow(message);
});
