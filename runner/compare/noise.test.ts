import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { seeded } from "../histogram/random.fake.ts";
import { intervalRank } from "../stats/ratio.ts";
import { baselineWith, noisyRuns } from "./baseline.fake.ts";
import { pairOf } from "./compare.ts";

/** Recorded: the same work again and again; how, on which machine and how busy it was stands in the file. */
const AA = JSON.parse(readFileSync(new URL("fixtures/a-a.json", import.meta.url), "utf8")) as {
	readonly figures: Readonly<Record<string, readonly number[]>>;
};
const RECORDED = Object.entries(AA.figures);
const TIMES = 2000;

test("there are enough recorded runs to draw from", () => {
	expect(RECORDED.map(([name]) => name)).toEqual([
		"response p50",
		"response p99",
		"throughput",
		"service p99",
	]);
	for (const [, values] of RECORDED) expect(values.length).toBeGreaterThanOrEqual(16);
});

describe.each(RECORDED)("A/A: 5 and 5 of the recorded runs, %s", (figure, values) => {
	test(`at the default margin at most 5 % are called a change, of ${TIMES}`, () => {
		expect(count(figure, values, 5).changed / TIMES).toBeLessThanOrEqual(0.05);
	});

	test("without a margin as many as the interval says, 3.2 %, and half of them a regression", () => {
		const found = count(figure, values, 5, 0);
		const said = 1 - (intervalRank(5, 5)?.confidence ?? 0);
		// Ties make it rarer; three standard errors above.
		const most = (part: number) => part + 3 * Math.sqrt((part * (1 - part)) / TIMES);
		expect(found.changed / TIMES).toBeLessThan(most(said));
		expect(found.changed / TIMES).toBeGreaterThan(said / 3);
		expect(found.regressed / TIMES).toBeLessThan(most(said / 2));
	});
});

describe("A/A of synthetic noise", () => {
	test.each([
		[5, 0.05],
		[5, 0.5],
		[10, 0.2],
	])(
		"%i runs on each side, a spread of %f: called a change without a margin as often as the interval says",
		(n, sigma) => {
			const said = 1 - (intervalRank(n, n)?.confidence ?? 0);
			const error = 3 * Math.sqrt((said * (1 - said)) / TIMES);
			expect(Math.abs(changed(n, sigma, seeded(11), 0) - said)).toBeLessThan(error);
		},
	);

	test("with the default margin hardly ever: 1 in 1000 where runs scatter by 10 %", () => {
		expect(changed(5, 0.1, seeded(12))).toBeLessThanOrEqual(0.001);
	});

	function changed(n: number, sigma: number, random: () => number, margin?: number): number {
		let count = 0;
		for (let i = 0; i < TIMES; i++) {
			const [a, b] = [noisyRuns(n, sigma, random), noisyRuns(n, sigma, random)];
			if (/regressed|improved/.test(verdictOf("response p99", a, b, margin))) count++;
		}
		return count / TIMES;
	}
});

describe("power", () => {
	test.each([
		["found by 10 and 10 runs, even at the default margin", 10, 0.02, 1.3, undefined, 0.95, 1],
		["found with p99 <= baseline + 10% where they scatter by 10 %", 10, 0.1, 1.3, 0.1, 0.9, 1],
		["found by 5 and 5 runs that scatter by 20 %", 5, 0.2, 2, undefined, 0.75, 1],
		["hardly ever called a regression inside the margin", 10, 0.05, 1.2, undefined, 0, 0.02],
	])("a change is %s", (_, n, sigma, factor, margin, least, most) => {
		const random = seeded(21);
		let hits = 0;
		for (let i = 0; i < 500; i++) {
			const [a, b] = [noisyRuns(n, sigma, random), noisyRuns(n, sigma, random, factor)];
			if (verdictOf("response p99", a, b, margin) === "regressed") hits++;
		}
		expect(hits / 500).toBeGreaterThanOrEqual(least);
		expect(hits / 500).toBeLessThanOrEqual(most);
	});

	test("half of the recorded runs, made a third slower, are found without a margin", () => {
		const random = seeded(31);
		const [, values] = RECORDED[0] as (typeof RECORDED)[number];
		let hits = 0;
		for (let i = 0; i < 500; i++) {
			const drawn = shuffled(values, random);
			const b = drawn.slice(8).map((v) => v * 1.33);
			if (verdictOf("response p50", drawn.slice(0, 8), b, 0) === "regressed") hits++;
		}
		expect(hits / 500).toBeGreaterThan(0.9);
	});
});

function count(figure: string, values: readonly number[], n: number, margin?: number) {
	const random = seeded(1);
	let regressed = 0;
	let improved = 0;
	for (let i = 0; i < TIMES; i++) {
		const drawn = shuffled(values, random);
		const a = drawn.slice(0, n);
		const verdict = verdictOf(figure, a, drawn.slice(n, 2 * n), margin);
		if (verdict === "regressed") regressed++;
		if (verdict === "improved") improved++;
	}
	return { regressed, changed: regressed + improved };
}

/** As a command does it, with baselines. */
function verdictOf(figure: string, a: readonly number[], b: readonly number[], margin?: number) {
	const closed = !figure.startsWith("response");
	const entry = { closed, main: closed ? "service" : "response" };
	const place = { system: "nats", case: "256B 1000/s" };
	const { pair } = pairOf(
		{ name: "a", of: baselineWith({ [figure]: a }, { entry }), ...place },
		{ name: "b", of: baselineWith({ [figure]: b }, { entry, runId: "run-b" }), ...place },
		null,
	);
	const found = pair?.compare(figure, margin === undefined ? null : { margin, allowanceNs: null });
	if (found === undefined || !found.judged) throw new Error(`no ${figure}`);
	return found.verdict;
}

function shuffled(values: readonly number[], random: () => number): number[] {
	const all = [...values];
	for (let i = all.length - 1; i > 0; i--) {
		const j = Math.floor(random() * (i + 1));
		[all[i], all[j]] = [all[j] as number, all[i] as number];
	}
	return all;
}
