import { expect, test } from "vitest";
import { baselineWith } from "../compare/baseline.fake.ts";
import { comparingOf } from "../compare/comparing.ts";
import { intervalText, ratioOfText } from "../compare/words.ts";
import { comparedFigures } from "./comparison.ts";

const [p50, p99] = [
	[1e5, 1.1e5, 1.2e5, 1e5, 1e5],
	[9e5, 8e5, 7e5, 9e5, 8e5],
] as const;
const side = (path: string, factor: number) => ({
	path,
	baseline: baselineWith({ "response p50": p50, "response p99": p99.map((v) => v * factor) }),
});
const comparing = comparingOf(side("a", 1), side("b", 1.6));
const { comparisons } = comparing;

test("every ratio stands with its interval, in the words of the table", () => {
	const [figure] = comparedFigures(comparing);
	expect(figure?.x.names).toEqual(comparisons.map(({ metric }) => metric));
	const [ratio, margin] = figure?.panels[0]?.series ?? [];
	for (const [i, { low, high }] of (margin?.data ?? []).entries()) {
		const allowed = 1 + (comparisons[Math.floor(i / 2)]?.margin ?? 0);
		expect([low, high]).toEqual([1 / allowed, allowed]);
	}
	for (const [i, c] of comparisons.entries()) {
		expect(ratio?.data[i]).toMatchObject({ x: i, y: c.ratio, low: c.low, high: c.high });
		expect(ratio?.data[i]?.text).toContain(`${ratioOfText(c)} ${intervalText(c)}`);
	}
	expect(ratio?.data.map(({ look }) => look)).toContain("fail");
});
