import { expect, test } from "vitest";
import { type Found, next, type Outcome, type Step } from "./search.ts";

function search(start: number, system: (step: Step, times: number) => Outcome) {
	const found: Found[] = [];
	for (let i = 0; i < 200; i++) {
		const what = next(start, found);
		if ("answer" in what) return { answer: what.answer, found };
		const times = found.filter(
			(f) => f.step.rate === what.step.rate && f.step.role === what.step.role,
		).length;
		found.push({ step: what.step, outcome: system(what.step, times) });
	}
	throw new Error("the search does not end");
}

test("a confirmation that the generator spoiled (invalid) says nothing of the system: hi is what the probes found", () => {
	let confirms = 0;
	const { answer } = search(1000, ({ rate, role }) =>
		role === "confirm" && confirms++ === 0
			? "invalid"
			: rate <= 20_000
				? "pass"
				: "fail",
	);
	// The system carries 20 000/s; nothing below it ever failed.
	expect(answer.hi).toBeGreaterThan(20_000);
});

test("four spoiled confirmations are not 'no rate meets the SLA'", () => {
	const { answer } = search(1000, ({ rate, role }) =>
		role === "confirm" ? "invalid" : rate <= 20_000 ? "pass" : "fail",
	);
	expect(answer.limitedBy).toBe("generator");
});

test("one invalid probe above a failed rate's bracket does not end a search that could go on", () => {
	// 1000 pass, 2000 pass, ... 16000 pass, 32000 fail fail, then one hiccup of the machine at the middle.
	let hiccup = false;
	const { answer } = search(1000, ({ rate, role }) => {
		if (role === "probe" && rate > 16_000 && rate < 32_000 && !hiccup) {
			hiccup = true;
			return "invalid";
		}
		return rate <= 20_000 ? "pass" : "fail";
	});
	expect((answer.hi ?? 0) / (answer.lo ?? 1)).toBeLessThanOrEqual(1.06);
});
