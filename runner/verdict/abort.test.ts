import { describe, expect, test } from "vitest";
import { collect } from "../evidence/collect.ts";
import { firstRun, fixture } from "../evidence/fixture.fake.ts";
import { seeded } from "../histogram/random.fake.ts";
import type { Plan, Sla } from "../model/plan.ts";
import { hopeless } from "./abort.ts";
import { judged } from "./judged.fake.ts";
import { fails, passLimit, testOver } from "./statistics.ts";

const { plan } = collect(firstRun(fixture("stall")));
// 10 000 messages in the window, limits: response 10 ms, service 1 s.
const p99: Sla = {
	kind: "percentile",
	text: "p99 < 10ms",
	metric: "response",
	percentile: 99,
	op: "<",
	limitNs: 10e6,
	abort: true,
};
const withSla = (...sla: Sla[]): Plan => ({ ...plan, sla });
const soFar = (over: number, failed = 0, duplicated = 0) => ({
	over: [over, 0],
	failed,
	duplicated,
});

describe("a percentile is hopeless", () => {
	test("from twice the budget of the planned messages on, not before", () => {
		expect(passLimit(10_000, 0.01)).toBe(83);
		expect(hopeless(withSla(p99), soFar(199))).toBeNull();
		expect(hopeless(withSla(p99), soFar(200))).toEqual({
			sla: "p99 < 10ms",
			why: "200 of 10 000 planned messages took longer than 10ms; at most 100 may",
		});
	});

	test("of few messages only when the strict test fails too", () => {
		// 5 are allowed over p99.95: 10 are twice that, but as many come up in 3 % of the cases.
		const deep: Sla = { ...p99, percentile: 99.95 };
		expect(fails(10, 10_000, 0.0005, 0.05)).toBe(true);
		expect(hopeless(withSla(deep), soFar(10))).toBeNull();
		expect(hopeless(withSla(deep), soFar(13))).not.toBeNull();
	});

	test("only for a line that says abort, and a limit that is counted", () => {
		expect(hopeless(withSla({ ...p99, abort: false }), soFar(9000))).toBeNull();
		expect(hopeless(withSla({ ...p99, limitNs: 1 }), soFar(9000))).toBeNull();
	});

	test("never, when the whole run would not fail, whatever comes after and however it clusters", () => {
		const random = seeded(4);
		let stopped = 0;
		for (let round = 0; round < 2000; round++) {
			// Stalls of any length up to 20 pieces of 100 ms, about the budget in all.
			const over = new Array<number>(100).fill(0);
			const length = 1 + Math.floor(random() * 20);
			for (let stalls = random() * 4; stalls > 0; stalls--) {
				const at = Math.floor(random() * 100);
				for (let i = at; i < Math.min(100, at + length); i++)
					over[i] = Math.floor((random() * 300) / length);
			}
			const intervals = over.map((o) => ({ n: 100, over: Math.min(100, o) }));
			let sum = 0;
			const stop = intervals.some((i) => {
				sum += i.over;
				return hopeless(withSla(p99), soFar(sum)) !== null;
			});
			if (!stop) continue;
			stopped++;
			expect(testOver(intervals, 99).verdict).toBe("fail");
		}
		expect(stopped).toBeGreaterThan(200);
	});
});

describe("max, and counts, are hopeless", () => {
	const max: Sla = { ...p99, kind: "max", text: "max < 10ms" } as Sla;
	const tally = (
		name: "failed" | "duplicated" | "lost",
		op: "==" | "<" | "<=",
		limit: number,
	): Sla => ({ kind: "tally", text: name, tally: name, op, limit, abort: true });
	test.each([
		["one over the maximum", max, soFar(1), true],
		["none over it", max, soFar(0), false],
		["failed == 0, one failed", tally("failed", "==", 0), soFar(0, 1), true],
		["failed <= 5, five failed", tally("failed", "<=", 5), soFar(0, 5), false],
		["failed < 5, five failed", tally("failed", "<", 5), soFar(0, 5), true],
		["duplicated == 0, one", tally("duplicated", "==", 0), soFar(0, 0, 1), true],
		["lost == 0: what is missing may still come", tally("lost", "==", 0), soFar(9, 9, 9), false],
	])("%s", (_, sla, seen, expected) => {
		expect(hopeless(withSla(sla), seen) !== null).toBe(expected);
	});
});

describe("a run that was stopped for it", () => {
	// The stored run with Ctrl-C 3 s into 5 s, as if mqbench had stopped it: 3000 of 5000 offered.
	const aborted = (over: number, abortedBy = "p99 < 20ms") =>
		judged("interrupted", {
			run: (file) => {
				file.interruptedBy = null;
				file.abortedBy = abortedBy;
				file.k6Exit = 105;
			},
			plan: (plan) => {
				plan.sla[0].abort = true;
			},
			lines: (lines) => {
				const second = lines.find((l) => l.second === 2);
				second.limits[0].over[3] = second.limits[0].overWithoutLag[3] = over;
				return undefined;
			},
		});

	test("is a FAIL by that line, the others are open, and nothing is INVALID for what was not offered", () => {
		const { verdict, why, judgements, checks } = aborted(100);
		expect(verdict).toBe("fail");
		expect(why).toMatch(/^stopped after [\d.]+s: p99 < 20ms could not pass any more$/);
		expect(judgements.map((j) => [j.sla, j.verdict])).toEqual([
			["p99 < 20ms", "fail"],
			["lost == 0", "inconclusive"],
		]);
		expect(judgements[0]?.why).toMatch(
			/^stopped after [\d.]+s: could not pass any more \(100 of 5 000 planned messages took longer than 20ms; at most 50 may\)$/,
		);
		expect(checks.find((c) => c.check === "offered")?.status).toBe("ok");
		expect(checks.filter((c) => c.status === "invalid")).toEqual([]);
	});

	test("keeps another gate's FAIL that what was offered shows already", () => {
		const found = aborted(100, "failed == 0");
		expect(found.judgements[0]).toMatchObject({ sla: "p99 < 20ms", verdict: "fail" });
		expect(found.judgements[0]?.why).toContain(
			"at most 30 of 3 000 may take longer than 20ms; 100 did",
		);
		expect(aborted(2, "failed == 0").judgements[0]?.verdict).toBe("inconclusive");
	});

	test("is interrupted all the same when the user stopped it too", () => {
		expect(
			judged("interrupted", {
				run: (file) => {
					file.abortedBy = "p99 < 20ms";
				},
			}).verdict,
		).toBe("interrupted");
	});

	test("says of messages under way at the stop that it was stopped, not that they took longer than the timeout", () => {
		const { judgements } = judged("interrupted", {
			run: (file) => {
				file.interruptedBy = null;
				file.abortedBy = "p99 < 20ms";
			},
			lines: (lines) => {
				// 100 more were sent, and are not back.
				const window = lines.find((l) => l.type === "counters" && l.scope === "window");
				Object.assign(window, { sent: 3100, notOffered: 1900, failed: 100 });
				return undefined;
			},
		});
		expect(judgements[0]).toMatchObject({ measured: "stopped", n: 3100, over: 0 });
	});

	test("counts its messages as every run does", () => {
		const { checks } = aborted(100);
		expect(checks.find((c) => c.check === "identities")?.status).toBe("ok");
	});
});
