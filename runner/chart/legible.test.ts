import { describe, expect, test } from "vitest";
import { figuresOf } from "../figures/figures.ts";
import { FIXTURES, hostileResult, searchedResult } from "../page/pages.fake.ts";
import { readResult } from "../result/result-files.ts";
import { fixtureResult, publishedFolder, publishedOnce } from "../result/stored.fake.ts";
import type { Figure } from "./figure.ts";
import { firstView } from "./option.ts";
import { overlaps, textsOf } from "./svg.fake.ts";
import { svgOf } from "./svg.ts";

const PUBLISHED = ["nats-stall", "message-queue-latency", "commit-log-latency"];
const RESULTS = [
	...FIXTURES.map((name) => [name, () => fixtureResult(name)] as const),
	...PUBLISHED.map((name) => [name, () => publishedOnce(name)] as const),
	// Three repeats of a system end at the same place, as each loses half of its messages.
	[
		"all repeats of dissecting-message-queues",
		() => readResult(publishedFolder("dissecting-message-queues")),
	] as const,
	["search", searchedResult] as const,
	["hostile", hostileResult] as const,
];
/** They have most kinds of charts, and the longest names; acceptance has the others. */
const SHORT = ["failover", "stall", "hostile", "message-queue-latency"];

describe.each(RESULTS)("the pictures of %s", (name, result) => {
	const tags = SHORT.includes(name) ? [] : ["long"];
	// Runs of the same shape have the same pictures: the first of each kind and number of lines.
	const figures = () => {
		const all = figuresOf(result());
		return [...new Map(all.map((f) => [shapeOf(f), f])).values()];
	};

	// Texts and their places are the same in both themes: see below.
	test("390 and 1200 wide have no text outside of them, and none over another", { tags }, () => {
		for (const [figure, width] of figures().flatMap((f) => [
			[f, 390] as const,
			[f, 1200] as const,
		])) {
			const view = firstView(figure, "light", width);
			const { height } = view;
			const texts = textsOf(svgOf(figure, view));
			expect(texts.length).toBeGreaterThan(5);
			expect({
				id: figure.id,
				over: overlaps(texts),
				outside: texts
					.filter(
						({ left, right, top, bottom }) =>
							left < 0 || right > width || top < 0 || bottom > height,
					)
					.map(({ text }) => text),
			}).toEqual({ id: figure.id, over: [], outside: [] });
		}
	});
});

test("the texts of a picture stand at the same places in both themes", () => {
	for (const figure of figuresOf(fixtureResult("stall"))) {
		const [light, dark] = (["light", "dark"] as const).map((theme) =>
			textsOf(svgOf(figure, firstView(figure, theme))),
		);
		expect(light).toEqual(dark);
	}
});

/** Of small multiples the number of lines counts, and of charts over rate. */
function shapeOf({ id, x, panels }: Figure): string {
	const lines = x.scale === "seconds" ? 0 : panels.flatMap(({ series }) => series).length;
	return [x.scale, panels.length, lines, id.slice(0, 5), id.endsWith("-heat")].join();
}
