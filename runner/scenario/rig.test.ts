import { describe, expect, test } from "vitest";
import { expand } from "../plan/expand.ts";
import { around, loadScenario } from "./load.ts";
import type { Overrides } from "./overrides.ts";
import { notFresh } from "./rig.ts";
import { RigFile, type RigFileInput } from "./rig-file.ts";

const nats = { system: "nats", broker: "nats", url: "nats://me:hunter2@10.0.0.5:4222" } as const;
const rig = (parts: Partial<RigFileInput> = {}): RigFile =>
	RigFile.parse({ version: 1, id: "x", brokers: [nats], ...parts });

const base = "workload: { rate: 3/s, message: 256B, duration: 9s }\n";

function load(text: string, given: RigFile = rig(), overrides: Overrides = {}) {
	return loadScenario(
		"s.yaml",
		`${text}${base}`,
		overrides,
		{},
		{ ...around("s.yaml"), rig: { path: "rig.json", rig: given, only: overrides.only } },
	);
}

describe("a rig that stays up", () => {
	test("says where the brokers are, and its settings of starting one are left aside", () => {
		const scenario = load(
			"system: { broker: nats, port: 4222, config: { max_payload: 8MB }, pin: '0' }\n",
		);
		expect(scenario).toMatchObject({
			target: "existing",
			rig: { id: "x" },
			systems: [{ url: nats.url, port: null, binary: null, image: null }],
		});
		const [plan] = expand(scenario, { runId: "r" });
		expect(plan).toMatchObject({
			target: "existing",
			create: true,
			topics: ["mqbench.r.1.0"],
			pin: { brokers: null },
		});
		// The password is in the url alone.
		expect(JSON.stringify(plan)).not.toContain("hunter2");
		expect(scenario.systems.flatMap((system) => notFresh(scenario, system))).toEqual([
			"the broker was not fresh: it belongs to the rig x, which stays up, and other runs may have been there before",
		]);
	});

	test("gives the plan its own target", () => {
		for (const target of ["local", "existing"] as const)
			expect(load("target: existing\nsystem: nats\n", rig({ target })).target).toBe(target);
	});

	test("needs a broker for each system, of its kind; noop needs none", () => {
		load("systems: { nats: nats, floor: noop }\n");
		expect(() => load("systems: { a: nats, nats: nats }\n")).toThrow(
			"s.yaml:1:12 rig.json has no broker for a; rename this system to one that it has: nats",
		);
		expect(() => load("systems: { nats: kafka }\n")).toThrow(
			"rig.json has nats for nats, not kafka; write broker: nats",
		);
	});

	test("needs none for a system that --only leaves out", () => {
		const text = "systems: { a: nats, nats: nats }\n";
		load(text, rig(), { only: "nats/*" });
		for (const only of ["a/*", "?/*", "*/256B*", "*"])
			expect(() => load(text, rig(), { only })).toThrow("no broker for a");
	});

	test("of mqbench's own has the level that the scenario asks for, and room for its messages", () => {
		const made = (level: "fsync" | null, messageBytes: number | null = null) =>
			rig({ target: "local", brokers: [{ ...nats, level, messageBytes }] });
		const asked = (durability: string) =>
			`system: { broker: nats, mode: jetstream${durability} }\n`;
		load(asked(", durability: fsync"), made("fsync"));
		load(asked(""), made(null));
		expect(() => load(asked(", durability: os"), made("fsync"))).toThrow(
			"rig.json has nats with durability: fsync, and this scenario has it with durability: os; write durability: fsync",
		);
		expect(() => load(asked(", durability: os"), made(null))).toThrow("remove durability");
		expect(() => load(asked(""), made("fsync"))).toThrow(
			"and this scenario has it without durability; write durability: fsync",
		);
		// What somebody else has set up is not known.
		load(asked(", durability: os"));
		load(asked(""), made(null, 256));
		expect(() => load(asked(""), made(null, 255))).toThrow(
			"s.yaml:2:33 message 256B: nats in rig.json was set up for at most 255B; run mqbench up to make a rig for it",
		);
	});

	test("is the only one to say where brokers are", () => {
		for (const overrides of [{ target: "local" }, { url: "nats://h:1" }])
			expect(() => load("system: nats\n", rig(), overrides)).toThrow(
				/--rig rig\.json: the rig says where its brokers are; drop --(url|target)/,
			);
	});

	test("of another scheme is refused without its password", () => {
		const wrong = rig({ brokers: [{ ...nats, url: "kafka://me:hunter2@h:9092" }] });
		expect(() => load("system: nats\n", wrong)).toThrow(
			"rig.json: of nats, url must begin with nats://",
		);
		expect(() => load("system: nats\n", wrong)).not.toThrow("hunter2");
	});
});

describe("clients of a rig", () => {
	const hosts = rig({
		clients: [
			{ host: "a", user: "bench" },
			{ host: "b", port: 2222 },
		],
	});
	const plain = { identity: null, knownHosts: null, hostKeyKnown: false, setUp: false };
	const two = (text: string, overrides: Overrides = {}) =>
		load(text, hosts, { set: ["workload.connections=2"], ...overrides });

	test("make the load", () => {
		expect(two("system: nats\n").clients).toEqual({
			kind: "ssh",
			hosts: ["bench@a", "b:2222"],
			access: { "bench@a": plain, "b:2222": plain },
		});
	});

	test("log in with the keys that it names, and wait for the set-up", () => {
		const keys = rig({
			clients: [
				{
					host: "a",
					user: "bench",
					identity: "/keys/a",
					knownHosts: "/keys/known",
					hostKeyKnown: true,
					setUp: true,
				},
			],
		});
		expect(load("system: nats\n", keys).clients).toEqual({
			kind: "ssh",
			hosts: ["bench@a"],
			access: {
				"bench@a": {
					identity: "/keys/a",
					knownHosts: "/keys/known",
					hostKeyKnown: true,
					setUp: true,
				},
			},
		});
	});

	test("unless the scenario or the command line names others", () => {
		for (const { clients } of [
			two("clients: [c]\nsystem: nats\n"),
			two("system: nats\n", { clients: "c" }),
		])
			expect(clients).toEqual({ kind: "ssh", hosts: ["c"] });
	});

	test("take the place of containers that this rig has not", () => {
		expect(two("clients: { docker: 2 }\nsystem: nats\n").clients).toMatchObject({
			kind: "ssh",
			hosts: ["bench@a", "b:2222"],
		});
	});
});

describe("faults on a rig", () => {
	const faults = "faults: [{ at: 1s, action: pause, for: 1s }]\n";

	test("need hosts", () => {
		for (const target of ["local", "existing"] as const)
			expect(() => load(`system: nats\n${faults}`, rig({ target }))).toThrow(
				"faults need a broker on hosts, and rig.json has none for nats; remove faults",
			);
	});

	test("are told of together with a mistake in one of them", () => {
		expect(() =>
			load("system: nats\nfaults: [{ at: 1s, action: pause, for: 1 }]\n", rig({ target: "local" })),
		).toThrow(/faults need a broker on hosts(.|\n)*for 1 has no unit; write 1s/);
	});
});
