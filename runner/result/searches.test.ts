import { describe, expect, test } from "vitest";
import { planOf } from "../evidence/built.fake.ts";
import type { Plan } from "../model/plan.ts";
import type { Result, Run } from "../model/result.ts";
import type { Verdict } from "../model/verdict.ts";
import { check } from "../render/hostile.fake.ts";
import { rendered } from "../render/rendered.fake.ts";
import { outcomeOf, searchRuns } from "../search/runs.ts";
import type { Judgement } from "../verdict/judgement.ts";
import { type SearchRun, searchesOf } from "./searches.ts";
import { fixtureResult } from "./stored.fake.ts";

const healthy = fixtureResult("healthy");
const start = planOf({ search: { role: "start", of: "1KiB" }, case: "1KiB" });

/** A run that did not pass has an SLA line that it did not meet. */
function judged(verdict: Verdict): SearchRun["verdict"] {
	const line = { sla: "p99 < 5ms", verdict, why: "9 of 10 took longer" };
	return { verdict, why: null, judgements: [line as Judgement] };
}

/** The runs of a search whose verdicts `of` gives, as a report sees them. */
function runsOf(of: (perSecond: number) => Verdict): SearchRun[] {
	const all: SearchRun[] = [];
	const judge = (plan: Plan) => outcomeOf(of(plan.schedule.rate?.messages ?? 0));
	for (const plan of searchRuns(start, 1, judge))
		all.push({
			collected: { plan },
			verdict: judged(of(plan.schedule.rate?.messages ?? 0)),
			run: { ...(healthy.runs[0] as Run), index: plan.index, case: plan.case, search: plan.search },
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
		/^4 \d{3}\/s meets the SLA, confirmed by another run; 5 \d{3}\/s does not$|^5 000\/s meets/,
	);
});

test.each<[string, (rate: number) => Verdict, Verdict, RegExp]>([
	[
		"no rate passes",
		() => "fail",
		"fail",
		/^no rate meets the SLA, not even 15\.7\/s, and the search ends at 1 % of its first rate of 1 000\/s$/,
	],
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
		/^no answer: every run was INVALID \(14 of 14\)$/,
	],
	[
		"a run cannot be made",
		(rate) => (rate > 3000 ? "error" : "pass"),
		"error",
		/then a run could not be made/,
	],
])("when %s, the answer says so", (_, of, verdict, answer) => {
	const [search] = searchesOf(runsOf(of));
	expect(search).toMatchObject({ verdict, answer: expect.stringMatching(answer) });
});

/** The runs of a search until `stop`, whose own run was not finished; what it came to. */
function stoppedAt(stop: (run: SearchRun) => boolean, finished = false) {
	const runs = runsOf(upTo5000);
	const made = runs.slice(0, runs.findIndex(stop));
	const last = { ...(runs[made.length] as SearchRun) };
	last.verdict = judged("interrupted");
	return searchesOf(finished ? made : [...made, last])[0];
}

const roleIs = (role: string) => (one: SearchRun) => one.collected.plan.search?.role === role;
const rateIs = (rate: number) => (one: SearchRun) =>
	one.collected.plan.schedule.rate?.messages === rate;

test.each([
	["its first run", rateIs(1000), null, false, /^stopped before .* was over$/],
	[
		"a probe",
		rateIs(8000),
		4000,
		false,
		/; the highest rate that passed so far is 4 000\/s, not confirmed$/,
	],
	["the longer run", roleIs("confirm"), 5000, false, /so far .* not confirmed$/],
	["the curve", roleIs("curve"), 5000, true, /, confirmed by another run$/],
] as const)(
	"a search that was stopped in %s says what passed so far, and that no error ended it",
	(_, stop, lo, confirmed, answer) => {
		const search = stoppedAt(stop);
		expect(search).toMatchObject({
			verdict: "interrupted",
			limitedBy: "interrupted",
			confirmed,
			answer: expect.stringMatching(answer),
		});
		if (lo === null) expect(search?.lo).toBeNull();
		else expect((search?.lo ?? 0) / lo).toBeCloseTo(1, 1);
	},
);

test("a search that was stopped between two runs is interrupted as well", () => {
	expect(stoppedAt(rateIs(4000), true)).toMatchObject({
		verdict: "interrupted",
		limitedBy: "interrupted",
		lo: 2000,
	});
});

test("a rate that a longer run refuted is none that passed so far", () => {
	const runs = runsOf((rate) => (rate <= 5000 ? "pass" : "fail"));
	const at = runs.findIndex(roleIs("confirm"));
	const refuted = { ...(runs[at] as SearchRun), verdict: judged("fail") };
	const stopped = { ...refuted, verdict: judged("interrupted") };
	const [search] = searchesOf([...runs.slice(0, at), refuted, stopped]);
	const rate = refuted.collected.plan.schedule.rate?.messages ?? 0;
	expect(search?.lo).toBeLessThan(rate);
	expect(search?.hi).toBe(rate);
});

test("a rate that passed as a probe but never in a longer run, with rates that failed, is no generator too slow for every rate", () => {
	// 5 000/s fails, 2 500/s passes as a probe, 3 540/s is INVALID: what confirms fails four times.
	const all: SearchRun[] = [];
	const of = ({ schedule, search }: Plan): Verdict => {
		const rate = schedule.rate?.messages ?? 0;
		if (rate > 2500 && rate < 5000) return "invalid";
		return search?.role === "probe" && rate <= 2500 ? "pass" : "fail";
	};
	const first = planOf({
		search: { role: "start", of: "1KiB" },
		schedule: { ...start.schedule, rate: { messages: 5000, perNs: 1e9 } },
	});
	for (const plan of searchRuns(first, 1, (one) => outcomeOf(of(one))))
		all.push({
			collected: { plan },
			verdict: judged(of(plan)),
			run: { ...(healthy.runs[0] as Run), index: plan.index },
		});
	expect(searchesOf(all)[0]?.answer).toBe(
		"no rate is confirmed: 2 500/s passed as a probe, but no confirming run passed, down to 2 150/s; 2 of 9 runs were INVALID",
	);
});

describe("a report", () => {
	const runs = runsOf(upTo5000);
	const result: Result = {
		...healthy,
		gates: [],
		runs: runs.map(({ run }) => run),
		searches: searchesOf(runs),
	};
	const texts = rendered(result).out;

	test("says the answer everywhere, and shows every run in one table", () => {
		for (const text of texts) {
			expect(text).toContain("Highest rate of");
			expect(text).toContain("confirmed");
			for (const { rate } of result.searches[0]?.runs ?? [])
				expect(text.replaceAll("\u00a0", " ")).toContain(
					`${rate.toLocaleString("en").replace(",", " ")}/s`,
				);
		}
	});

	test("says of each rate that did not pass why", () => {
		for (const text of texts.slice(1)) expect(text).toContain("5ms: 9 of 10 took longer");
	});

	test("says what checks warned of in its runs", () => {
		const warned = {
			...result,
			runs: result.runs.map((run) => ({
				...run,
				validity: [check("others", "warn", { detail: "it was busy" })],
			})),
		};
		for (const text of rendered(warned, 200).out) {
			expect(text).toMatch(/others \(\d+ of \d+ runs\): .*it was busy/);
		}
	});
});
