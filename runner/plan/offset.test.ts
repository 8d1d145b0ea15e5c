import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Sizes } from "../model/sizes.ts";
import { parseRate, type Rate } from "../units.ts";
import { ARRIVALS, drawSource, exponential } from "./draw.ts";
import { messagesBefore, offsetNs, type Shape } from "./offset.ts";
import { cycleOf } from "./sizes.ts";

interface Row {
	rate: string;
	messages: number;
	perNs: number;
}
const table: {
	offset: (Row & { i: number; ns: number })[];
	before: (Row & { ns: number; count: number })[];
	shapes: {
		about: string;
		shape: Exclude<Shape, Rate>;
		offset: [i: number, ns: number][];
		before: [ns: number, count: number][];
	}[];
	exponential: { seed: number; i: number; value: number }[];
	sizes: (Pick<Sizes, "runs" | "shuffled"> & { seed: number; at: [i: number, bytes: number][] })[];
} = JSON.parse(readFileSync(new URL("./offset.table.json", import.meta.url), "utf8"));

test.each(table.offset)("at $rate message $i is due at $ns ns", (row) => {
	expect(parseRate(row.rate)).toEqual({ messages: row.messages, perNs: row.perNs });
	expect(offsetNs(row, row.i)).toBe(row.ns);
});

test.each(table.before)("at $rate $count messages are due before $ns ns", (row) => {
	expect(messagesBefore(row, row.ns)).toBe(row.count);
});

describe.each(table.shapes)("$about", ({ shape, offset, before }) => {
	test.each(offset)("message %i is due at %i ns", (i, ns) => {
		expect(offsetNs(shape, i)).toBe(ns);
	});

	test.each(before)("before %i ns %i messages are due", (ns, count) => {
		expect(messagesBefore(shape, ns)).toBe(count);
	});
});

test.each(table.exponential)("random number $i of seed $seed is $value", (row) => {
	expect(exponential(drawSource(row.seed, ARRIVALS), row.i)).toBe(row.value);
});

describe.each(table.sizes)("sizes of seed $seed", ({ seed, at, ...sizes }) => {
	const clamped = { below: 0, above: 0 };
	const cycle = cycleOf({ ...sizes, text: "", classes: [], meanBytes: 1, clamped }, seed);
	test.each(at)("message %i has %i bytes", (i, bytes) => {
		expect(cycle[i % cycle.length]).toBe(bytes);
	});
});

describe("by hand", () => {
	test("3000/s is a third of a millisecond, cut to whole ns, and meets the second exactly", () => {
		const rate = parseRate("3000/s");
		expect([0, 1, 2, 3, 2999, 3000].map((i) => offsetNs(rate, i))).toEqual([
			0, 333_333, 666_666, 1_000_000, 999_666_666, 1_000_000_000,
		]);
	});

	test("90/min is one in 666 666 666.67 ns", () => {
		const rate = parseRate("90/min");
		expect([1, 2, 3].map((i) => offsetNs(rate, i))).toEqual([
			666_666_666, 1_333_333_333, 2_000_000_000,
		]);
	});

	test("no drift after 100 hours: 360 million messages at 1000/s end on the hour", () => {
		expect(offsetNs(parseRate("1000/s"), 360_000_000)).toBe(360_000 * 1e9);
	});

	test("the quick start has 45 000 messages, 15 000 of them warm-up", () => {
		const rate = parseRate("3000/s");
		expect(messagesBefore(rate, 15e9)).toBe(45_000);
		expect(messagesBefore(rate, 5e9)).toBe(15_000);
	});
});

describe("for any rate", () => {
	const rates = ["3000/s", "7/3s", "90/min", "100001/s", "33.3/s", "10000000/s"].map(parseRate);

	test("offsets never go back, and never differ from the ideal by a whole ns", () => {
		for (const rate of rates)
			for (let i = 1; i < 1e6; i = i * 3 + 1) {
				const ns = offsetNs(rate, i);
				expect(ns).toBeGreaterThanOrEqual(offsetNs(rate, i - 1));
				const remainder = BigInt(i) * BigInt(rate.perNs) - BigInt(ns) * BigInt(rate.messages);
				expect(remainder >= 0n && remainder < BigInt(rate.messages)).toBe(true);
			}
	});

	test("messagesBefore counts exactly the offsets below a time", () => {
		for (const rate of rates)
			for (let ns = 1; ns < 1e13; ns = ns * 7 + 3) {
				const count = messagesBefore(rate, ns);
				expect(offsetNs(rate, count)).toBeGreaterThanOrEqual(ns);
				if (count > 0) expect(offsetNs(rate, count - 1)).toBeLessThan(ns);
			}
	});

	test("a time that a number cannot hold exactly is refused, not rounded", () => {
		expect(() => offsetNs(parseRate("1/h"), 1e9)).toThrow(RangeError);
	});

	test("a plan's schedule of constant kind is its rate", () => {
		for (const rate of rates) {
			const shape = constant(rate);
			for (const i of [0, 1, 999, 1_234_567]) expect(offsetNs(shape, i)).toBe(offsetNs(rate, i));
			expect(messagesBefore(shape, 7e9)).toBe(messagesBefore(rate, 7e9));
		}
	});
});

describe("for any shape", () => {
	test("messagesBefore counts exactly the offsets below a time", () => {
		for (const { shape } of table.shapes)
			for (let ns = 1; ns < offsetNs(shape, 1000); ns = ns * 3 + 7) {
				const count = messagesBefore(shape, ns);
				expect(offsetNs(shape, count)).toBeGreaterThanOrEqual(ns);
				if (count > 0) expect(offsetNs(shape, count - 1)).toBeLessThan(ns);
			}
	});

	test("nothing is due before T0", () => {
		for (const { shape } of table.shapes)
			expect([messagesBefore(shape, 0), messagesBefore(shape, -1)]).toEqual([0, 0]);
	});

	test("a poisson schedule is the same in whichever order it is asked, and by its side", () => {
		const one = { ...constant(parseRate("3000/s")), kind: "poisson", seed: 77 } as const;
		const other = { ...one, seed: 78 };
		const indices = [0, 500_000, 1023, 1024, 3, 499_999, 70_000];
		const first = indices.map((i) => offsetNs(one, i));
		const second = indices.toReversed().map((i) => {
			expect(offsetNs(other, i)).not.toBe(offsetNs(one, i));
			return offsetNs({ ...one }, i);
		});
		expect(second.toReversed()).toEqual(first);
	});

	test("poisson keeps the rate: 15 000 in 5 s, give or take four standard deviations", () => {
		for (let seed = 0; seed < 20; seed++) {
			const shape = { ...constant(parseRate("3000/s")), kind: "poisson", seed } as const;
			expect(Math.abs(messagesBefore(shape, 5e9) - 15_000)).toBeLessThan(490);
		}
	});

	test("a closed load has no offsets, and says so", () => {
		const closed = { kind: "closed", rate: null, seed: 0, pieces: [] } as const;
		expect(() => offsetNs({ ...closed, pieces: [] }, 0)).toThrow("no intended times");
	});
});

function constant(rate: Rate) {
	return { kind: "constant" as const, rate, seed: 0, pieces: [] };
}
