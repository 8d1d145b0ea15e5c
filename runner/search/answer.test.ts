import { expect, test } from "vitest";
import { answerText, stepText } from "./answer.ts";
import { type Found, next, type Outcome, type Step } from "./search.ts";

/** What a search prints before each of its runs. */
function said(start: number, outcome: (step: Step) => Outcome): string[] {
	const found: Found[] = [];
	const texts: string[] = [];
	for (;;) {
		const what = next(start, found);
		if ("answer" in what) return texts;
		texts.push(stepText(what.step, found));
		found.push({ step: what.step, outcome: outcome(what.step) });
	}
}

test("each run of a search says what it tries, and what is known", () => {
	const texts = said(1000, ({ rate, role }) =>
		rate > 2500 || (role === "confirm" && rate > 2400) ? "fail" : "pass",
	);
	expect(texts.slice(0, 4)).toEqual([
		"tries 1 000/s",
		"tries 2 000/s (1 000/s passed)",
		"tries 4 000/s (2 000/s passed)",
		"tries 4 000/s again (2 000/s passed)",
	]);
	expect(texts).toContain("tries 2 830/s (2 000/s passed, 4 000/s failed)");
	const after = texts.findIndex((text) => text.startsWith("confirms"));
	expect(texts.slice(after)).toEqual([
		"confirms 2 490/s with another run",
		"confirms 2 370/s with another run",
		"measures latency at 1 190/s, 50 % of the answer",
		"measures latency at 1 660/s, 70 % of the answer",
		"measures latency at 1 900/s, 80 % of the answer",
		"measures latency at 2 130/s, 90 % of the answer",
		"measures latency at 2 250/s, 95 % of the answer",
	]);
});

test("a run that was INVALID is made again", () => {
	expect(said(1000, () => "invalid")).toContain("tries 1 000/s again");
});

test.each([
	[
		1000,
		"1 000/s does not meet the SLA, and no lower rate could be judged; 12 of 14 runs were INVALID",
	],
	[2000, "no rate could be judged; 14 of 15 runs were INVALID"],
])("INVALID runs below %d/s do not say that no rate meets the SLA", (above, expected) => {
	const runs: Found[] = [];
	for (;;) {
		const what = next(1000, runs);
		if ("answer" in what) {
			expect(answerText(what.answer, runs)).toBe(`no answer: ${expected}`);
			return;
		}
		const fails = what.step.rate >= above || runs.length === 1;
		runs.push({ step: what.step, outcome: fails ? "fail" : "invalid" });
	}
});
