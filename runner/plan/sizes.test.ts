import { describe, expect, test } from "vitest";
import type { Sizes } from "../model/sizes.ts";
import { loadScenario } from "../scenario/load.ts";
import { sum } from "../stats/sum.ts";
import { parseBytes } from "../units.ts";
import { expand } from "./expand.ts";
import { byClass, cycleOf } from "./sizes.ts";

const FILES: Readonly<Record<string, string>> = {
	"/s/sizes.txt": "\n256\r\n1KiB\n 300B \n\n256\n256\n",
	"/s/many.txt": Array.from({ length: 1000 }, (_, i) => 48 + 7 * i).join("\n"),
};
const surroundings: Parameters<typeof loadScenario>[4] = {
	folder: "/s",
	platform: "linux",
	fileBytes: (path) => FILES[path]?.length ?? null,
	fileText: (path) => FILES[path] ?? "",
};
function plansOf(message: string, more = "", systems = "{ a: nats, b: redis }") {
	const text = `systems: ${systems}\nworkload: { rate: 1000/s, duration: 10s, message: ${message}, ${more} }`;
	return expand(loadScenario("s.yaml", text, {}, {}, surroundings), {});
}
const sizesOf = (...of: Parameters<typeof plansOf>) => plansOf(...of)[0]?.message.sizes as Sizes;
const lengthOf = (sizes: Sizes) => sum(sizes.runs.map(([, count]) => count));
const sorted = (sizes: Sizes) => cycleOf(sizes, 1).toSorted();
const quantile = (all: Uint32Array, p: number) => all[Math.ceil(all.length * p) - 1];

describe("shares", () => {
	const of = "{ 256B: 80%, 4KiB: 15%, 64KiB: 5% }";
	const SHARES = [0.8, 0.15, 0.05];
	const sizes = sizesOf(of);

	test("are those of the cycle to one in 262139, and every mean follows", () => {
		expect(lengthOf(sizes)).toBe(262_139);
		for (const [k, share] of SHARES.entries())
			expect(Math.abs((sizes.runs[k]?.[1] ?? 0) - share * 262_139)).toBeLessThan(1);
		expect(sizes.meanBytes).toBe(0.8 * 256 + 0.15 * 4096 + 0.05 * 65_536);
		expect(sizes).toMatchObject({ text: "80% 256B, 15% 4KiB, 5% 64KiB", shuffled: true });
		expect(sizes.classes).toEqual([256, 4096, 65_536]);
	});

	test("are in every stretch as in independent draws: chi-square, fixed seeds", () => {
		for (const seed of [1, 2, 3]) {
			const cycle = cycleOf(sizes, seed);
			let z = 0;
			const stretches = 262;
			for (let s = 0; s < stretches; s++) {
				const part = cycle.subarray(s * 1000, (s + 1) * 1000);
				for (const [k, share] of SHARES.entries()) {
					const n = part.filter((b) => b === sizes.classes[k]).length;
					z += (n - 1000 * share) ** 2 / (1000 * share);
				}
			}
			// 2 degrees of freedom a stretch: 524 +- 32.
			expect(Math.abs(z - 2 * stretches), `seed ${seed}`).toBeLessThan(
				4 * Math.sqrt(4 * stretches),
			);
		}
	});

	test("are the same messages for every system, and the largest is what it is set up for", () => {
		const [a, b] = plansOf(of);
		expect(a?.message).toEqual(b?.message);
		expect(a?.message.bytes).toBe(65_536);
		expect(a?.case).toBe("80% 256B, 15% 4KiB, 5% 64KiB 1000/s");
	});

	test("of a seventh each lose nothing to rounding", () => {
		const seventh = `{ ${[1, 2, 3, 4, 5, 6].map((k) => `${k}KiB: 14.2857%`).join(", ")}, 7KiB: 14.2858% }`;
		expect(lengthOf(sizesOf(seventh))).toBe(262_139);
	});

	test("by class of any stretch are counted as one by one", () => {
		const [plan] = plansOf(of);
		if (!plan) throw new Error("no plan");
		const cycle = cycleOf(sizes, plan.message.seed);
		const stretches = { 0: 10, 17: 262_139, 5000: 1_000_000, 262138: 262_141 };
		for (const [from, to] of Object.entries(stretches).map(([a, b]) => [Number(a), b] as const)) {
			const want = [0, 0, 0];
			for (let i = from; i < to; i++) {
				const k = sizes.classes.indexOf(cycle[i % cycle.length] as number);
				want[k] = (want[k] ?? 0) + 1;
			}
			expect(byClass(plan, from, to)).toEqual(want);
		}
	});
});

describe("a lognormal distribution", () => {
	test.each([
		["1KiB", "32KiB", "1MiB", ""],
		["300B", "10KB", "20KB", ""],
		["1KiB", "1100B", "2KiB", ""],
		["64B", "64KiB", "64MiB", "checksum: true"],
		["1KiB", "1KiB", "1KiB", ""],
	])(
		"of median %s, p99 %s and max %s has exactly those, and the analytic shares",
		(median, p99, max, more) => {
			const sizes = sizesOf(`{ median: ${median}, p99: ${p99}, max: ${max} }`, more, "{ a: noop }");
			const all = sorted(sizes);
			const [m, q, most] = [median, p99, max].map(parseBytes) as [number, number, number];
			expect([quantile(all, 0.5), quantile(all, 0.99)]).toEqual([m, q]);
			expect(all.at(-1)).toBeLessThanOrEqual(most);
			const least = more === "" ? 48 : 52;
			expect(all[0]).toBeGreaterThanOrEqual(least);
			if (m === q) return;
			// Against the integral of the density, at sizes between two steps: a step is 2.2 %.
			const sigma = Math.log(q / m) / 2.3263478740408408;
			for (const at of [60, 100, 500, 1000, 3000, 20_000, 300_000]) {
				if (at < least || at >= most) continue;
				const upTo = all.findLastIndex((b) => b <= at) + 1;
				const low = integral(Math.log((at - 0.5) / 1.0111 / m) / sigma);
				const high = integral(Math.log(((at + 0.5) * 1.0111) / m) / sigma);
				expect(upTo / all.length, `${at}`).toBeGreaterThan(low - 1e-3);
				expect(upTo / all.length, `${at}`).toBeLessThan(high + 1e-3);
			}
			const beyond = (z: number) => all.length * (1 - integral(z));
			const cut = beyond(Math.log(most / m) / sigma);
			const raised = beyond(-Math.log(least / m) / sigma);
			expect(Math.abs(sizes.clamped.above - cut)).toBeLessThan(0.05 * cut + 3);
			expect(Math.abs(sizes.clamped.below - raised)).toBeLessThan(0.05 * raised + 3);
		},
	);

	test("has a handful of classes, the powers of four", () => {
		const { classes } = sizesOf("{ median: 1KiB, p99: 32KiB, max: 64KiB }");
		expect(classes).toEqual([64, 256, 1024, 4096, 16_384, 65_536]);
	});
});

describe("a file", () => {
	test("is taken line by line, with or without units, and begins again", () => {
		const sizes = sizesOf("{ file: sizes.txt }");
		expect([...cycleOf(sizes, 1)]).toEqual([256, 1024, 300, 256, 256]);
		expect(sizes).toMatchObject({ text: "5 sizes of sizes.txt", classes: [256, 300, 1024] });
		expect(plansOf("{ file: sizes.txt }")[0]?.message.bytes).toBe(1024);
	});

	test("of many sizes has the powers of four as classes", () => {
		expect(sizesOf("{ file: many.txt }").classes).toEqual([64, 256, 1024, 4096, 48 + 7 * 999]);
	});
});

test("sizes vary in a matrix, and bytes of a backlog count the mean", () => {
	const plans = expand(
		loadScenario(
			"s.yaml",
			"system: { broker: nats, mode: jetstream }\nworkload: { rate: 1000/s, duration: 100s, pattern: backlog, backlog: 10MB }\nmatrix: { message: [1000B, { 500B: 50%, 1500B: 50% }] }",
		),
		{},
	);
	expect(plans.map(({ case: name }) => name)).toEqual(["1KB", "50% 500B, 50% 1500B"]);
	expect(plans.map(({ backlog }) => backlog?.messages)).toEqual([10_000, 10_000]);
});

/** Up to z, by Simpson's rule. */
function integral(z: number): number {
	const [from, n] = [-9, 2000];
	const h = (z - from) / n;
	const density = (x: number) => Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);
	let sum = density(from) + density(z);
	for (let k = 1; k < n; k++) sum += density(from + k * h) * (k % 2 === 1 ? 4 : 2);
	return (sum * h) / 3;
}
