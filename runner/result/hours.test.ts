import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { buildResult } from "../compare/build.ts";
import { built, type Fate, planOf, steady } from "../evidence/built.fake.ts";
import { firstRun } from "../evidence/fixture.fake.ts";
import { seeded } from "../histogram/random.fake.ts";
import type { Run } from "../model/result.ts";
import { rendered } from "../render/rendered.fake.ts";
import { once } from "./made.fake.ts";

const HOUR = 3600;
const T0_MS = 1_767_225_600_000;

/** A message every five seconds for 2.5 hours after a minute: hour k takes k + 1 times as long, and the second loses 16. */
const drifting = once(() => {
	const plan = planOf({
		schedule: { ...steady(0.2, 60, 2.5 * HOUR), rate: { messages: 1, perNs: 5e9 } },
	});
	const random = seeded(3);
	const hourOf = (i: number) => Math.max(0, Math.floor((5 * i - 60) / HOUR));
	const took = Array.from({ length: 1812 }, (_, i) =>
		Math.round((hourOf(i) + 1) * (1 + random()) * 1e6),
	);
	const lost = (i: number) => hourOf(i) === 1 && i % 45 === 0;
	const fates = took.map((ns, i): Fate => ({ receivedNs: [lost(i) ? null : 5e9 * i + ns] }));
	const folder = built(plan, fates);
	const used = (rssBytes: number) => ({ cpuNs: 0, rssBytes, readBytes: 0, writeBytes: 0 });
	const samples = Array.from({ length: 910 }, (_, k) => {
		const machine = { cpuNs: k, idleNs: k, stealNs: 0, throttled: 0 };
		const [generator, broker] = [used(1e6), used(1e8 + 1000 * k)];
		return `${JSON.stringify({ unixMs: T0_MS + 10_000 * k, generator, broker, machine })}\n`;
	});
	writeFileSync(join(firstRun(folder), "resources.jsonl"), samples.join(""));
	const result = buildResult(folder);
	const sortedOf = (hour: number) =>
		took.filter((_, i) => i >= 12 && hourOf(i) === hour && !lost(i)).sort((a, b) => a - b);
	return { result, run: result.runs[0] as Run, sortedOf };
});

test("each hour has its own sorted samples, rate and highest memory; messages that never came count as the largest", () => {
	const { run, sortedOf } = drifting();
	const { hours = [] } = run;
	expect(hours.map(({ fromNs, toNs }) => [fromNs / 1e9, toNs / 1e9])).toEqual([
		[0, HOUR],
		[HOUR, 2 * HOUR],
		[2 * HOUR, 2.5 * HOUR],
	]);
	for (const [k, hour] of hours.entries()) {
		const sorted = sortedOf(k);
		const due = k === 2 ? 360 : 720;
		expect([hour.count, hour.missing]).toEqual([sorted.length, due - sorted.length]);
		expect(hour.missing).toBe(k === 1 ? 16 : 0);
		expect(hour.max).toBe(sorted.at(-1));
		const at = (p: number) => sorted[Math.ceil((due * p) / 100) - 1];
		const near = (got: number | null, want: number | undefined) =>
			want === undefined
				? expect(got).toBeNull()
				: expect(Math.abs((got ?? 0) / want - 1)).toBeLessThan(0.001);
		near(hour.p50, at(50));
		// 16 of 720 never came, so p99 is among them.
		// 360 are too few for a p99.
		near(hour.p99, k === 0 ? at(99) : undefined);
		expect(hour.perSecond).toBeCloseTo(sorted.length / (k === 2 ? HOUR / 2 : HOUR), 3);
		// A sample each 10 s from T0 on: the last one in the hour is the highest.
		expect(hour.brokerBytes).toBe(1e8 + 1000 * Math.min(909, (60 + hour.toNs / 1e9) / 10));
	}
});

test("Markdown and page have the table; a run of less than two hours, and one with steps, has none", () => {
	const { result } = drifting();
	const { markdown } = rendered(result);
	expect(markdown).toContain("Response by hour");
	const short = planOf({ schedule: steady(1, 0, 100) });
	const fates = Array.from({ length: 100 }, (_, i): Fate => ({ receivedNs: [i * 1e9 + 1e6] }));
	expect(buildResult(built(short, fates)).runs[0]?.hours).toBeUndefined();
});
