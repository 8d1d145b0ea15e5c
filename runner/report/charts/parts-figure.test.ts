import { expect, test } from "vitest";
import type { Run } from "../../model/result.ts";
import { partsText } from "../breakdown.ts";
import { fixtureResult } from "../stored.fake.ts";
import { partsFigure } from "./parts-figure.ts";

const result = fixtureResult("stall");
type Parts = NonNullable<Run["breakdown"]>;

function figureOf(breakdown: Parts | undefined) {
	const run = { ...(result.runs[0] as Run), breakdown } as Run;
	return { run, figure: partsFigure("parts", run, result) };
}

const of = (p: number, queued: number, lag: number, service: number) => ({
	p,
	queued,
	lag,
	service,
	response: queued + lag + service,
	messages: 17,
	from: 1e8,
	to: 1e9,
});

test("the shares of a percentile are those of its means, and add up to all of it", () => {
	const parts = [of(50, 0, 5e4, 15e4), of(99, 4e8, 1e6, 9e6), of(100, 1, 2, 3)];
	const { run, figure } = figureOf(parts);
	expect(figure?.rows.map(({ name }) => name)).toEqual(["p50", "p99", "max"]);
	for (const [i, { shares, sentence }] of (figure?.rows ?? []).entries()) {
		const one = parts[i] as Parts[number];
		expect(shares.reduce((a, b) => a + b, 0)).toBeCloseTo(100, 1);
		expect(shares[0]).toBeCloseTo((100 * (one.queued ?? 0)) / (one.response ?? 1), 1);
		expect(sentence).toBe(partsText(run, one));
	}
});

test("a percentile among those that never completed has no bar, nor has one whose clocks disagree", () => {
	const never = { p: 99.9, messages: 0, from: null, to: null };
	const nothing = { response: null, queued: null, lag: null, service: null };
	const { figure } = figureOf([
		of(50, 0, 1e3, 1e6),
		of(90, 0, 1e6, -1e5),
		{ ...never, ...nothing },
	]);
	expect(figure?.rows.map(({ name }) => name)).toEqual(["p50"]);
	expect(figureOf([]).figure).toBeNull();
	expect(figureOf(undefined).figure).toBeNull();
});
