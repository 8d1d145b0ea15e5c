import { describe, expect, test } from "vitest";
import { seeded } from "../../histogram/random.fake.ts";
import { AFTER_CHECKS, excused } from "../excuses.ts";
import { judged } from "../judged.fake.ts";
import { drifting } from "../simulated.fake.ts";
import { drift, steady } from "./trend.ts";

describe("a drift of p50", () => {
	const rising = Array.from({ length: 10 }, (_, i) => 100 + 4 * i);
	const steep = Array.from({ length: 10 }, (_, i) => 100 + 12 * i);

	test.each([
		["level", new Array(10).fill(100), "ok"],
		["up by a third", rising, "ok"],
		["up by three quarters", steep, "warn"],
		["down by three quarters", steep.toReversed(), "warn"],
		["up by 9 %, significant but small", rising.map((x) => 300 + x / 1.3), "ok"],
		["up and down", [100, 160, 90, 150, 100, 170, 90, 140, 110, 150], "ok"],
		["one slow second", [100, 100, 100, 100, 900, 100, 100, 100, 100, 100], "ok"],
		["of 5 s", rising.slice(0, 5), "unknown"],
	])("%s is %s", (_, medians, status) => {
		expect(steady.judge(drifting(medians), []).status).toBe(status);
	});

	test("is told in parts of the median", () => {
		expect(drift(drifting(rising))?.change).toBeCloseTo(40 / 118, 2);
		expect(steady.judge(drifting(rising), []).text).toBe(
			"p50 rose by 34 % over the window; the median second's p50 is 118us",
		);
	});

	test("of more than the median is told in time", () => {
		const falling = [9000, 8000, 7000, 300, 300, 300, 300, 300, 200, 200];
		expect(steady.judge(drifting(falling), []).text).toMatch(
			/^p50 fell by \d.*s over the window; the median second's p50 is 300us$/,
		);
	});

	test("is never more than the highest second, after a long pause either", () => {
		const paused = Array.from({ length: 100 }, (_, s) => (s < 70 ? (70 - s) * 1e6 : 300));
		expect(steady.judge(drifting(paused), []).text).toMatch(/^p50 fell by 1\.17min /);
	});

	test("of noise alone is found in at most one run of 20", () => {
		const random = seeded(9);
		let found = 0;
		for (let i = 0; i < 1000; i++) {
			const noisy = Array.from({ length: 10 }, () => 100 + 30 * (random() - 0.5));
			if (drift(drifting(noisy))?.significant) found++;
		}
		expect(found).toBeLessThan(50);
	});

	test("that is small against the tightest limit does not matter", () => {
		expect(drift(drifting(rising, 20e6))?.significant).toBe(false);
		expect(drift(drifting(rising, 3e6))?.significant).toBe(true);
	});

	test("leaves a gate open that passes by a factor below 2, when p50 rises", () => {
		const [passed] = judged("healthy").judgements;
		if (passed === undefined) throw new Error("another fixture");
		const gate = (medians: readonly number[], margin: number, verdict = passed.verdict) => {
			const facts = drifting(medians);
			const judgement = { ...passed, margin, verdict };
			return excused({ ...facts.collected.plan, facts, judgement } as never, AFTER_CHECKS);
		};
		expect(gate(rising, 1.9)).toMatchObject({
			verdict: "inconclusive",
			why: "at most 50 of 5 000 may take longer than 20ms; none did; but p50 rose over the window, and the limit is less than 2 times what was measured",
		});
		expect(steady.judge(drifting(rising), [{ ...passed, margin: 1.9 }]).status).toBe("warn");
		expect(gate(rising, 2.1).verdict).toBe("pass");
		expect(gate(rising.toReversed(), 1.9).verdict).toBe("pass");
		expect(gate(rising, 1.5, "fail").verdict).toBe("fail");
	});
});
