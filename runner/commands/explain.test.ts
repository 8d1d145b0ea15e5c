import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { calibrationOf } from "../compare/calibrate/measure.ts";
import { comparedResult } from "../compare/compared.fake.ts";
import { OUTCOMES } from "../compare/comparing.ts";
import { type Block, plain } from "../document/blocks.ts";
import { calibration } from "../document/calibration.ts";
import { documentOf } from "../document/document.ts";
import { EACH_MESSAGE } from "../document/systems.ts";
import { terms } from "../explain/terms.ts";
import { topicNames, topics } from "../explain/topics.ts";
import { Pattern, Schedule } from "../model/load.ts";
import { FaultAction, Level, Metric } from "../model/plan.ts";
import { Run, Search } from "../model/result.ts";
import { Tally } from "../model/tallies.ts";
import { VERDICTS } from "../model/verdict.ts";
import { search, step } from "../render/hostile.fake.ts";
import { COUNTS } from "../result/fields.ts";
import { fixtureResult, PUBLISHED, publishedOnce } from "../result/stored.fake.ts";
import { intervalRank, ratioOf } from "../stats/ratio.ts";
import { samplesForBound, samplesForSupport } from "../stats/support.ts";
import { formatCount, formatIn } from "../units.ts";
import { checkNames } from "../verdict/checks.ts";
import { AFTER_CHECKS, BEFORE_CHECKS } from "../verdict/excuses.ts";
import { fails, passLimit } from "../verdict/statistics.ts";
import { fakeWorld } from "../world.fake.ts";
import { explain } from "./explain.ts";

/** Also checks that no line of a topic is too wide for a terminal. */
async function said(...words: string[]): Promise<string> {
	const world = fakeWorld();
	expect(await explain({ words }, world)).toBe(0);
	const lines = words.length === 0 ? [] : world.out().trimEnd().split("\n");
	for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(80);
	return world.out();
}

/** What stands before, behind or in place of a figure. */
const SIGNS = ["~", "n/a", ">", "*", "∞", "±", "[]", "x"];

const UNITS = ["ns", "messages", "messages/s", "cores", "bytes", "bytes/s", "times"] as const;
/** What follows a figure of any size: "ms", "GiB/s". */
const units = UNITS.flatMap((unit) =>
	Array.from({ length: 14 }, (_, i) =>
		formatIn(unit, 10 ** i)
			.replace(/^[\d. ]+/, "")
			.replace(/ .*/, ""),
	),
);

/** Plain words, names that the scenario gives, and what explains itself. */
const PLAIN =
	/^(|measured|limit|why|client|machine|node|times|line|fault|producer|sequence|topic|partition|run|started.*|broker|payload|producers|timeout, drain|generator|raw data|version|versions|client library|target|system|system, case|CPU|memory|topology|replicas|commit of the scenario|[\d.]+[KM]?i?B( .*)?|throughput|figure|second|CPU, cores|memory \(RSS\)|(disk|network), bytes.*|messages per second|size of a message|generator stopped by garbage collection.*|(ack|response|service)(:| by second) .*|the generator's lag, and queued|bench@.*|(broker|generator) (reads|writes))$/;

/** Reports with faults, several clients, repeats, closed loops, a search, a comparison and a calibration. */
const documents = [
	...["failover", "clients", "repeats", "no-data", "lag", "lost", "interrupted"].map(fixtureResult),
	...readdirSync(PUBLISHED).map(publishedOnce),
	{ ...fixtureResult("healthy"), searches: [search({ runs: [step()] })] },
].map((result) => documentOf(result));
const reports = documents.map(({ answer, sections }): Block[] => [...answer, ...sections]);
/** Titles of axes and panels, and names of lines that are the same in every report. */
const drawn = documents.flatMap(({ figures, names }) =>
	figures().flatMap(({ x, panels }) =>
		[
			x.title,
			...panels.flatMap((panel) => [panel.title, ...panel.series.map((s) => s.group)]),
		].filter((word) => !PLAIN.test(word) && !names.some((name) => word.startsWith(name))),
	),
);
const { result: compared } = comparedResult(
	"system: nats\nrepeat: 10\nworkload: { rate: 1000/s, message: 256B, duration: 10s }\n",
	{ nats: Array.from({ length: 10 }, (_, i) => 1e5 + i) },
);
reports.push(calibration(calibrationOf(compared, []).calibration, []));

/** Heads of tables, and names of facts. */
function headsOf(blocks: readonly Block[]): string[] {
	return blocks
		.flatMap((block): string[] => {
			if (block.kind === "fold") return headsOf(block.blocks);
			if (block.kind !== "table") return [];
			const facts = block.look === "facts" ? block.rows.map(({ cells: [name = ""] }) => name) : [];
			return [...block.columns.map(({ name }) => name), ...facts].map(plain);
		})
		.filter((head) => !PLAIN.test(head));
}

const flat = (text: string) => text.replaceAll(/\s+/g, " ");

describe("mqbench explain", () => {
	test("without a topic lists all of them, and the other words", async () => {
		const list = flat(await said());
		for (const name of topicNames) expect(list).toContain(`npx mqbench explain ${name} `);
		for (const { name } of terms) expect(list).toContain(name);
	});

	test.each(topicNames)("%s fits a terminal, and ends in what to do", async (topic) => {
		const text = await said(topic);
		const lines = text.trimEnd().split("\n").length;
		expect(lines).toBeGreaterThanOrEqual(10);
		expect(lines).toBeLessThanOrEqual(25);
		expect(text).toMatch(/\nExample: [\s\S]*\nWhat to do: /);
	});

	test.each([
		...new Set([
			...checkNames(),
			...Metric.options,
			...Tally.options,
			...COUNTS,
			...VERDICTS,
			...Object.keys(OUTCOMES).filter((outcome) => outcome !== "nothing"),
			...Run.shape.validity.element.shape.status.options,
			...EACH_MESSAGE,
			...Search.shape.runs.element.shape.role.options,
			...Pattern.options,
			...Schedule.shape.kind.options,
			...Level.options,
			...FaultAction.options,
			...[...BEFORE_CHECKS, ...AFTER_CHECKS].map(({ code }) => code),
			...reports.flatMap(headsOf),
			...drawn,
			...units.filter((unit) => unit !== ""),
			...SIGNS,
			...["find", "search", "rate", "too few stalls", "hiccup", "bystanders", "keys", "driver"],
			...["P99.9", "stall", "behind", "Not-Offered", "in flight", "timed out", "stopped"],
			...["weak", "overlaps", "lowest", "not ranked", "coordinated omission", "quick", "SLA"],
			...["window", "repeat", "foreign", "heat map", "start skew", "network", "p50-rose"],
			...["baseline", "now", "back under p99 < 50ms", "us", "KiB", "latency", "confirming"],
		]),
	])("%s, a word of the reports, has an answer that fits a terminal", async (word) => {
		expect(await said(...word.split(" "))).not.toBe("");
	});

	test.each([
		["late-by-burst", /^INVALID .* What to do: /],
		["late-by-held", /^INVALID .* What to do: /],
		["late-by-stops", /^INVALID .* What to do: /],
		[
			"p50-rose",
			/p50 rose .*INCONCLUSIVE.*What to do: .*warmup: steady.*More: npx mqbench explain inconclusive/,
		],
	])("%s, a code in result.json, says what it is, and what to do", async (code, words) => {
		expect(flat(await said(code))).toMatch(words);
	});

	test("explains several topics one after another", async () => {
		expect(await said("floor", "others")).toBe(`${await said("floor")}\n${await said("others")}`);
	});

	test.each([
		["floor othrs", "othrs: is not a topic of explain; did you mean others?\n"],
		["suport", "suport: is not a topic of explain; did you mean support?\n"],
		["weather", "weather: is not a topic of explain\nnpx mqbench explain lists all."],
		["constructor", "constructor: is not a topic of explain\n"],
	])("refuses %s with exit code 2", async (topic, message) => {
		await expect(said(...topic.split(" "))).rejects.toMatchObject({
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
		const b = a.map((value) => 1.2 * value);
		const found = ratioOf(a, b);
		const text = [found?.ratio, found?.low, found?.high].map((x) => x?.toFixed(2));
		expect(topics.baseline.text).toContain(`x${text[0]} [${text[1]}, ${text[2]}]`);
	});

	test.each([99, 99.9, 99.99])("samples that a PASS of p%s takes", (p) => {
		expect(flat(topics.inconclusive.text)).toContain(formatCount(samplesForBound(p)));
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
