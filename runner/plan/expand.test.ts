import { describe, expect, test } from "vitest";
import { MqbenchError } from "../errors.ts";
import { Plan, runFolder } from "../model/plan.ts";
import { loadScenario } from "../scenario/load.ts";
import { expand } from "./expand.ts";
import { planOf, plansOf } from "./plans.fake.ts";

const article = `name: article
systems: { nats: nats, floor: noop }
workload: { duration: 30s }
cases:
  - { message: 256B, rate: 3000/s }
  - { message: 1KiB, rate: 20000/s, connections: 25 }
repeat: 2
sla:
  - p99 < 20ms
  - p99.9 <= 20ms
  - { expect: service max < 1s, system: floor }
  - { expect: p50 < 9ms, case: 256B }
  - lost == 0
`;

const plans = (text = article, only?: string) => plansOf(text, only);

describe("the order of runs", () => {
	test("systems take turns, in reverse order every second time; repeats are outermost", () => {
		expect(
			plans().map((plan) => `${plan.index} ${plan.repeat} ${plan.system}/${plan.case}`),
		).toEqual([
			"1 1 nats/256B 3000/s",
			"2 1 floor/256B 3000/s",
			"3 1 nats/1KiB 20000/s 25 connections",
			"4 1 floor/1KiB 20000/s 25 connections",
			"5 2 floor/256B 3000/s",
			"6 2 nats/256B 3000/s",
			"7 2 floor/1KiB 20000/s 25 connections",
			"8 2 nats/1KiB 20000/s 25 connections",
		]);
	});

	test.each([
		["nats/256B*", [1, 2], "nats/256B 3000/s"],
		["floor/?KiB*connections", [1, 2], "floor/1KiB 20000/s 25 connections"],
		["*/1KiB 20000/s 25 connections", [1, 2, 3, 4], undefined],
		["*", [1, 2, 3, 4, 5, 6, 7, 8], undefined],
	])("--only %s leaves runs that are counted from 1", (only, indexes, name) => {
		const chosen = plans(article, only);
		expect(chosen.map(({ index }) => index)).toEqual(indexes);
		if (name)
			expect(new Set(chosen.map((plan) => `${plan.system}/${plan.case}`))).toEqual(new Set([name]));
	});

	test("--only that matches nothing lists what there is", () => {
		for (const only of [
			"kafka/*",
			"256B",
			"nats/256B.3000/s",
			"",
			"(",
			"****************************************x",
		])
			expect(() => plans(article, only)).toThrow(MqbenchError);
		expect(() => plans(article, "kafka/*")).toThrow(
			"--only 'kafka/*' matches no run. Names are system/case, * stands for any text; this scenario has\n  nats/256B 3000/s\n  floor/256B 3000/s\n",
		);
	});
});

test("a drift that grows steadily hits two systems alike: their places have the same mean", () => {
	const all = plans(article.replace("repeat: 2", "repeat: 6"));
	for (const name of ["256B 3000/s", "1KiB 20000/s 25 connections"]) {
		const mean = (system: string) => {
			const places = all
				.filter((plan) => plan.system === system && plan.case === name)
				.map(({ index }) => index);
			return places.reduce((sum, place) => sum + place, 0) / places.length;
		};
		expect(mean("nats")).toBe(mean("floor"));
	}
});

describe("lines that compare with a baseline", () => {
	const ab = (baseline: string) =>
		plans(`systems: { old: nats, new: nats, other: noop }
${baseline}workload: { rate: 10/s, message: 256B, duration: 1s }
repeat: 4
sla:
  - p99 < 1s
  - p99 <= baseline + 10%
  - { expect: p99 < baseline * 1.1, system: new }
  - { expect: p(99) <= baseline * 1.1, system: new }
  - { expect: throughput >= baseline - 5%, system: other }
`).slice(0, 3);

	test("are of every system, each once; the baseline is known by its name, and has those of all others", () => {
		expect(
			ab("baseline: old\n").map(({ system, baselineSla, baselineSystem }) => [
				system,
				baselineSystem,
				...baselineSla.map(({ text }) => text),
			]),
		).toEqual([
			[
				"old",
				"old",
				"p99 <= baseline + 10%",
				"p99 < baseline * 1.1",
				"throughput >= baseline - 5%",
			],
			["new", "old", "p99 <= baseline + 10%", "p99 < baseline * 1.1"],
			["other", "old", "p99 <= baseline + 10%", "throughput >= baseline - 5%"],
		]);
	});

	test("with a baseline from elsewhere are of all systems, and the generator counts nothing for them", () => {
		for (const text of ["", "baseline: ./b.json\n"]) {
			const [old, next] = ab(text);
			expect(old).toMatchObject({ baselineSystem: null });
			expect(old?.baselineSla).toHaveLength(1);
			expect(next?.baselineSla).toHaveLength(2);
			expect(next?.sla.map((line) => line.text)).toEqual(["p99 < 1s"]);
			expect(next?.limits).toEqual([{ metric: "response", limitNs: 1e9 }]);
		}
	});
});

describe("a plan", () => {
	test("is complete: the schema takes every one as it is", () => {
		for (const plan of plans()) expect(Plan.parse(plan)).toEqual(plan);
	});

	test("counts the messages of warm-up and window exactly", () => {
		expect(planOf("rate: 3000/s, duration: 10s").schedule).toEqual({
			kind: "constant",
			rate: { messages: 3000, perNs: 1e9 },
			seed: 0,
			steady: null,
			pieces: [],
			warmupNs: 5e9,
			durationNs: 10e9,
			warmupMessages: 15_000,
			messages: 45_000,
		});
		// Offsets 0, 428.57, 857.14, ... ms: 12 lie below 5 s, 35 below 15 s.
		expect(planOf("rate: 7/3s, duration: 10s").schedule).toMatchObject({
			warmupMessages: 12,
			messages: 35,
		});
		expect(planOf("rate: 7/3s, duration: 10s, warmup: 0s").schedule.warmupMessages).toBe(0);
	});

	test("has the SLA lines that apply to its system and case, and each latency limit once", () => {
		const [nats256, floor256, nats1k] = plans();
		expect(nats256?.sla.map(({ text }) => text)).toEqual([
			"p99 < 20ms",
			"p99.9 <= 20ms",
			"p50 < 9ms",
			"lost == 0",
		]);
		expect(nats256?.limits).toEqual([
			{ metric: "response", limitNs: 20e6 },
			{ metric: "response", limitNs: 9e6 },
		]);
		expect(floor256?.limits).toEqual([
			{ metric: "response", limitNs: 20e6 },
			{ metric: "service", limitNs: 1e9 },
			{ metric: "response", limitNs: 9e6 },
		]);
		expect(nats1k?.limits).toEqual([{ metric: "response", limitNs: 20e6 }]);
	});

	test("has topics and a number that no other run has, and the payload that all others have", () => {
		const all = plans();
		const other = expand(loadScenario("s.yaml", article), { runId: "r2" });
		const topics = [...all, ...other].flatMap((plan) => plan.topics);
		expect(new Set(topics).size).toBe(topics.length);
		expect(all[2]?.topics.slice(0, 2)).toEqual(["mqbench.r.3.0", "mqbench.r.3.1"]);
		const numbers = [...all, ...other].map((plan) => plan.runNumber);
		expect(new Set(numbers).size).toBe(numbers.length);
		expect(new Set([...all, ...other].map((plan) => plan.message.seed)).size).toBe(1);
	});

	test("lets the heartbeat outlast the schedule by 2 s, and k6 the drain by 30 s", () => {
		expect(planOf("rate: 1000/s, duration: 1234567ns, warmup: 1s, drain: 1us").heartbeat).toEqual({
			slotsPerSecond: 100,
			vus: 4,
			durationNs: 3_002_000_000,
			gracefulStopNs: 30_001_000_000,
		});
	});

	test("never holds the url", () => {
		const scenario = loadScenario(
			"s.yaml",
			"system: nats\nworkload: { rate: 3/s, message: 1KiB, duration: 9s }\n",
			{ url: "nats://me:hunter2@h:4222" },
		);
		const [plan] = expand(scenario, { runId: "r" });
		expect(plan).toMatchObject({ target: "existing", urlEnv: "MQBENCH_URL" });
		expect(JSON.stringify(plan)).not.toMatch(/hunter2|h:4222/);
	});
});

test("folders of runs are told apart", () => {
	const folders = plans().map(runFolder);
	expect(folders[0]).toBe("01-nats-256B-3000-s-1");
	expect(new Set(folders).size).toBe(folders.length);
});

test("the same objective written twice is one gate", () => {
	const sla = "[p99 < 50ms, { expect: p(99) < 50ms, system: nats, abort: true }, p99 < 60ms]";
	const plan = planOf("rate: 10/s, duration: 1s", `system: nats\nsla: ${sla}`);
	expect(plan.sla).toMatchObject([
		{ text: "p99 < 50ms", abort: true },
		{ text: "p99 < 60ms", abort: false },
	]);
});

describe("lines about faults", () => {
	const of = (sla: string) =>
		plans(
			`systems: { nats: nats, floor: noop }\nworkload: { rate: 500/s, message: 256B, duration: 20s, warmup: 5s }\nfaults: [{ at: 4s, action: pause, for: 1s }]\nsla: ${sla}\n`,
		);

	test("count the latency that has to be met again: that of the line, else the first one", () => {
		const [nats] = of(
			"[lag p99 < 1ms, p99 < 2s, max < 3s, recovered < 5s, recovered(service p50 < 1ms) < 6s, recovered(max < 9ms) < 7s]",
		);
		const until = nats?.sla.flatMap((line) =>
			line.kind === "tally" && line.until ? [line.until.text] : [],
		);
		expect(until).toEqual(["p99 < 2s", "service p50 < 1ms", "max < 9ms"]);
		expect(nats?.limits).toEqual([
			{ metric: "lag", limitNs: 1e6 },
			{ metric: "response", limitNs: 2e9 },
			{ metric: "response", limitNs: 3e9 },
			{ metric: "service", limitNs: 1e6 },
			{ metric: "response", limitNs: 9e6 },
		]);
	});

	test("are one where they mean the same", () => {
		const [nats] = of("[p99 < 2s, recovered < 5s, recovered(p99 < 2s) < 5s]");
		expect(nats?.sla.map(({ text }) => text)).toEqual(["p99 < 2s", "recovered < 5s"]);
	});

	test("are none of a system to whose broker nothing is done", () => {
		const [nats, floor] = of("[p99 < 2s, unavailable < 5s]");
		expect(nats?.sla).toHaveLength(2);
		expect(floor?.sla.map(({ text }) => text)).toEqual(["p99 < 2s"]);
	});
});
