import { describe, expect, test } from "vitest";
import type { Run } from "../model/result.ts";
import { check } from "../render/hostile.fake.ts";
import { runOf as run } from "./standing.fake.ts";
import { lowestOf, ratioText, type Standing, standingOf } from "./standing.ts";

function standing(...repeats: readonly Run[]): Standing {
	const one = standingOf(repeats);
	if (one === null) throw new Error("no run");
	return one;
}

const FULL: Partial<Run> = { validity: [check("cores")] };

test.each<[what: string, repeats: readonly Run[], low: number | null, high: number | null]>([
	["its own", [run(200, [190, 210])], 190, 210],
	["from the lowest to the highest", [run(197, [190, 205]), run(277, [231, 337])], 190, 337],
	["without an end, as one has none", [run(197, [190, null]), run(277, [231, 337])], 190, null],
	["without an end beyond the timeout", [run(1), run(277, [231, 337]), run(null)], 1, null],
	["the value of one without", [run(100), run(277, [231, 337]), run(400, [390, 410])], 100, 410],
	["none where the one that decides has none", [run(200)], null, null],
])("the interval of repeats is %s", (_, repeats, low, high) => {
	const { p99 } = standing(...repeats);
	expect([p99.low, p99.high]).toEqual([low, high].map((us) => us && us * 1000));
});

describe("two standings", () => {
	const slow = standing(run(300, [290, 310]), run(310, [300, 320]));

	test("overlap where any of their repeats do, not only those that decide", () => {
		const steady = standing(run(200, [190, 210]), run(210, [200, 220]));
		const scattered = standing(run(200, [190, 210]), run(210, [200, 220]), run(295, [291, 299]));
		expect(ratioText(slow, steady)).toBe("1.48x");
		expect(ratioText(slow, scattered)).toBe("1.48x, overlaps");
	});

	test("are not compared where one has no interval", () => {
		expect(ratioText(slow, standing(run(31)))).toBe("10x, no interval");
	});
});

describe("the lowest", () => {
	const fast = standing(run(100, [90, 110]), run(100, [90, 110], FULL));
	const [middle, slow] = [200, 300].map((p99) => standing(run(p99)));

	test("is one whose machine was never at its end, in any repeat", () => {
		if (!middle || !slow) throw new Error("no run");
		expect(fast.saturated).toBe(true);
		expect(lowestOf([fast, slow, middle])).toBe(middle);
		expect(ratioText(fast, middle)).toBeNull();
	});

	test("is nobody where fewer than two are left", () => {
		if (!middle) throw new Error("no run");
		expect(lowestOf([fast, middle])).toBeNull();
		expect(lowestOf([])).toBeNull();
	});

	test("is nobody where the systems are judged by different metrics", () => {
		const other = standing(run(50, [40, 60], { main: "ack" }));
		if (!middle || !slow) throw new Error("no run");
		expect(lowestOf([middle, slow, other])).toBeNull();
	});
});
