import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { decodeFromCompressedBase64 } from "hdr-histogram-js";
import { describe, expect, test } from "vitest";
import { buildResult } from "../compare/build.ts";
import { built, type Fate, inSteps, planOf, steady } from "../evidence/built.fake.ts";
import { fixture } from "../evidence/fixture.fake.ts";
import { binCounts, binStart } from "../histogram/bins.ts";
import { distribution } from "../histogram/distribution.ts";
import { bucketsOf, histogramOf } from "../histogram/random.fake.ts";
import type { Plan } from "../model/plan.ts";
import type { Run } from "../model/result.ts";
import { messagesBefore, offsetNs } from "../plan/offset.ts";
import { samplesPerMessage } from "../plan/samples.ts";
import { fixtureResult, publishedFolder, storedResult } from "./stored.fake.ts";

const FOLDERS: [name: string, folder: string, tags: string[]][] = [
	["stall", fixture("stall"), []],
	["lost", fixture("lost"), []],
	["repeats", fixture("repeats"), []],
	["healthy", fixture("healthy"), ["long"]],
	["lag", fixture("lag"), ["long"]],
	["interrupted", fixture("interrupted"), ["long"]],
	["nats-stall", publishedFolder("nats-stall"), ["long"]],
];

const counted = new Map<string, Map<string, number[]>>();

/**
 * The second way of counting: every sample by itself, in the value that hdr-histogram-js gives its bucket, ascending; by metric and second
 * of the window ("response 3").
 */
function samplesOf(folder: string, run: Run): Map<string, number[]> {
	const where = join(folder, run.folder);
	const samples = counted.get(where) ?? samplesIn(where, run);
	counted.set(where, samples);
	return samples;
}

function samplesIn(where: string, run: Run): Map<string, number[]> {
	const samples = new Map<string, number[]>();
	for (const name of readdirSync(where).filter((f) => f.endsWith(".hlog")))
		for (const text of readFileSync(join(where, name), "utf8").split("\n")) {
			if (!text.startsWith("Tag=")) continue;
			const [tag = "", start, , , encoded = ""] = text.slice(4).split(",");
			const second = Math.round(Number(start) - run.window.startNs / 1e9);
			const key = `${tag.replace(".warmup", "")} ${second}`;
			const list = samples.get(key) ?? [];
			samples.set(key, list);
			// biome-ignore lint/suspicious/noExplicitAny: its type leaves out what every histogram of it has.
			const histogram = decodeFromCompressedBase64(encoded) as any;
			const top = histogram.countsArrayIndex(histogram.maxValue);
			for (let i = 0; i <= top; i++) {
				const value = histogram.highestEquivalentValue(histogram.valueFromIndex(i));
				for (let n = histogram.getCountAtIndex(i); n > 0; n--) list.push(value);
			}
		}
	for (const list of samples.values()) list.sort((a, b) => a - b);
	return samples;
}

const cellsOf = (run: Run) => run.series.heat?.cells ?? [];
const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0);

describe.each(FOLDERS)("over time, %s", (_, folder, tags) => {
	const { runs } = storedResult(folder);

	test("cells of the window add up to the samples of the main metric; those of a second to its count", {
		tags,
	}, () => {
		expect(runs.length).toBeGreaterThan(0);
		for (const run of runs) {
			const cells = cellsOf(run);
			const window = cells.filter(([second]) => second >= 0);
			expect(sum(window.map(([, , n]) => n))).toBe(run.metrics[run.main]?.count);
			expect(run.series.heat?.width).toBe(1);
			for (const { second, count } of run.series.seconds)
				expect(sum(cells.filter(([at]) => at === second).map(([, , n]) => n))).toBe(count);
		}
	});

	test("each cell holds the samples that lie in its bin, counted one by one by hdr-histogram-js", {
		tags,
	}, () => {
		for (const run of runs) {
			const { binsNs = [], endNs = 0 } = run.series.heat ?? {};
			const expected = new Map<string, number>();
			let largest = 0;
			for (const [key, values] of samplesOf(folder, run)) {
				const [metric, second] = key.split(" ");
				if (metric !== run.main) continue;
				for (const value of values) {
					largest = Math.max(largest, value);
					const bin = binsNs.findLastIndex((from) => from <= value);
					const cell = `${second} ${bin}`;
					expected.set(cell, (expected.get(cell) ?? 0) + 1);
				}
			}
			expect(largest).toBeLessThan(endNs);
			expect(Object.fromEntries(cellsOf(run).map(([s, b, n]) => [`${s} ${b}`, n]))).toEqual(
				Object.fromEntries(expected),
			);
		}
	});

	test("p99 and maximum of lag, of queued and of the main metric are those of the second's samples", {
		tags,
	}, () => {
		for (const run of runs) {
			const samples = samplesOf(folder, run);
			const lines = readdirSync(join(folder, run.folder))
				.filter((f) => f.endsWith(".jsonl") && f.startsWith("client"))
				.flatMap((f) =>
					readFileSync(join(folder, run.folder, f), "utf8")
						.trimEnd()
						.split("\n"),
				)
				.map((l) => JSON.parse(l))
				.filter((l) => l.type === "second");
			for (const point of run.series.seconds)
				for (const metric of ["lag", "queued", run.main] as const) {
					const values = samples.get(`${metric} ${point.second}`) ?? [];
					const found =
						metric === run.main
							? { p99: point.p99, max: point.max }
							: point[metric as "lag" | "queued"];
					const max = Math.max(
						...lines
							.filter((l) => l.second === point.second)
							.map((l) => l.metrics[metric]?.max ?? 0),
					);
					// 368 samples are what a p99 needs; those that never came are the largest.
					const n = values.length + (metric === run.main ? (point.missing ?? 0) : 0);
					const found99 = values[Math.ceil(n * 0.99) - 1];
					const p99 = n < 368 || found99 === undefined ? null : Math.min(found99, max);
					expect(found).toEqual({ p99, max });
				}
		}
	});
});

test.each(FOLDERS)(
	"%s: what is missing in the seconds of the window is what never completed; of a run that was stopped nobody knows when it was due",
	(_, folder) => {
		const { runs } = storedResult(folder);
		for (const run of runs) {
			const window = run.series.seconds.filter((s) => s.second >= 0);
			if (run.state === "complete")
				expect(sum(window.map((s) => s.missing as number))).toBe(run.metrics[run.main]?.censored);
			else expect(window.filter((s) => s.missing !== null)).toEqual([]);
		}
	},
);

test("12 of 1000 lost in one second are missing there, and its p99 lies among them", () => {
	const [run] = fixtureResult("lost").runs;
	const missing = run?.series.seconds.filter((s) => s.missing !== 0);
	expect(missing).toHaveLength(1);
	expect(missing?.[0]).toMatchObject({ second: 2, count: 988, missing: 12, p99: null });
	expect(missing?.[0]?.p50).not.toBeNull();
});

describe("messages that never completed, by second", () => {
	/** Every seventh message, and all of [fromNs, toNs), have no answer. */
	const fatesOf = (plan: Plan, [fromNs, toNs]: readonly [number, number] = [0, 0]): Fate[] =>
		Array.from({ length: plan.schedule.messages }, (_, i) => {
			const due = offsetNs(plan.schedule, i);
			const lost = i % 7 === 3 || (due >= fromNs && due < toNs);
			const came = due + 200_000;
			return {
				ackedNs: plan.acks && !lost ? came : null,
				receivedNs:
					plan.pattern === "publish"
						? []
						: Array.from(
								{ length: plan.pattern === "fan-out" ? plan.subscriptions : 1 },
								// One copy of a lost message still arrives, if there are several.
								(_, k) => (lost && k === 0 ? null : came),
							),
			};
		});
	const counted = (plan: Plan, fates: readonly Fate[], each: number) => {
		const seconds = new Map<number, [count: number, missing: number]>();
		for (const [i, { ackedNs, receivedNs = [] }] of fates.entries()) {
			const at = offsetNs(plan.schedule, i) - plan.schedule.warmupNs;
			const second = Math.floor(at / 1e9);
			const byAck = plan.pattern === "publish" || plan.pattern === "backlog";
			const came = byAck ? Number(ackedNs !== null) : receivedNs.filter((t) => t !== null).length;
			const known = seconds.get(second) ?? [0, 0];
			seconds.set(second, [known[0] + came, known[1] + each - came]);
		}
		return [...seconds].sort(([a], [b]) => a - b);
	};
	const open = (
		schedule: Pick<Plan["schedule"], "kind" | "rate"> & Partial<Plan["schedule"]>,
		warmupNs: number,
		durationNs: number,
	) => {
		const shape = { seed: 0, pieces: [], ...schedule };
		return {
			...shape,
			warmupNs,
			durationNs,
			warmupMessages: messagesBefore(shape, warmupNs),
			messages: messagesBefore(shape, warmupNs + durationNs),
		};
	};
	const rate = (messages: number) => ({ messages, perNs: 1e9 });
	const steps = inSteps(1, [
		{ perSecond: 40, seconds: 2 },
		{ perSecond: 90, seconds: 2 },
	]);

	test.each<[string, Parameters<typeof planOf>[0], number]>([
		["constant", { schedule: steady(50, 2, 5) }, 1],
		[
			"constant, after 1.3 s, with 0.4 s as its last second",
			{ schedule: open({ kind: "constant", rate: rate(33) }, 1.3e9, 3.4e9) },
			1,
		],
		[
			"less than one message a second",
			{ schedule: open({ kind: "constant", rate: { messages: 2, perNs: 5e9 } }, 0, 60e9) },
			1,
		],
		["poisson", { schedule: open({ kind: "poisson", rate: rate(300), seed: 7 }, 1.5e9, 6.2e9) }, 1],
		[
			"a rising rate",
			{
				schedule: open(
					{
						kind: "stages",
						rate: rate(200),
						pieces: [
							{ durationNs: 1e9, from: rate(10), to: rate(10) },
							{ durationNs: 4.5e9, from: rate(10), to: rate(200) },
						],
					},
					1e9,
					4.5e9,
				),
			},
			1,
		],
		["steps", { schedule: steps.schedule, phases: steps.phases }, 1],
		[
			"fan-out: every copy",
			{ schedule: steady(50, 1, 4), pattern: "fan-out", subscriptions: 3 },
			3,
		],
		[
			"publish: acknowledgements",
			{ schedule: steady(50, 1, 4), pattern: "publish", acks: true },
			1,
		],
		["work-queue", { schedule: steady(50, 1, 4), pattern: "work-queue" }, 1],
		[
			"backlog: acknowledgements",
			{
				schedule: steady(50, 1, 4),
				pattern: "backlog",
				acks: true,
				backlog: { pauseNs: 2e9, resumeNs: 3e9, messages: 50 },
			},
			1,
		],
	])("%s: what was due less what came", (_, changes, each) => {
		const plan = planOf(changes);
		const fates = fatesOf(plan);
		const [run] = buildResult(built(plan, fates)).runs;
		if (run === undefined) throw new Error("no run");
		expect(run.series.seconds.map((s) => [s.second, [s.count, s.missing]])).toEqual(
			counted(plan, fates, each),
		);
		const window = run.series.seconds.filter((s) => s.second >= 0);
		expect(sum(window.map((s) => s.missing ?? 0))).toBe(run.metrics[run.main]?.censored);
		expect(sum(window.map((s) => s.count + (s.missing ?? 0)))).toBe(
			run.intended * samplesPerMessage(plan, run.main),
		);
	});

	test("a second of which nothing completed is there, without a figure; what was never sent is missing too", () => {
		const plan = planOf({ schedule: steady(400, 1, 4) });
		const fates = fatesOf(plan, [2e9, 4e9]).map((fate, i) =>
			offsetNs(plan.schedule, i) >= 2e9 && offsetNs(plan.schedule, i) < 3e9
				? { sentNs: null, receivedNs: [] }
				: fate,
		);
		const [run] = buildResult(built(plan, fates)).runs;
		for (const second of [1, 2])
			expect(run?.series.seconds.find((s) => s.second === second)).toMatchObject({
				count: 0,
				missing: 400,
				p50: null,
				p99: null,
				max: null,
			});
		expect(run?.series.seconds.map((s) => s.second)).toEqual([-1, 0, 1, 2, 3]);
	});

	test("a percentile is of all that were due: 3 missing of 400 move p99 by as many ranks", () => {
		const plan = planOf({ schedule: steady(400, 0, 1) });
		const fates = Array.from({ length: 400 }, (_, i) => ({
			receivedNs: [i < 3 ? null : i * 2_500_000 + i * 100_000],
		}));
		const [run] = buildResult(built(plan, fates)).runs;
		// Rank 396 of 400: of 397 that came, number 3 .. 399, it is number 398.
		const p99 = run?.series.seconds[0]?.p99 ?? 0;
		expect(p99).toBeGreaterThanOrEqual(398 * 100_000);
		expect(p99).toBeLessThan(398 * 100_000 * 1.002);
	});

	test("of a closed loop nobody knows when they were due", () => {
		const plan = planOf({
			schedule: {
				kind: "closed",
				rate: null,
				warmupNs: 0,
				durationNs: 5e9,
				warmupMessages: 0,
				messages: 1000,
			},
		});
		const fates = Array.from({ length: 1000 }, (_, i) => ({
			sentNs: i * 1e6,
			receivedNs: [i % 10 === 0 ? null : i * 1e6 + 200_000],
		}));
		const [run] = buildResult(built(plan, fates)).runs;
		expect(run?.metrics.service?.censored).toBe(100);
		expect(run?.series.seconds.map((s) => s.missing)).toEqual([null]);
	});
});

describe("a run that has no such thing", () => {
	test("no data: no heat map", () => {
		const [run] = fixtureResult("no-data").runs;
		expect(run?.series.heat).toBeNull();
	});

	test("closed loop: neither lag nor queued, and a heat map of service", () => {
		const plan = planOf({
			schedule: {
				kind: "closed",
				rate: null,
				warmupNs: 0,
				durationNs: 5e9,
				warmupMessages: 0,
				messages: 3000,
			},
		});
		const fates = Array.from({ length: 3000 }, (_, i) => ({
			sentNs: i * 1e6,
			receivedNs: [i * 1e6 + (i < 100 ? 5e6 : 200_000)],
		}));
		const [run] = buildResult(built(plan, fates)).runs;
		expect(run?.main).toBe("service");
		expect(run?.series.seconds).toHaveLength(3);
		for (const s of run?.series.seconds ?? []) expect([s.lag, s.queued]).toEqual([null, null]);
		const { binsNs = [], cells = [] } = run?.series.heat ?? {};
		// 200 us lies a hair above the bin's lower bound 10^5.3; 5 ms in that from 10^6.6.
		expect(cells).toEqual([
			[0, 0, 900],
			[0, 13, 100],
			[1, 0, 1000],
			[2, 0, 1000],
		]);
		expect([binsNs[0], binsNs[13], binsNs.length]).toEqual([199_526, 3_981_070, 14]);
	});
});

test("a long run has the fewest seconds in a column with which there are at most 300, none of both warm-up and window", () => {
	const [warmup, seconds] = [7, 1000];
	const plan = planOf({ schedule: steady(2, warmup, seconds) });
	const fates = Array.from({ length: 2 * (warmup + seconds) }, (_, i) => ({
		receivedNs: [i * 5e8 + 1000 * (i + 1)],
	}));
	const [run] = buildResult(built(plan, fates)).runs;
	const { cells = [], width } = run?.series.heat ?? {};
	const columns = [...new Set(cells.map(([second]) => second))];
	// 4 s: 250 columns of window and 2 of warm-up. 3 s: 334 and 3.
	expect(width).toBe(4);
	expect(columns).toHaveLength(252);
	expect(columns.slice(0, 4)).toEqual([-8, -4, 0, 4]);
	const samples = (at: number) =>
		sum(cells.filter(([second]) => second === at).map(([, , n]) => n));
	expect([-8, -4, 0, 996].map(samples)).toEqual([6, 8, 8, 8]);
	expect(sum(cells.map(([, , n]) => n))).toBe(fates.length);
	expect(JSON.stringify(run?.series.heat).length).toBeLessThan(40_000);
});

describe("bins", () => {
	test("are ten a decade, each a tenth of a decade above the one before", () => {
		expect([0, 10, 60, 90].map(binStart)).toEqual([1, 10, 1e6, 1e9]);
		for (let bin = 1; bin < 126; bin++)
			expect(binStart(bin) / binStart(bin - 1)).toBeCloseTo(10 ** 0.1, 4);
		// An hour, the largest value that is recorded.
		expect(binStart(126)).toBeGreaterThan(3.6e12);
	});

	test("hold 0 in the first, and every value up to an hour", () => {
		const values = [0, 0, 1, 2, 10, 999_000, 3.6e12];
		const bins = binCounts(distribution(bucketsOf(histogramOf(values))));
		expect(sum([...bins.values()])).toBe(values.length);
		expect(bins.get(0)).toBe(3);
		expect(bins.get(10)).toBe(1);
		expect(bins.get(59)).toBe(1);
		expect(bins.get(125)).toBe(1);
	});
});
