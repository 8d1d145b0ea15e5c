import { describe, expect, test } from "vitest";
import type { Run } from "../model/result.ts";
import { fateText } from "./fate.ts";
import { fixtureResult } from "./stored.fake.ts";

/** A run of 40 messages above the system's limit, of which none arrived. */
function above(some: Partial<Run>, load: Partial<Run["load"]> = {}): Run {
	const [run] = fixtureResult("healthy").runs as [Run];
	return {
		...run,
		intended: 40,
		acked: 0,
		received: 0,
		lost: 0,
		failed: 0,
		unknown: 0,
		...some,
		load: { ...run.load, limitBytes: 1000, ...load },
	};
}

const error = (message: string, count: number, firstNs: number | null = 0) => ({
	message,
	count,
	firstNs,
});

describe("what became of messages above the limit", () => {
	test.each([
		[
			"all are refused, in the server's words",
			above({
				failed: 40,
				errors: [error("connection lost", 40, null), error("nsq: publish: E_BAD_MESSAGE", 40)],
			}),
			"refused: 40 of 40 (nsq: publish: E_BAD_MESSAGE)",
		],
		[
			"several errors are counted",
			above({ failed: 40, errors: [error("a", 38), error("b", 1), error("c", 1)] }),
			"refused: 40 of 40 (38 times a; 1 time b; and others)",
		],
		[
			"all are acknowledged and gone",
			above({ acked: 40, lost: 40 }),
			"lost silently: 40 of 40 were acknowledged and never arrived",
		],
		[
			"all are gone where nothing is acknowledged",
			above({ acked: null, lost: 40 }),
			"lost silently: 40 of 40 were sent without an error and never arrived",
		],
		[
			"each fate has its part",
			above({
				acked: 3,
				received: 2,
				lost: 1,
				failed: 30,
				unknown: 7,
				errors: [error("too large", 30)],
			}),
			"refused: 30 of 40 (too large); lost silently: 1 of 40 were acknowledged and never arrived; not answered: 7 of 40, and nobody knows whether the system took them; arrived: 2 of 40",
		],
		["a limit that is none", above({ acked: 40, received: 40 }), "arrived: 40 of 40"],
		[
			"nobody receives",
			above({ acked: 40, received: null }, { pattern: "publish" }),
			"acknowledged: 40 of 40",
		],
	])("%s", (_, run, text) => {
		expect(fateText(run)).toBe(text);
	});

	test("below the limit nothing is said, unless nothing arrived", () => {
		const below = (some: Partial<Run>) => fateText(above(some, { limitBytes: null }));
		expect(below({ acked: 40, received: 39, lost: 1 })).toBeNull();
		expect(below({ failed: 40, errors: [error("not connected", 40)] })).toBe(
			"failed: 40 of 40 (not connected)",
		);
		expect(fateText(above({ state: "never" }))).toBeNull();
	});
});
