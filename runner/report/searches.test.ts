import { describe, expect, test } from "vitest";
import type { Plan } from "../model/plan.ts";
import type { Result, Run } from "../model/result.ts";
import type { Verdict } from "../model/verdict.ts";
import { planOf } from "../run/built.fake.ts";
import { outcomeOf, searchRuns } from "../search/runs.ts";
import { renderHtml } from "./html.ts";
import { renderMarkdown } from "./markdown.ts";
import { type SearchRun, searchesOf } from "./searches.ts";
import { fixtureResult } from "./stored.fake.ts";
import { renderTerminal } from "./terminal.ts";

const healthy = fixtureResult("healthy");
const start = planOf({ search: { role: "start", of: "1KiB" }, case: "1KiB" });

/** The runs of a search whose verdicts `of` gives, as a report sees them. */
function runsOf(of: (perSecond: number) => Verdict): SearchRun[] {
	const all: SearchRun[] = [];
	const judge = (plan: Plan) =>
		outcomeOf(of(plan.schedule.rate?.messages ?? 0));
	for (const plan of searchRuns(start, 1, judge))
		all.push({
			collected: { plan },
			verdict: { verdict: of(plan.schedule.rate?.messages ?? 0) },
			run: {
				...(healthy.runs[0] as Run),
				index: plan.index,
				case: plan.case,
				search: plan.search,
			},
		});
	return all;
}

const upTo5000 = (rate: number): Verdict => (rate <= 5000 ? "pass" : "fail");

test("what a search found is computed again from its runs", () => {
	const [search, ...others] = searchesOf(runsOf(upTo5000));
	expect(others).toEqual([]);
	expect(search).toMatchObject({
		case: "1KiB",
		verdict: "pass",
		limitedBy: "system",
		confirmed: true,
	});
	expect(search?.lo).toBeLessThanOrEqual(5000);
	expect(search?.hi).toBeGreaterThan(5000);
	expect(search?.answer).toMatch(
		/^4 \d{3}\/s meets the SLA, confirmed by a longer run; 5 \d{3}\/s does not$|^5 000\/s meets/,
	);
});

test("its runs are listed by rate, each with its own verdict", () => {
	const [search] = searchesOf(runsOf(upTo5000));
	const rates = search?.runs.map((run) => run.rate) ?? [];
	expect(rates).toEqual(rates.toSorted((a, b) => a - b));
	for (const run of search?.runs ?? [])
		expect(run.verdict).toBe(upTo5000(run.rate));
});

test.each<[string, (rate: number) => Verdict, Verdict, RegExp]>([
	["no rate passes", () => "fail", "fail", /no rate meets the SLA/],
	[
		"the generator ends it",
		(rate) => (rate > 3000 ? "invalid" : "pass"),
		"pass",
		/at least 2 000\/s meets .*generator-limited/,
	],
	[
		"the generator cannot even begin",
		() => "invalid",
		"invalid",
		/the load generator or its consumers were too slow for every rate/,
	],
	[
		"a run cannot be made",
		(rate) => (rate > 3000 ? "error" : "pass"),
		"error",
		/then a run could not be made/,
	],
])("when %s, the answer says so", (_, of, verdict, answer) => {
	const [search] = searchesOf(runsOf(of));
	expect(search).toMatchObject({
		verdict,
		answer: expect.stringMatching(answer),
	});
});

describe("a report", () => {
	const runs = runsOf(upTo5000);
	const result: Result = {
		...healthy,
		gates: [],
		runs: runs.map(({ run }) => run),
		searches: searchesOf(runs),
	};
	const texts = [
		renderTerminal(result, { columns: 80, colour: false, folder: "x" }),
		renderMarkdown(result),
		renderHtml(result),
	];

	test("says the answer everywhere, and shows every run in one table", () => {
		for (const text of texts) {
			expect(text).toContain("Highest rate of");
			expect(text).toContain("confirmed");
			for (const { rate } of result.searches[0]?.runs ?? [])
				expect(text).toContain(
					`${rate.toLocaleString("en").replace(",", " ")}/s`,
				);
		}
	});

	test("does not show probes as runs of their own", () => {
		for (const text of texts) expect(text).not.toContain("(probe)");
	});
});
