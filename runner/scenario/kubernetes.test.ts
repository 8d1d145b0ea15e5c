import { expect, test } from "vitest";
import { loadScenario } from "./load.ts";
import type { Overrides } from "./overrides.ts";

const load = (text: string, overrides: Overrides = {}) =>
	loadScenario(
		"/scenarios/s.yaml",
		`${text}\nworkload: { rate: 10/s, message: 1KiB, duration: 1s, connections: 3 }\n`,
		overrides,
	);

test("target kubernetes has pods for its load, with defaults of the block", () => {
	const { clients, kubernetes, systems } = load(
		"target: kubernetes\nsystem: { broker: nats, image: mine:1 }",
	);
	expect(clients).toEqual({ kind: "pods", count: 1 });
	expect(systems[0]?.image).toBe("mine:1");
	expect(kubernetes).toEqual({
		context: null,
		namespace: null,
		imagePullSecret: null,
		image: "busybox:1.37.0",
		storageClass: null,
		storage: 20 * 2 ** 30,
		resources: { cpus: 2, memory: 2 * 2 ** 30 },
		nodeSelector: {},
		tolerations: [],
		ttlNs: 7200e9,
	});
});

test("the one word changes the target, on the command line too; others leave the block aside", () => {
	const text =
		"system: nats\nkubernetes: { namespace: bench, ttl: 30min, resources: { cpus: 0.5 } }";
	expect(load(text).kubernetes).toBeNull();
	expect(load(text).clients).toEqual({ kind: "local", count: 1 });
	const there = load(text, { target: "kubernetes", clients: "3" });
	expect(there.clients).toEqual({ kind: "pods", count: 3 });
	expect(there.kubernetes).toMatchObject({
		namespace: "bench",
		ttlNs: 1800e9,
		resources: { cpus: 0.5, memory: 2 * 2 ** 30 },
	});
});

test("pods make the load for brokers that are there", () => {
	const text =
		"target: existing\nsystem: { broker: nats, url: nats://nats:4222 }\nclients: { kubernetes: 2 }";
	expect(load(text).clients).toEqual({ kind: "pods", count: 2 });
	expect(
		load("target: existing\nsystem: { broker: nats, url: nats://nats:4222 }", {
			clients: "kubernetes=2",
		}).clients,
	).toEqual({ kind: "pods", count: 2 });
});

test.each([
	[
		"clients: { kubernetes: 2 }\nsystem: nats",
		"1:10 clients: { kubernetes: 2 } needs target kubernetes or existing, and this target is local; write clients: 2",
	],
	[
		"target: kubernetes\nclients: [bench@10.0.0.1]\nsystem: nats",
		"2:10 the brokers of target kubernetes are in pods, which hosts outside of the cluster do not reach; write clients: 1",
	],
	[
		"target: kubernetes\nclients: { docker: 2 }\nsystem: nats",
		"2:10 clients: { docker: 2 } needs target docker, and this target is kubernetes; write clients: 2",
	],
	[
		"target: kubernetes\nsystem: { broker: nats, url: nats://nats:4222 }",
		"write target: existing, with clients: { kubernetes: 1 } to make the load in the cluster",
	],
	["target: kubernetes\nsystem: { broker: nats, pin: 0-1 }", "write cpus instead"],
	[
		"target: kubernetes\nsystem: nats\nkubernetes: { namespace: Bench }",
		'3:26 takes small letters, digits and hyphens, at most 63, e.g. bench, got "Bench"',
	],
	["target: kubernetes\nsystem: nats\nkubernetes: { ttl: 5s }", "must be 1min to 168h"],
	[
		"target: kubernetes\nsystem: nats\nkubernetes: { resources: { memory: 24MiB } }",
		"must be at least 128MiB",
	],
	[
		"target: kubernetes\nsystem: nats\nfaults: [{ at: 500ms, action: latency, delay: 1ms, for: 100ms }]",
		"pods share the network of their node, which mqbench leaves alone; write action: pause",
	],
])("%s", (text, sentence) => {
	expect(() => load(text)).toThrow(sentence);
});
