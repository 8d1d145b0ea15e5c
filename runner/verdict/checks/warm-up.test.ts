import { expect, test } from "vitest";
import { built, type Fate, planOf, steady } from "../../evidence/built.fake.ts";
import { collect } from "../../evidence/collect.ts";
import { firstRun } from "../../evidence/fixture.fake.ts";
import { checked } from "../checks.ts";
import { factsOf, UNKNOWN } from "../facts.ts";

const found = (windowStartNs: number | undefined, strict = false) => {
	const plan = planOf({
		strict,
		schedule: { ...steady(100, 6, 3), steady: { fromNs: 2e9, toNs: 6e9 } },
	});
	const fates = Array.from(
		{ length: windowStartNs === undefined ? 900 : 700 },
		(_, i): Fate => ({ sentNs: i * 1e7, receivedNs: [i * 1e7 + 1e6] }),
	);
	const run = collect(
		firstRun(built(plan, fates, windowStartNs === undefined ? {} : { windowStartNs })),
	);
	const all = checked(factsOf(run, UNKNOWN), []);
	expect(all.find(({ check }) => check === "identities")?.status).toBe("ok");
	const one = all.find(({ check }) => check === "warm-up");
	return [one?.status, one?.detail];
};

test("a window that opened before the latest time was steady; at the latest time it is a warning, under strict INVALID", () => {
	expect(found(4e9)).toEqual(["ok", "p50 was level after 4s of warm-up"]);
	const text = "p50 was not level after 6s of warm-up, the longest that warmup: steady waits";
	expect(found(undefined)).toEqual(["warn", text]);
	expect(found(undefined, true)).toEqual(["invalid", text]);
});
