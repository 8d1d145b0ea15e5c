import { expect, test } from "vitest";
import { type Found, next, type Outcome, type Step } from "./search.ts";
import { stepText } from "./step-text.ts";

/** What a search says before each of its runs. */
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

test("each run of a search says what it tries, and why", () => {
	const texts = said(1000, ({ rate, role }) =>
		rate > 2500 || (role === "confirm" && rate > 2400) ? "fail" : "pass",
	);
	expect(texts.slice(0, 4)).toEqual([
		"starts at 1 000/s",
		"1 000/s passed; tries twice as much, 2 000/s",
		"2 000/s passed; tries twice as much, 4 000/s",
		"tries 4 000/s again, because one run that did not pass does not decide",
	]);
	expect(texts).toContain("2 000/s passed and 4 000/s failed; tries 2 830/s between them");
	const after = texts.findIndex((text) => text.startsWith("confirms"));
	expect(texts.slice(after)).toEqual([
		"confirms 2 490/s with a longer run, the highest rate that passed",
		"2 490/s was not confirmed; tries 5 % less, 2 370/s",
		"measures latency at 1 190/s, 50 % of the answer",
		"measures latency at 1 660/s, 70 % of the answer",
		"measures latency at 1 900/s, 80 % of the answer",
		"measures latency at 2 130/s, 90 % of the answer",
		"measures latency at 2 250/s, 95 % of the answer",
	]);
});

test("a search that begins too high goes down", () => {
	const texts = said(1000, ({ rate }) => (rate > 400 ? "fail" : "pass"));
	expect(texts).toContain("1 000/s failed; tries half of it, 500/s");
});

test("a run that was INVALID is made again", () => {
	expect(said(1000, () => "invalid")).toContain(
		"tries 1 000/s again, because the last run there was INVALID",
	);
});

test("a run that confirms and was INVALID twice ends no search: 5 % less is tried", () => {
	const texts = said(1000, ({ rate, role }) =>
		role === "confirm" && rate > 2400 ? "invalid" : rate > 2500 ? "fail" : "pass",
	);
	const at = texts.findIndex((text) => text.startsWith("confirms"));
	expect(texts.slice(at + 1, at + 3)).toEqual([
		"tries to confirm 2 490/s again, because the last run there was INVALID",
		"2 490/s was not confirmed; tries 5 % less, 2 370/s",
	]);
});
