import { expect, test } from "vitest";
import { costOf, costText, dollars } from "./cost-text.ts";

const MINUTE = 60e9;

test("without a plan there is an hour and the most", () => {
	expect(costText({ hourlyUsd: 4.104, unpriced: null, plannedNs: null, ttlNs: 90 * MINUTE })).toBe(
		"about $4.10 an hour without internet traffic, at most $6.16 until they end themselves (90min)",
	);
});

test.each([
	// 6 x 20 s / 3600 s would be 0.0333...; AWS bills a whole minute: 6 / 60.
	[6, 20e9, 0.1],
	[6, MINUTE, 0.1],
	[6, 90e9, 0.15],
	[0.96, 75 * MINUTE, 1.2],
])("%s USD an hour for %s ns are %s USD", (hourly, ns, usd) => {
	expect(costOf(hourly, ns)).toBeCloseTo(usd, 12);
});

test.each([
	[0, "$0.00"],
	[0.005, "$0.005"],
	[0.00178, "$0.0018"],
	[0.0000004, "$0.0000004"],
	[0.094, "$0.094"],
	[0.0999, "$0.10"],
	[1.874, "$1.87"],
	[1234.5, "$1234.50"],
])("%s USD read %s", (usd, text) => {
	expect(dollars(usd)).toBe(text);
});
