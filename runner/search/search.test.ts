import { describe, expect, test } from "vitest";
import {
	type Answer,
	CURVE,
	type Found,
	next,
	type Outcome,
	PRECISION,
	rounded,
	type Step,
} from "./search.ts";

/** Plays a search against a system. */
function search(
	start: number,
	system: (step: Step, times: number) => Outcome,
): { answer: Answer; found: Found[] } {
	const found: Found[] = [];
	for (let i = 0; i < 200; i++) {
		const what = next(start, found);
		if ("answer" in what) return { answer: what.answer, found };
		const times = found.filter(
			(f) => f.step.rate === what.step.rate && f.step.role === what.step.role,
		).length;
		found.push({ step: what.step, outcome: system(what.step, times) });
	}
	throw new Error("the search does not end");
}

const upTo =
	(limit: number) =>
	({ rate }: Step): Outcome =>
		rate <= limit ? "pass" : "fail";

describe("a system that carries so much and no more", () => {
	test.each([
		[1000, 37_300],
		[1000, 1000],
		[1000, 999],
		[50_000, 1234],
		[10, 400_000],
		[1000, 16],
	])("from %d/s on, a limit of %d/s is found to 5 %%", (start, limit) => {
		const { answer } = search(start, upTo(limit));
		expect(answer).toMatchObject({ limitedBy: "system", confirmed: true });
		const { lo, hi } = answer as { lo: number; hi: number };
		expect(lo).toBeLessThanOrEqual(limit);
		expect(hi).toBeGreaterThan(limit);
		expect(hi / lo).toBeLessThanOrEqual(limit < 100 ? 1.5 : PRECISION * 1.005);
	});

	test("takes about a dozen rates to find", () => {
		const { found } = search(1000, upTo(37_300));
		const rates = new Set(found.filter((f) => f.step.role === "probe").map((f) => f.step.rate));
		expect(rates.size).toBeLessThanOrEqual(12);
	});

	test("is measured at parts of the answer afterwards", () => {
		const { answer, found } = search(1000, upTo(20_000));
		const curve = found.filter((f) => f.step.role === "curve");
		expect(curve.map((f) => f.step.rate)).toEqual(
			CURVE.map((part) => rounded((answer.lo ?? 0) * part)),
		);
	});
});

test("a rate that fails once by accident and then passes twice counts as passed", () => {
	const { answer } = search(1000, (step, times) =>
		step.rate === 2000 && times === 0 ? "fail" : upTo(3000)(step),
	);
	expect(answer.lo).toBeGreaterThan(2800);
});

test("a rate that fails two times of three counts as failed", () => {
	const { answer } = search(1000, (step, times) =>
		step.rate === 2000 ? (times === 1 ? "pass" : "fail") : upTo(1900)(step),
	);
	expect(answer.hi).toBeLessThanOrEqual(2000);
});

test("a generator that cannot go on leaves the highest rate that passed, and says who ended it", () => {
	const { answer } = search(1000, ({ rate }) => (rate > 10_000 ? "invalid" : "pass"));
	expect(answer).toEqual({ lo: 8000, hi: null, limitedBy: "generator", confirmed: true });
});

test.each([
	["carries no more", 300, 300, { lo: 250, hi: null, limitedBy: "generator", confirmed: true }],
	["carries more than the system", 600, 300, { limitedBy: "system", confirmed: true }],
	["carries nothing", 0, 300, { lo: null, hi: null, limitedBy: "generator" }],
	["is only slow at first", 600, 0, { lo: null, limitedBy: "system" }],
] as const)(
	"a first rate that the generator cannot make is halved like one that fails: it %s",
	(_, generator, system, expected) => {
		const { answer, found } = search(1000, (step) =>
			step.rate > generator ? "invalid" : upTo(system)(step),
		);
		expect(answer).toMatchObject(expected);
		expect(found.slice(0, 3).map((f) => f.step.rate)).toEqual([1000, 1000, 500]);
		if (answer.lo === null) expect(found.at(-1)?.step.rate).toBe(15.7);
		if (expected.limitedBy === "system" && answer.lo !== null)
			expect([answer.lo <= 300, (answer.hi ?? 0) / answer.lo <= PRECISION]).toEqual([true, true]);
	},
);

test("one run that says nothing is made again before the generator is blamed", () => {
	const { answer } = search(1000, (step, times) =>
		step.rate === 4000 && times === 0 ? "invalid" : upTo(20_000)(step),
	);
	expect(answer.limitedBy).toBe("system");
	expect(answer.lo).toBeGreaterThan(18_000);
});

test("a system that fails at every rate has no answer, and is not asked below 1 % of the first one", () => {
	const { answer, found } = search(1000, () => "fail");
	expect(answer).toMatchObject({ lo: null, limitedBy: "system" });
	const rates = found.map((f) => f.step.rate);
	expect(Math.min(...rates)).toBeGreaterThanOrEqual(10);
	expect(Math.min(...rates)).toBeLessThan(20);
});

test("a system that never fails ends the search at the highest rate", () => {
	const { answer } = search(1000, () => "pass");
	expect(answer).toMatchObject({ hi: null, limitedBy: "nothing" });
	expect(answer.lo).toBeGreaterThan(10_000_000);
});

test("an answer that a longer run does not confirm is lowered, by 5 % at a time", () => {
	const { answer } = search(1000, (step) =>
		step.role === "confirm" ? upTo(18_500)(step) : upTo(20_000)(step),
	);
	expect(answer).toMatchObject({ confirmed: true });
	expect(answer.lo).toBeLessThanOrEqual(18_500);
	expect(answer.lo).toBeGreaterThan(18_500 * 0.9);
	expect(answer.hi).toBeGreaterThan(18_500);
});

test("an answer that is not confirmed four times is none", () => {
	const { answer } = search(1000, (step) =>
		step.role === "confirm" ? "fail" : upTo(20_000)(step),
	);
	expect(answer).toMatchObject({ lo: null, confirmed: false });
});

test("a run that cannot be made ends the search with what was found until then", () => {
	const { answer } = search(1000, ({ rate }) => (rate > 3000 ? "error" : "pass"));
	expect(answer).toMatchObject({ lo: 2000, limitedBy: "error" });
});

test("a confirmation that the generator spoiled (invalid) says nothing of the system: hi is what the probes found", () => {
	let confirms = 0;
	const { answer } = search(1000, ({ rate, role }) =>
		role === "confirm" && confirms++ === 0 ? "invalid" : rate <= 20_000 ? "pass" : "fail",
	);
	// The system carries 20 000/s; nothing below it ever failed.
	expect(answer.hi).toBeGreaterThan(20_000);
});

test("four spoiled confirmations are not 'no rate meets the SLA'", () => {
	const { answer } = search(1000, ({ rate, role }) =>
		role === "confirm" ? "invalid" : rate <= 20_000 ? "pass" : "fail",
	);
	expect(answer.limitedBy).toBe("generator");
});
