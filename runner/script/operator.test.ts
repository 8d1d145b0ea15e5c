import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import type { Plan } from "../model/plan.ts";
import { expand } from "../plan/expand.ts";
import { loadScenario } from "../scenario/load.ts";
import { compile } from "./compile.ts";
import { operatorRefuses, testRunOf } from "./operator.ts";

const planOf = (more = "") =>
	expand(
		loadScenario(
			"scenario.yaml",
			`target: existing\nsystem: { broker: nats, url: "nats://\${HOST}" }\nworkload: { rate: 100/s, message: 1KiB, duration: 10s, connections: 4 }\n${more}`,
			{},
			{ HOST: "secret-host" },
		),
		{ runId: "test" },
	)[0] as Plan;

test("a TestRun has one runner, the whole script, and its URL from a Secret", () => {
	const plan = planOf();
	const text = testRunOf(plan, "registry.example.com/mqbench:1");
	const [map, run] = parseAllDocuments(text).map((one) => one.toJS());
	expect(map).toEqual({
		apiVersion: "v1",
		kind: "ConfigMap",
		metadata: { name: "mqbench-nats-1kib-100-s" },
		data: { "script.js": compile(plan, { inline: true }).script },
	});
	expect(run).toMatchObject({
		apiVersion: "k6.io/v1alpha1",
		kind: "TestRun",
		spec: {
			parallelism: 1,
			script: { configMap: { name: "mqbench-nats-1kib-100-s", file: "script.js" } },
			runner: {
				image: "registry.example.com/mqbench:1",
				env: [
					{
						name: "MQBENCH_URL",
						valueFrom: { secretKeyRef: { name: "mqbench-nats-1kib-100-s-url", key: "url" } },
					},
				],
			},
		},
	});
	expect(text).not.toContain("secret-host");
	expect(text).toMatch(/^# For k6's operator.*\n# no T0/);
});

test("several clients, and brokers that mqbench starts, are not the operator's", () => {
	expect(operatorRefuses(planOf(), "s.yaml")).toBeNull();
	expect(operatorRefuses(planOf("clients: 2"), "s.yaml")).toMatch(
		/2 clients would not share a schedule; write clients: 1/,
	);
	expect(operatorRefuses({ ...planOf(), target: "docker" }, "s.yaml")).toMatch(/starts no broker/);
});
