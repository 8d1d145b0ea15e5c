import { expect, test } from "vitest";
import { rank } from "../../stats/support.ts";
import { formatDuration } from "../../units.ts";
import type { HeatFigure } from "./figure.ts";
import { stretchTexts } from "./stretch.ts";

const bins = [1e5, 2e5, 4e5, 8e5, 1.6e6];

/** Second by second: latencies in ns. */
function heatOf(
	seconds: readonly (readonly number[])[],
	missing: HeatFigure["unfinished"]["stretches"] = [],
): HeatFigure {
	const cells = seconds.flatMap((values, second) =>
		bins.flatMap((low, bin): [number, number, number][] => {
			const count = values.filter((v) => v >= low && v < low * 2).length;
			return count === 0 ? [] : [[second, bin, count]];
		}),
	);
	return {
		kind: "heat",
		id: "h",
		title: "",
		facts: "",
		description: "",
		bins,
		end: 3.2e6,
		width: 1,
		from: 0,
		to: seconds.length,
		cells,
		limits: [],
		unfinished: { stretches: missing, beyond: "> 30s", unplaced: null },
	};
}

const seconds = [0, 1, 2, 3].map((second) =>
	Array.from({ length: 200 }, (_, i) => 1e5 * (1 + ((i * 7919 + second * 104729) % 3000) / 100)),
);

test("a stretch holds the messages of its seconds, and each percentile lies between the edges that are told", () => {
	const sorted = [...(seconds[1] ?? []), ...(seconds[2] ?? [])].sort((a, b) => a - b);
	const [text = ""] = stretchTexts(heatOf(seconds), { slowest: [] }, [1, 3]);
	expect(text).toContain("1s to 3s: 400 messages");
	for (const p of [50, 90, 99]) {
		const value = sorted[rank(400, p) - 1] ?? 0;
		const low = bins.findLast((edge) => edge <= value) ?? 0;
		expect(text).toContain(`p${p} ${formatDuration(low)} to ${formatDuration(low * 2)}`);
	}
});

test("a message that never completed is slower than all, and counted", () => {
	const never = [{ from: 1, to: 2, count: 300, due: 500, beyond: [], longest: null }];
	const [text = ""] = stretchTexts(heatOf(seconds, never), { slowest: [] }, [1, 2]);
	expect(text).toContain("500 messages");
	expect(text).toContain("p50 > 30s");
	expect(text).toContain("300 never completed");
	expect(stretchTexts(heatOf(seconds, never), { slowest: [] }, [2, 3])[0]).not.toContain("never");
});

test("of the slowest messages those are told that were due in it, and of an empty stretch nothing", () => {
	const slowest = [
		{ second: 3.2, text: "the slowest" },
		{ second: 1.5, text: "the second" },
	];
	expect(stretchTexts(heatOf(seconds), { slowest }, [1, 2]).slice(1)).toEqual([
		"at 1.5s: the second",
	]);
	expect(stretchTexts(heatOf(seconds), { slowest }, [7, 8])).toEqual([]);
});

test("a column in which nothing completed is part of the stretch, with its slow messages", () => {
	const never = [{ from: 4, to: 6, count: 400, due: 400, beyond: [], longest: null }];
	const slowest = [{ second: 4.5, text: "a slow one" }];
	const texts = stretchTexts(heatOf(seconds, never), { slowest }, [3, 6]);
	expect(texts[0]).toContain("3s to 6s: 600 messages");
	expect(texts).toContain("at 4.5s: a slow one");
});
