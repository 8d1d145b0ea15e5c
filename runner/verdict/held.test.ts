import { describe, expect, test } from "vitest";
import { without } from "./intervals.ts";
import { type Any, type Changes, judged } from "./judged.fake.ts";

const MS = 1e6;

/** The client library held so much at the ten samples of the second in which 490 messages of the run took up to 500 ms; else nothing. */
const holding = (held: readonly number[] | null): NonNullable<Changes["lines"]> =>
	eachTick((tick) => (tick.at === 6 ? held : held && Array(10).fill(0)));
const eachTick =
	(held: (tick: Any, i: number) => unknown): NonNullable<Changes["lines"]> =>
	(lines) => {
		for (const [i, l] of lines.filter((l) => l.type === "tick").entries()) l.held = held(l, i);
		return undefined;
	};
const stalled = (held: readonly number[] | null, changes: Changes = {}) =>
	judged("stall", { lines: holding(held), ...changes });
const checkOf = ({ checks }: ReturnType<typeof judged>) => checks.find((c) => c.check === "held");

const SLOW = [100, 200, 300, 400, 490, 0, 0, 0, 0, 0];

describe("what the client library held for longer than the limit", () => {
	test("makes a FAIL INVALID: the gate passes without what waited there", () => {
		const found = stalled(SLOW);
		expect(found.verdict).toBe("invalid");
		expect(found.judgements[0]).toMatchObject({
			verdict: "invalid",
			code: "late-by-held",
			why: "the receiving side was slow (up to 490 messages waited in the client library, and 10 are due within 10ms), so this says nothing about the system: at most 100 of 10 000 may take longer than 10ms; 490 did, in one stretch of 500ms, at least twice as many; without the 500ms of load that waited there, none of 9 500 did, which would be PASS instead of FAIL",
		});
		expect(checkOf(found)).toMatchObject({
			status: "invalid",
			figure: "490",
			limit: "10",
			detail:
				"the receiving side was slow (up to 490 messages waited in the client library, and 10 are due within 10ms): that decided p99 < 10ms",
		});
	});

	test("leaves a FAIL that there was without it", () => {
		// Of 500 ms it held what was due in the last 100.
		const found = stalled([0, 0, 0, 0, 100, 0, 0, 0, 0, 0]);
		expect(found.judgements[0]?.verdict).toBe("fail");
		expect(checkOf(found)).toMatchObject({
			status: "warn",
			detail: expect.stringContaining("decided no line of the SLA"),
		});
	});

	test.each([
		["as the broker passes it on", [0, 0, 0, 0, 490, 0, 0, 0, 0, 0]],
		["and for as long as that takes", [0, 0, 0, 0, 490, 390, 290, 190, 90, 0]],
	])("is the broker's when it comes all at once, %s", (_, held) => {
		expect(stalled(held).judgements[0]?.verdict).toBe("fail");
	});

	test("is explained up to what is due within the limit", () => {
		const found = stalled(Array(10).fill(10));
		expect(found.judgements[0]?.verdict).toBe("fail");
		expect(checkOf(found)).toMatchObject({
			status: "ok",
			figure: "10",
			detail: "at most 10 messages waited in the client library",
		});
	});

	test("makes a run INVALID that has nothing else", () => {
		const found = judged("stall", {
			lines: (lines) => {
				for (const l of lines)
					if (l.type === "second") {
						l.limits[0].over = [...l.limits[0].count];
						l.limits[0].overWithoutLag = [...l.limits[0].count];
					}
				return eachTick((_, i) => Array.from({ length: 10 }, (_, k) => 50 * (10 * i + k + 1)))(
					lines,
				);
			},
		});
		expect(found.judgements[0]).toMatchObject({
			verdict: "invalid",
			code: "late-by-held",
			why: expect.stringContaining("without the 10s of load that waited there, none of 0 did"),
		});
	});

	test("decides nothing where consumers work as they were asked to", () => {
		const work = { meanNs: MS, distribution: "constant" };
		const found = stalled(SLOW, { plan: (plan) => Object.assign(plan, { work }) });
		expect(found.judgements[0]?.verdict).toBe("fail");
		expect(checkOf(found)).toBeUndefined();
	});

	test("is not known, and decides nothing, where the driver does not count it", () => {
		const found = stalled(null);
		expect(found.judgements[0]?.verdict).toBe("fail");
		expect(checkOf(found)?.status).toBe("unknown");
		expect(checkOf(judged("stall"))).toBeUndefined();
	});

	test("takes no message away that never came", () => {
		const interval = { n: 100, over: 60, overWithoutLag: 60, censored: 20 };
		expect(without([interval, interval], new Map([[1, 1]]))).toEqual([
			interval,
			{ n: 20, over: 20, overWithoutLag: 20, censored: 20 },
		]);
	});
});
