import { describe, expect, test } from "vitest";
import { setUpBytes } from "../model/plan.ts";
import { expand } from "../plan/expand.ts";
import { loadScenario } from "./load.ts";
import { shorten } from "./quick.ts";

const SYSTEMS = `systems:
  nats: { broker: nats, config: { max_payload: 1000 } }
  nsq: { broker: nsq, config: { max-msg-size: 2000 } }
`;

function read(workload: string, systems = SYSTEMS, sla = "") {
	return loadScenario(
		"s.yaml",
		`${systems}workload: { rate: 2/s, duration: 3s, warmup: 0s, ${workload} }\n${sla}`,
	);
}

function plans(workload: string, systems?: string, sla?: string) {
	return expand(read(workload, systems, sla), {});
}

describe("message: limit", () => {
	test.each([
		["limit", [1000, 2000], [null, null]],
		["limit + 1B", [1001, 2001], [1000, 2000]],
		["limit+1KiB", [2024, 3024], [1000, 2000]],
		["limit - 100B", [900, 1900], [null, null]],
		["256B", [256, 256], [null, null]],
	])("%s is %j bytes, each system its own", (message, bytes, limits) => {
		const all = plans(`message: ${message}`);
		expect(all.map((plan) => plan.message.bytes)).toEqual(bytes);
		expect(all.map((plan) => plan.message.limitBytes)).toEqual(limits);
	});

	test("a server is set up for its limit, not for what exceeds it", () => {
		expect(plans("message: limit + 1B").map(setUpBytes)).toEqual([1000, 2000]);
		expect(plans("message: limit - 1B").map(setUpBytes)).toEqual([999, 1999]);
	});

	test("a case is called by what is written, in cases and in a matrix", () => {
		const names = (more: string) =>
			loadScenario(
				"s.yaml",
				`${SYSTEMS}workload: { rate: 2/s, duration: 3s }\n${more}\n`,
			).cases.map(({ name }) => name);
		expect(names("cases: [{ message: limit }, { message: limit  +1B }]")).toEqual([
			"limit",
			"limit + 1B",
		]);
		expect(names("matrix: { message: [limit, limit - 100B], rate: [1/s, 2/s] }")).toEqual([
			"limit 1/s",
			"limit 2/s",
			"limit - 100B 1/s",
			"limit - 100B 2/s",
		]);
	});

	test("stays what it is when a run is shortened", () => {
		expect(expand(shorten(read("message: limit + 1B")), {}).map((p) => p.message.bytes)).toEqual([
			1001, 2001,
		]);
	});

	test("counts the name of the topic where the system does", () => {
		const systems = "systems:\n  stan: { broker: nats-streaming, config: { max_payload: 9000 } }\n";
		const [{ topics, message } = {}] = plans("message: limit", systems);
		const beside = 39 + 48 + 2 + (topics?.[0]?.length ?? 0) + 3;
		expect(message?.bytes).toBe(9000 - beside);
	});
});

describe("sla: failed == all", () => {
	test("is of every message of the plan, shortened or not", () => {
		const limits = (sla: string, workload = "") =>
			plans(`message: limit + 1B${workload}`, SYSTEMS, sla).map((plan) => plan.sla[0]);
		expect(limits("sla: [failed == all]")[0]).toMatchObject({ text: "failed == all", limit: 6 });
		// Of a fan-out copies are lost.
		expect(
			limits("sla: [lost == all]", ", pattern: fan-out, subscriptions: 3, producers: 1")[0],
		).toMatchObject({ limit: 18 });
	});
});
