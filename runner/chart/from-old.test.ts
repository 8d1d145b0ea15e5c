import { describe, expect, test } from "vitest";
import { figuresOf, listOf } from "../figures/figures.ts";
import { FIXTURES, searchedResult } from "../page/pages.fake.ts";
import { fixtureResult, publishedOnce } from "../result/stored.fake.ts";
import { fromOld } from "./from-old.ts";

const PUBLISHED = ["nats-stall", "message-queue-latency", "commit-log-latency"];

describe.each([
	...FIXTURES.map((name) => [name, () => fixtureResult(name)] as const),
	...PUBLISHED.map((name) => [name, () => publishedOnce(name)] as const),
	["search", searchedResult] as const,
])("the figures of %s in the new grammar", (_, result) => {
	test("are plain data, with ascending x and keys of their own", () => {
		for (const figure of listOf(figuresOf(result())).map(fromOld)) {
			expect(JSON.parse(JSON.stringify(figure))).toEqual(figure);
			for (const { series } of figure.panels) {
				expect(new Set(series.map(({ key }) => key)).size).toBe(series.length);
				for (const { data } of series)
					expect(data.map(({ x }) => x)).toEqual(data.map(({ x }) => x).toSorted((a, b) => a - b));
			}
		}
	});
});
