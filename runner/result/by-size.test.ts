import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { buildResult } from "../compare/build.ts";
import { type Fate, planOf, steady } from "../evidence/built.fake.ts";
import { firstRun } from "../evidence/fixture.fake.ts";
import { seeded } from "../histogram/random.fake.ts";
import type { Plan } from "../model/plan.ts";
import { cycleOf } from "../plan/sizes.ts";
import { made, once, shown } from "./made.fake.ts";

const MS = 1e6;
const SIZES = {
	text: "80% 256B, 15% 4KiB, 5% 64KiB",
	runs: Object.entries({ 256: 80, 4096: 15, 65536: 5 }).map(
		([bytes, n]) => [+bytes, n] as [number, number],
	),
	shuffled: true,
	classes: [256, 4096, 65_536],
	meanBytes: 4096,
	clamped: { below: 0, above: 0 },
};

function planWith(changes: Partial<Parameters<typeof planOf>[0]> = {}): Plan {
	const plan = planOf({ schedule: steady(1000, 1, 12), ...changes });
	return { ...plan, message: { ...plan.message, bytes: 65_536, sizes: SIZES } };
}

/** A message takes longer the larger it is; every 50th of the largest never completes. */
function runOf(plan: Plan) {
	const random = seeded(3);
	const cycle = cycleOf(SIZES, plan.message.seed);
	const took = Array.from({ length: plan.schedule.messages }, (_, i) => {
		const bytes = cycle[i % cycle.length] as number;
		return { bytes, ns: Math.round((1 + random()) * (bytes / 256) ** 0.5 * MS) };
	});
	const lost = (i: number) => took[i]?.bytes === 65_536 && i % 7 === 3;
	const fates = took.map(({ ns }, i): Fate => {
		const due = i * MS;
		return { receivedNs: [lost(i) ? null : due + ns], ...(plan.acks && { ackedNs: due + ns }) };
	});
	const window = [...took.entries()].slice(plan.schedule.warmupMessages);
	const of = (bytes: number) =>
		window
			.filter(([, one]) => one.bytes === bytes)
			.map(([i, { ns }]) => (lost(i) ? Infinity : ns))
			.sort((a, b) => a - b);
	return { plan, fates, of };
}

describe("80% of 256B, 15% of 4KiB and 5% of 64KiB", () => {
	const { plan, fates, of } = runOf(planWith());
	const all = once(() => shown(plan, fates));

	test("each has its own sorted samples, exact counts, and the messages that never came", () => {
		const { run } = all();
		expect(run.sizes?.map(({ size }) => size)).toEqual(["256B", "4KiB", "64KiB"]);
		for (const one of run.sizes ?? []) {
			const samples = of(one.toBytes);
			const came = samples.filter((ns) => ns < Infinity);
			const [n, count] = [samples.length, came.length];
			const max = came.at(-1);
			expect(one).toMatchObject({ intended: n, n, count, censored: n - count, max });
			for (const { p, value, support, beyondTimeout } of one.percentiles) {
				if (support === "none") continue;
				const want = samples[Math.ceil((samples.length * p) / 100 - 1e-9) - 1] as number;
				expect(beyondTimeout, `p${p}`).toBe(want === Infinity);
				if (want < Infinity) expect((value as number) / want, `p${p}`).toBeCloseTo(1, 2);
			}
		}
		const invalid = run.validity.filter((c) => c.status === "invalid");
		expect(invalid.map((c) => c.check)).toEqual(["drain"]);
	});

	test("percentiles are as deep as the samples of their size carry", () => {
		const support = (k: number, p: number) =>
			all().run.sizes?.[k]?.percentiles.find((one) => one.p === p)?.support;
		// 9600, 1800 and 600 messages.
		expect([support(0, 99), support(0, 99.9), support(0, 99.99)]).toEqual(["ok", "weak", "none"]);
		expect([support(1, 99), support(1, 99.9)]).toEqual(["ok", "none"]);
		expect([support(2, 50), support(2, 99.9)]).toEqual(["ok", "none"]);
	});

	test("the report has a row for each, and the load has its mean", () => {
		const { run, out } = all();
		expect(run.load).toMatchObject({ messageBytes: 4096, sizes: SIZES.text });
		for (const text of out.filter((one) => one.includes("by size")))
			expect(text).toMatch(/256B[\s\S]*4KiB[\s\S]*64KiB/);
		expect(out.some((one) => one.includes("response by size"))).toBe(true);
	});
});

test("a class that is not complete in the log is a broken identity", () => {
	const { plan, fates } = runOf(planWith());
	const { folder } = made(plan, fates);
	const path = join(firstRun(folder), "plan.json");
	const other = { ...plan.message, sizes: { ...SIZES, classes: [256, 5000, 65_536] } };
	writeFileSync(path, JSON.stringify({ ...plan, message: other }));
	const [run] = buildResult(folder).runs;
	expect(run?.verdict).not.toBe("pass");
});

test("with one size there is no such table", () => {
	const plan = planOf({ schedule: steady(1000, 1, 5) });
	const { messages } = plan.schedule;
	const fates = Array.from({ length: messages }, (_, i) => ({ receivedNs: [i * MS + MS] }));
	const { run } = made(plan, fates);
	expect([run.sizes, run.load.sizes]).toEqual([undefined, undefined]);
});
