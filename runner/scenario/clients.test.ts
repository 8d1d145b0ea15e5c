import { describe, expect, test } from "vitest";
import { crosses } from "../model/plan.ts";
import { expand } from "../plan/expand.ts";
import { around, loadScenario } from "./load.ts";
import type { Overrides } from "./overrides.ts";
import { RigFile } from "./rig-file.ts";

const load = (text: string, overrides: Overrides = {}) => loadScenario("s.yaml", text, overrides);

const workload = (more: string) =>
	`workload: { rate: 3000/s, message: 256B, duration: 10s, ${more} }\n`;
const existing = 'target: existing\nsystem: { broker: nats, url: "nats://10.0.0.5:4222" }\n';
const three = workload("connections: 3");

describe("who makes the load", () => {
	test.each([
		["", `system: nats\n${three}`, { kind: "local", count: 1 }],
		["clients: 3\n", `system: nats\n${three}`, { kind: "local", count: 3 }],
		[
			"clients: [bench@a, b:2222]\n",
			`${existing}${three}`,
			{ kind: "ssh", hosts: ["bench@a", "b:2222"] },
		],
		[
			"clients: { docker: 2 }\n",
			`target: docker\nsystem: nats\n${three}`,
			{ kind: "docker", count: 2 },
		],
	])("%j", (clients, rest, expected) => {
		expect(load(`${clients}${rest}`).clients).toEqual(expected);
	});

	test.each([
		["3", { kind: "local", count: 3 }],
		["bench@a, bench@b", { kind: "ssh", hosts: ["bench@a", "bench@b"] }],
		["host", { kind: "ssh", hosts: ["host"] }],
	])("--clients %s", (clients, expected) => {
		expect(load(`${existing}${three}`, { clients }).clients).toEqual(expected);
	});

	test("--clients docker=2", () => {
		expect(load(`target: docker\nsystem: nats\n${three}`, { clients: "docker=2" }).clients).toEqual(
			{ kind: "docker", count: 2 },
		);
	});

	test("another target on the command line leaves clients of the file aside that it cannot have", () => {
		for (const clients of ["{ docker: 3 }", "[bench@a, bench@b]"])
			expect(load(`clients: ${clients}\n${existing}${three}`, { target: "local" }).clients).toEqual(
				{ kind: "local", count: 1 },
			);
		expect(load(`clients: 3\n${existing}${three}`, { target: "local" }).clients).toEqual({
			kind: "local",
			count: 3,
		});
	});
});

describe("the plan of several clients", () => {
	const plan = (text: string) => {
		const [first] = expand(load(text), { runId: "r" });
		if (!first) throw new Error("no plan");
		return first;
	};

	test("has as many, and a heartbeat for each of them that outlasts the wait for T0", () => {
		const one = plan(`system: nats\n${three}`);
		const several = plan(`clients: 3\nsystem: nats\n${three}`);
		expect(several.client).toEqual({ index: 0, count: 3 });
		expect(several.heartbeat).toEqual({
			...one.heartbeat,
			slotsPerSecond: 300,
			vus: 12,
			durationNs: one.heartbeat.durationNs + 3e9,
		});
		expect({ ...several, client: one.client, heartbeat: one.heartbeat }).toEqual(one);
		expect(crosses(several)).toBe(false);
	});

	test("crosses where those receive who did not send", () => {
		for (const [pattern, more] of [
			["fan-out", "subscriptions: 2"],
			["work-queue", "consumers: 2"],
		])
			expect(
				crosses(
					plan(
						`clients: 3\nsystem: { broker: nats, mode: jetstream }\n${workload(`connections: 3, pattern: ${pattern}, ${more}`)}`,
					),
				),
			).toBe(true);
	});
});

describe("what comes back to its sender comes back to the same client", () => {
	/** By the placement itself: is every message received on the client that sends it? */
	function home(n: number, c: number, producers: number, topics: number): boolean {
		return Array.from({ length: producers }, (_, p) => p).every((p) => {
			const sender = (p % c) % n;
			const receiver = ((p % topics) % c) % n;
			return sender === receiver;
		});
	}

	test("topologies are taken if and only if it holds", () => {
		let taken = 0;
		let refused = 0;
		for (const n of [2, 3, 4])
			for (const c of [n, n + 1, 2 * n, 3 * n])
				for (const producers of [c, c + 1, 2 * c])
					for (let topics = 1; topics <= producers; topics++) {
						const text = `clients: ${n}\nsystem: nats\n${workload(`connections: ${c}, producers: ${producers}, topics: ${topics}`)}`;
						if (home(n, c, producers, topics)) {
							load(text);
							taken++;
						} else {
							expect(() => load(text), text).toThrow(
								`messages of one client would come back to another`,
							);
							refused++;
						}
					}
		expect(taken).toBeGreaterThan(30);
		expect(refused).toBeGreaterThan(30);
	});
});

test("a search may have several clients", () => {
	expect(
		load(
			`clients: 3\nsystem: nats\n${workload("connections: 3, find: max-rate")}sla: [p99 < 10ms]\n`,
		).cases[0]?.find,
	).toBe("max-rate");
});

describe("the clients of a rig", () => {
	const on = (clients: readonly object[], head = "", overrides: Overrides = {}) =>
		loadScenario(
			"s.yaml",
			`${head}system: nats\n${three}`,
			overrides,
			{},
			{
				...around("s.yaml"),
				rig: {
					path: "rig.json",
					rig: RigFile.parse({
						version: 1,
						id: "x",
						clients,
						brokers: [
							{ system: "nats", broker: "nats", hosts: [{ host: "h1", address: "10.0.0.5" }] },
						],
					}),
				},
			},
		).clients;
	const two = [{ host: "c1", user: "bench" }, { host: "c2" }];

	test.each([
		["", {}, ["bench@c1", "c2"]],
		["clients: 1\n", {}, ["bench@c1"]],
		["clients: 2\n", {}, ["bench@c1", "c2"]],
		["", { clients: "1" }, ["bench@c1"]],
		["clients: 2\n", { clients: "1" }, ["bench@c1"]],
		// Who names hosts has chosen.
		["", { clients: "bench@d" }, ["bench@d"]],
	])("%j with %j are %j: a number takes the first of them", (head, overrides, hosts) => {
		expect(on(two, head, overrides)).toMatchObject({ kind: "ssh", hosts });
	});

	test("of a rig without any a number is processes of this machine", () => {
		expect(on([], "clients: 3\n")).toEqual({ kind: "local", count: 3 });
	});

	test.each([
		[{ host: "c1" }, { host: "C1", port: 22 }],
		[
			{ host: "c1", user: "a" },
			{ host: "c1", user: "b" },
		],
		[
			{ host: "c1", port: 2222 },
			{ host: "c1", port: 2222 },
		],
	])("%j and %j are one host", (one, other) => {
		expect(() => on([one, other])).toThrow("is named twice, and two clients would share its cores");
	});

	test("on two ports are two hosts", () => {
		expect(
			on([
				{ host: "c1", port: 22 },
				{ host: "c1", port: 2222 },
			]),
		).toMatchObject({ hosts: ["c1:22", "c1:2222"] });
	});
});
