import { expect, test } from "vitest";
import { loadScenario } from "../scenario/load.ts";
import { expand } from "./expand.ts";
import { holdingLines } from "./place-text.ts";
import { renderPlan } from "./plan-text.ts";
import { planOf } from "./plans.fake.ts";
import { openConnections } from "./samples.ts";
import { warningsOf } from "./warnings.ts";

const connect = "pattern: connect, rate: 50/s, duration: 10s, hold: 1000";

test("a login is acknowledged, also by a system that acknowledges no message", () => {
	const plan = planOf(connect);
	expect(plan).toMatchObject({ acks: true, hold: 1000, inFlight: 1000, keys: null });
	expect(planOf("rate: 50/s, duration: 10s")).toMatchObject({ acks: false, hold: 0 });
	expect(planOf(`${connect}, timeout: 1s`, "system: nats\nsla: [ack p99 < 20ms]").limits).toEqual([
		{ metric: "ack", limitNs: 20e6 },
	]);
});

test("the plan says what becomes of the connections", () => {
	const text = (workload: string) => renderPlan([planOf(workload)], { columns: 200 });
	expect(text(connect)).toContain(
		"connect of 256B, 50/s for 10s after 5s warm-up; each on a new connection, of which the newest 1 000 stay open; at most 1 000 in flight per producer",
	);
	expect(text("pattern: connect, messages: 500, inFlight: 10")).toContain(
		"each on a new connection, closed afterwards",
	);
});

test("no more connections are open than held and in flight, and than there are", () => {
	expect(openConnections(planOf(`${connect}, inFlight: 20, connections: 3`))).toBe(750);
	expect(openConnections(planOf(`${connect}, warmup: 30s, inFlight: 20, connections: 3`))).toBe(
		1060,
	);
	expect(openConnections(planOf("rate: 50/s, duration: 10s"))).toBe(0);
});

test("what one process can hold is read from the machine", () => {
	const files: Readonly<Record<string, string>> = {
		"self/limits":
			"Limit   Soft  Hard\nMax open files            1024                 20000                files\n",
		"sys/net/ipv4/ip_local_port_range": "32768\t60999\n",
	};
	const said = (workload: string, head?: string) =>
		holdingLines([planOf(workload, head)], (file) => files[file] ?? "");
	const holds =
		"one load generator process here can hold 19 968 connections (ulimit -H -n); to one address 28 232 (net.ipv4.ip_local_port_range)";
	expect(said(connect)).toEqual([holds]);
	expect(said("pattern: connect, messages: 30000, hold: 25000")).toEqual([
		holds.replace(";", ", and this needs up to 26 000;"),
	]);
	// 28 232 ports / 2000/s; shared by 5 clients each port is back before it is needed.
	const fast = "pattern: connect, rate: 2000/s, duration: 10s, connections: 5";
	expect(said(fast)).toEqual([
		`${holds}; to a server on another machine, 2 000/s use up the ports in 14.1s, because a closed connection keeps its port for 60s: use more clients`,
	]);
	expect(said(fast, "system: nats\nclients: 5")).toEqual([holds]);
	expect(said("rate: 50/s, duration: 10s")).toEqual([]);
	expect(holdingLines([planOf(connect)], () => "")).toEqual([]);
});

test("a server that takes fewer connections is named, with the setting", () => {
	const warnings = (system: string) => {
		const scenario = loadScenario(
			"s.yaml",
			`system: ${system}\nworkload: { pattern: connect, messages: 20000, hold: 20000, message: 256B }`,
		);
		return warningsOf(scenario, expand(scenario, {}));
	};
	expect(warnings("redis")).toEqual([
		"redis takes 10 000 connections, and up to 21 000 may be open: write config: { maxclients: 21000 }",
	]);
	expect(warnings("{ broker: redis, config: { maxclients: 30000 } }")).toEqual([]);
	expect(warnings("nats")).toEqual([]);
	expect(warnings("{ broker: nats, config: { max_connections: 100 } }")).toEqual([
		"nats takes 100 connections, and up to 21 000 may be open: write config: { max_connections: 21000 }",
	]);
	expect(warnings("rabbitmq")).toEqual([]);
});
