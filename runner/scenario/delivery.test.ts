import { describe, expect, test } from "vitest";
import { Plan } from "../model/plan.ts";
import { expand } from "../plan/expand.ts";
import { loadScenario } from "./load.ts";

const base = "rate: 3/s, message: 1KiB, duration: 9s";

function scenario(workload: string, rest = "") {
	return loadScenario("s.yaml", `system: nats\nworkload: { ${base}${workload} }\n${rest}`);
}

function plan(workload: string, rest?: string): Plan {
	const [first] = expand(scenario(workload, rest), { runId: "r" });
	if (!first) throw new Error("no plan");
	return first;
}

describe("delivery, order and checksum", () => {
	test("default to what the broker promises, no order, no checksum, and gate nothing", () => {
		expect(plan("")).toMatchObject({
			delivery: "at-most-once",
			order: "none",
			message: { checksum: false },
			sla: [],
		});
	});

	test.each([
		["pattern: round-trip", "automatic", "at-most-once"],
		["pattern: fan-out, subscriptions: 2", "automatic", "at-most-once"],
		["pattern: request-reply", "message", "at-most-once"],
		["pattern: work-queue", "message", "at-least-once"],
		["pattern: publish", "automatic", "at-least-once"],
		["delivery: at-least-once", "automatic", "at-least-once"],
	])(
		"of a consumer that acknowledges nothing promises nothing: %s",
		(workload, acknowledge, delivery) => {
			const [one] = expand(
				loadScenario("s.yaml", `system: rabbitmq\nworkload: { ${base}, ${workload} }\n`),
				{ runId: "r" },
			);
			expect(one).toMatchObject({ acknowledge, delivery });
		},
	);

	test("reach the plan, with the gates that they add behind the scenario's own", () => {
		const found = plan(
			", delivery: at-least-once, order: per-producer, checksum: true",
			"sla: [p99 < 20ms]\n",
		);
		expect(Plan.parse(found)).toMatchObject({
			delivery: "at-least-once",
			order: "per-producer",
			message: { checksum: true },
		});
		expect(found.sla.map(({ text }) => text)).toEqual([
			"p99 < 20ms",
			"lost == 0 (delivery: at-least-once)",
			"reordered == 0 (order: per-producer)",
			"corrupted == 0 (checksum: true)",
		]);
	});

	test("a line for another case takes no gate away", () => {
		const plans = expand(
			scenario(
				", delivery: at-least-once",
				"cases: [{ message: 1KiB }, { message: 2KiB }]\nsla: [{ expect: lost <= 5, case: 1KiB }]\n",
			),
			{ runId: "r" },
		);
		expect(plans.map(({ sla }) => sla.map(({ text }) => text))).toEqual([
			["lost <= 5"],
			["lost == 0 (delivery: at-least-once)"],
		]);
	});

	test("name a case that overrides them", () => {
		const { cases } = scenario(
			"",
			"cases: [{ checksum: true, order: per-producer }, { delivery: exactly-once }]\n",
		);
		expect(cases.map(({ name }) => name)).toEqual(["checksum order per-producer", "exactly-once"]);
	});
});

describe("sla lines about delivery", () => {
	test("abort: true reaches the plan; without it a run goes to its end", () => {
		const { sla } = plan(
			"",
			"sla: [{ expect: p99 < 20ms, abort: true }, { expect: lost == 0 }, failed == 0]\n",
		);
		expect(sla.map(({ abort }) => abort)).toEqual([true, false, false]);
	});
});
