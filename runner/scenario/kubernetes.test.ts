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
