import { describe, expect, test } from "vitest";
import { climb } from "./ladder.ts";

/** Carries up to `most`, and notes which rates were tried. */
function system(most: number) {
	const tried: number[] = [];
	const run = async (rate: number) => {
		tried.push(rate);
		return { problem: rate <= most ? null : "too fast" };
	};
	return { tried, run };
}

const UP = [1_000, 5_000, 20_000, 50_000, 100_000];

describe("climbing from 20000", () => {
	test.each([
		["stops at the first problem", 60_000, 50_000, 100_000, [20_000, 50_000, 100_000]],
		["reaches the top", 1e6, 100_000, undefined, [20_000, 50_000, 100_000]],
		["begins at the bottom if 20000 is too much", 6_000, 5_000, 20_000, [20_000, 1_000, 5_000]],
		["stops below 20000 too", 2_000, 1_000, 5_000, [20_000, 1_000, 5_000]],
		["finds nothing", 10, undefined, 1_000, [20_000, 1_000]],
	])("%s", async (_, most, carried, tooHigh, rates) => {
		const { run, tried } = system(most);
		const found = await climb(UP, 20_000, run);
		expect([found.carried?.rate, found.tooHigh?.rate]).toEqual([carried, tooHigh]);
		expect(tried).toEqual(rates);
	});
});
