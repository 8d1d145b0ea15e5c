import { describe, expect, test } from "vitest";
import type { Result, Run } from "../model/result.ts";
import { rendered } from "../render/rendered.fake.ts";
import { saturatedBy } from "./select.ts";
import { fixtureResult } from "./stored.fake.ts";

type Check = Run["validity"][number];

/** Two systems with three repeats; `checks` are those of the first run. */
function withChecks(...checks: Partial<Check>[]): Result {
	const result = fixtureResult("repeats");
	const [first] = result.runs as [Run];
	const [some] = first.validity as [Check];
	first.validity = checks.map((check) => ({ ...some, code: undefined, ...check }));
	return result;
}

function texts(result: Result): string[] {
	const { text, markdown, html } = rendered(result);
	return [text, markdown, html.replaceAll(/<[^>]*>/g, "")].map((one) =>
		one.replaceAll(/\s+/g, " "),
	);
}

const NOT_RANKED =
	/\* machine or load generator was at its end \(cores\).* rank it neither before nor behind another/;

describe("a case whose machine or load generator was at its end", () => {
	test("is marked in its row, and not ranked", () => {
		const result = withChecks({ check: "cores", status: "warn" });
		const { system, repeat } = result.runs[0] as Run;
		for (const text of texts(result)) {
			expect(text).toMatch(NOT_RANKED);
			expect(text).toMatch(new RegExp(`${system} \\(${repeat}\\) \\\\?\\*`));
		}
	});

	test.each([
		["cores", "warn", true],
		["cores", "invalid", true],
		["cores", "unknown", false],
		["cpuQuota", "warn", true],
		["ownCpu", "warn", true],
		["lag", "warn", false],
		["lag", "invalid", true],
		["offered", "invalid", true],
		["held", "warn", false],
		["held", "invalid", true],
		["others", "warn", false],
		["floor", "warn", false],
		["clock", "invalid", false],
	] as const)("%s with the status %s: %s", (check, status, saturated) => {
		const [run] = withChecks({ check, status }).runs as [Run];
		expect(saturatedBy(run)).toEqual(saturated ? [check] : []);
	});

	test("is also a closed load near what the generator carries without any system", () => {
		const near = { check: "floor", status: "warn", code: "ceiling-near" } as const;
		const [run] = withChecks(near).runs as [Run];
		expect(saturatedBy(run)).toEqual(["floor"]);
	});
});
