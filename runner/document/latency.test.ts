import { expect, test } from "vitest";
import { fixtureResult } from "../result/stored.fake.ts";
import { held } from "./latency.ts";

function run(of: (at: number) => number[] | null | undefined) {
	const [one] = fixtureResult("stall").runs;
	if (one === undefined) throw new Error("no run");
	const ticks = one.series.ticks.map((t) => {
		const some = of(t.at);
		return some === undefined ? t : { ...t, held: some };
	});
	return { ...one, series: { ...one.series, ticks } };
}
const zeros = () => Array<number>(10).fill(0);

test("what the client library held is told by its most and how long it was much", () => {
	const one = run((at) => (at === 6 ? [0, 0, 100, 200, 490, 90, 10, 0, 0, 0] : zeros()));
	expect(held(one)).toMatchObject([
		{
			text: "the client library held messages back: 490 at 4.5s, the most, and more than 10 in 4 % of the window",
		},
	]);
});

test("of consumers that work it is no fault of the library", () => {
	const one = run(() => zeros().fill(80));
	const work = { meanNs: 1e7, distribution: "constant" as const };
	expect(held({ ...one, load: { ...one.load, work } })).toMatchObject([
		{
			text: expect.stringMatching(
				/^messages waited in the client library for the consumers' work: 80 at/,
			),
		},
	]);
});

test("that of the warm-up is not of the window", () => {
	expect(held(run((at) => (at === 1 ? [900] : zeros())))).toEqual([]);
});

test("nothing is said where it held a handful, or nobody knows", () => {
	for (const some of [zeros().fill(10), null, undefined]) expect(held(run(() => some))).toEqual([]);
});
