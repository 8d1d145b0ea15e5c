import { describe, expect, test } from "vitest";
import { terms } from "../explain/terms.ts";
import { topicNames, topics } from "../explain/topics.ts";
import { Metric } from "../model/plan.ts";
import { Tally } from "../model/tallies.ts";
import { COUNTS } from "../result/fields.ts";
import { intervalRank, ratioOf } from "../stats/ratio.ts";
import { samplesForBound, samplesForSupport } from "../stats/support.ts";
import { formatCount } from "../units.ts";
import { checkNames } from "../verdict/checks.ts";
import { fails, passLimit } from "../verdict/statistics.ts";
import { fakeWorld } from "../world.fake.ts";
import { explain } from "./explain.ts";

describe("mqbench explain", () => {
	test("without a topic lists all of them", async () => {
		const world = fakeWorld();
		expect(await explain({ words: [] }, world)).toBe(0);
		for (const name of topicNames) expect(world.out()).toContain(`mqbench explain ${name} `);
	});

	test.each(topicNames)("%s fits a terminal, and ends in what to do", async (topic) => {
		const world = fakeWorld();
		expect(await explain({ words: topic.split(" ") }, world)).toBe(0);
		const lines = world.out().trimEnd().split("\n");
		expect(lines.length).toBeGreaterThanOrEqual(10);
		expect(lines.length).toBeLessThanOrEqual(25);
		for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(80);
		expect(world.out()).toMatch(/\nExample: [\s\S]*\nWhat to do: /);
	});

	test("max-rate says what INVALID runs do to a probe and to what confirms", async () => {
		const world = fakeWorld();
		await explain({ words: ["max-rate"] }, world);
		const said = world.out().replaceAll(/\s+/g, " ");
		expect(said).toContain("INVALID twice ends this part of the search.");
		expect(said).toContain("or is INVALID twice, the search goes down by 5 %");
	});

	test.each([
		...new Set([
			...checkNames(),
			...Metric.options,
			...Tally.options,
			...COUNTS,
			"P99.9",
			"max",
			"stall",
			"behind",
			"Not-Offered",
			"in flight",
			"warm-up",
			"timed out",
		]),
	])("%s, a word of the reports, has an answer that fits a terminal", async (topic) => {
		const world = fakeWorld();
		expect(await explain({ words: topic.split(" ") }, world)).toBe(0);
		for (const line of world.out().trimEnd().split("\n"))
			expect(line.length, line).toBeLessThanOrEqual(80);
	});

	test.each(["late-by-burst", "late-by-held", "late-by-stops"])(
		"%s, a code in result.json, has the page of INVALID",
		async (topic) => {
			const world = fakeWorld();
			await explain({ words: topic.split(" ") }, world);
			expect(world.out()).toMatch(/^INVALID [\s\S]*\nWhat to do: /);
		},
	);

	test("p50-rose, a code in result.json, says what rose, and what to do", async () => {
		const world = fakeWorld();
		await explain({ words: ["p50-rose"] }, world);
		expect(world.out().replaceAll(/\s+/g, " ")).toMatch(
			/p50 rose .*INCONCLUSIVE.*What to do: .*warmup: steady.*More: mqbench explain inconclusive/,
		);
	});

	test("without a topic lists the other words too", async () => {
		const world = fakeWorld();
		await explain({ words: [] }, world);
		for (const { name } of terms) expect(world.out().replaceAll(/\s+/g, " ")).toContain(name);
	});

	test("explains several topics one after another", async () => {
		const said = async (topic: string) => {
			const world = fakeWorld();
			await explain({ words: topic.split(" ") }, world);
			return world.out();
		};
		expect(await said("floor others")).toBe(`${await said("floor")}\n${await said("others")}`);
	});

	test.each([
		["floor othrs", "othrs: is not a topic of explain; did you mean others?\n"],
		["suport", "suport: is not a topic of explain; did you mean support?\n"],
		["latency", "latency: is not a topic of explain; known: response, lag, support, "],
		["constructor", "constructor: is not a topic of explain; known: "],
	])("refuses %s with exit code 2", async (topic, message) => {
		await expect(explain({ words: topic.split(" ") }, fakeWorld())).rejects.toMatchObject({
			exit: 2,
			message: expect.stringContaining(message),
		});
	});
});

describe("figures of the topics are those of the code", () => {
	test.each([99, 99.9, 99.99, 99.999])("support of p%s", (p) => {
		const row = new RegExp(
			`^  p${p} +${formatCount(samplesForBound(p))} +${formatCount(samplesForSupport(p))} `,
			"m",
		);
		expect(topics.support.text).toMatch(row);
	});

	test("interval of 5 and 5 runs, and its example", () => {
		expect(intervalRank(5, 5)?.k).toBe(3);
		expect(topics.baseline.text).toContain("from the third smallest");
		const a = [1, 1.01, 1.02, 1.03, 1.04];
		const found = ratioOf(
			a,
			a.map((value) => 1.2 * value),
		);
		const text = [found?.ratio, found?.low, found?.high].map((x) => x?.toFixed(2));
		expect(topics.baseline.text).toContain(`x${text[0]} [${text[1]}, ${text[2]}]`);
	});

	test.each([99, 99.9, 99.99])("samples that a PASS of p%s takes", (p) => {
		expect(topics.inconclusive.text.replaceAll("\n", " ")).toContain(
			formatCount(samplesForBound(p)),
		);
	});

	test.each([1000, 10_000, 30_000])("the grey zone of %i messages", (n) => {
		const pass = passLimit(n, 0.01);
		let fail = n / 100;
		while (!fails(fail, n, 0.01)) fail++;
		expect(topics.inconclusive.text).toMatch(
			new RegExp(`^ +${formatCount(n)} +${n / 100} +${pass} +${fail}$`, "m"),
		);
	});
});
