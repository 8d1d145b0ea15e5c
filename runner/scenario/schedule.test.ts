import { describe, expect, test } from "vitest";
import { backlogTimes } from "./schedule.ts";

const rate = { messages: 1000, perNs: 1e9 };
const seconds = (duration: number, messages: number) => {
	const { pauseNs, resumeNs, neededNs } = backlogTimes(duration * 1e9, rate, messages);
	return [pauseNs / 1e9, resumeNs / 1e9, neededNs / 1e9];
};

describe("a backlog", () => {
	test.each([
		// duration, messages; pause, resume, needed
		[40, 10_000, 8, 18, 16],
		[40, 10_001, 8, 19, 17],
		[4, 2000, 1, 3, 4],
		[1, 1, 1, 2, 3],
		[99, 60_000, 19, 79, 98],
	])(
		"in %ds of 1000/s with %d messages pauses at %ds, resumes at %ds, and needs %ds",
		(duration, messages, ...times) => {
			expect(seconds(duration, messages)).toEqual(times);
		},
	);

	test("has as much time after as before from the duration on that it needs, and not in one shorter", () => {
		for (let messages = 1; messages < 40_000; messages += 777) {
			const [, , needed = 0] = seconds(100, messages);
			const fits = (duration: number) => {
				const [pause = 0, resume = 0] = seconds(duration, messages);
				return duration - resume >= pause;
			};
			for (let more = 0; more < 12; more++)
				expect(fits(needed + more), `${messages} in ${needed + more}s`).toBe(true);
			expect(fits(needed - 1), `${messages} in ${needed - 1}s`).toBe(false);
		}
	});

	test("that would take years is reckoned at once", () => {
		expect(backlogTimes(10e9, { messages: 1, perNs: 3600e9 }, 1e9).neededNs).toBeGreaterThan(
			3600e9 * 1e9,
		);
	});
});
