import { describe, expect, test } from "vitest";
import { fromOld } from "../chart/from-old.ts";
import type { TimeFigure } from "../chart/old-figure.ts";
import { tablesOf } from "../chart/read.ts";
import type { Result, Run } from "../model/result.ts";
import { FIXTURES } from "../page/pages.fake.ts";
import { mostHidden } from "../result/omission.ts";
import { fixtureResult, publishedOnce } from "../result/stored.fake.ts";
import { intervalText, percentileValue } from "../result/words.ts";
import { formatDuration } from "../units.ts";
import { figuresOf, listOf, type RunFigures } from "./figures.ts";
import { timeFigure } from "./time-figure.ts";

const PUBLISHED = ["nats-stall", "message-queue-latency"];
/** Some tests look at them; what holds of all figures is tried with the others. */
const MORE = ["commit-log-latency", "dissecting-message-queues"];
const results = new Map<string, Result>([
	...FIXTURES.map((name) => [name, fixtureResult(name)] as const),
	...[...PUBLISHED, ...MORE].map((name) => [name, publishedOnce(name)] as const),
]);

function ofRun(result: Result, run: Run, budget?: number): RunFigures {
	const found = figuresOf(result, budget).runs.get(run.index);
	if (found === undefined) throw new Error(`no figures of run ${run.index}`);
	return found;
}

function of(name: string): Result {
	return results.get(name) as Result;
}

function panel(time: TimeFigure | null, title: string) {
	const found = time?.panels.find((p) => p.title.startsWith(title));
	if (found === undefined) throw new Error(`no panel ${title}`);
	return found;
}

function line(time: TimeFigure | null, title: string, key: string) {
	const found = panel(time, title).lines.find((l) => l.key === key);
	if (found === undefined) throw new Error(`no line ${key} in ${title}`);
	return found.points;
}

describe.each([...FIXTURES, ...PUBLISHED])("the figures of %s", (name) => {
	const result = of(name);
	const figures = figuresOf(result, Number.POSITIVE_INFINITY);
	const list = listOf(figures);

	test("have names that are unique, and good for files", () => {
		const ids = list.map(({ id }) => id);
		expect(new Set(ids).size).toBe(ids.length);
		for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9-]+$/);
	});

	test("say what was measured, and in words what they show", () => {
		for (const { title, facts, description } of list) {
			expect(title).not.toBe("");
			expect(facts).not.toBe("");
			expect(description).not.toMatch(/NaN|Infinity|undefined|null|\[object/);
			expect(description).not.toBe("");
		}
	});

	test("have at every percentile the value, text and interval of result.json", () => {
		for (const run of result.runs)
			for (const curve of figures.runs.get(run.index)?.percentiles?.curves ?? []) {
				const m = run.metrics[curve.key as keyof Run["metrics"]];
				const known = m?.percentiles.filter((p) => p.value !== null) ?? [];
				expect(curve.marks).toEqual(
					known.map((p) => ({
						p: p.p,
						value: p.value,
						text: percentileValue(p, run),
						interval: intervalText(p),
						low: p.low,
						high: p.high,
					})),
				);
				expect(curve.max?.value ?? null).toBe(m?.censored === 0 ? m.max : null);
			}
	});

	test("draw curves through points of result.json only, all with a name and the last one among them", () => {
		for (const run of result.runs)
			for (const { key, points, marks } of ofRun(result, run).percentiles?.curves ?? []) {
				const m = run.metrics[key as keyof Run["metrics"]];
				const known = new Map(
					[...(m?.curve ?? []), ...(m?.percentiles ?? [])].map((c) => [c.p, c.value]),
				);
				expect(points.filter(([p, value]) => value !== known.get(p))).toEqual([]);
				const ps = points.map(([p]) => p);
				expect(ps).toEqual(expect.arrayContaining(marks.map(({ p }) => p)));
				expect(ps.at(-1)).toBe(Math.max(m?.curve.at(-1)?.p ?? 0, marks.at(-1)?.p ?? 0));
			}
	});

	test("are plain JSON without a number that is none", () => {
		expect(JSON.parse(JSON.stringify(list))).toEqual(list);
	});
});

describe("over time", () => {
	const result = of("stall");
	const run = result.runs[0] as Run;
	const { time } = ofRun(result, run);

	test("a second stands at its middle with the values of result.json", () => {
		for (const key of ["p50", "p99", "max"] as const)
			expect(line(time, "response", key)).toEqual(
				run.series.seconds.map((s) => [s.second + 0.5, s[key]]),
			);
	});

	test("messages per second are those of the ticks, without the drain", () => {
		const warmup = run.window.startNs / 1e9;
		const end = run.window.endNs / 1e9;
		expect(line(time, "messages per second", "sent")).toEqual(
			run.series.ticks
				.filter(({ at }) => at <= end)
				.map(({ at, sent }) => [at - 0.5 - warmup, sent]),
		);
	});

	test("messages in flight are the ten samples of each second", () => {
		const ticks = run.series.ticks.filter(({ at }) => at <= run.window.endNs / 1e9);
		const points = line(
			ofRun(result, run, Number.POSITIVE_INFINITY).time,
			"messages in flight",
			"in-flight",
		);
		expect(points.map(([, n]) => n)).toEqual(ticks.flatMap((t) => t.backlog));
	});

	test("what the client library held is a line beside them, where it held anything", () => {
		const holding = (held: number[] | null) => ({
			...run,
			series: { ...run.series, ticks: run.series.ticks.map((t) => ({ ...t, held })) },
		});
		const [title, key] = ["messages in flight", "held"] as const;
		const of = (held: number[] | null) => {
			const runs = [holding(held)];
			return ofRun({ ...result, runs }, run, Number.POSITIVE_INFINITY).time;
		};
		const points = line(of([0, 7]), title, key);
		expect(points.map(([, n]) => n)).toEqual(points.map((_, i) => 7 * (i % 2)));
		const keys = (held: number[] | null) =>
			of(held)
				?.panels.find((p) => p.title === title)
				?.lines.map((l) => l.key);
		expect(keys([0, 0])).toEqual(["in-flight"]);
		expect(keys(null)).toEqual(["in-flight"]);
	});

	test("what was not measured is a gap, also where a second is missing altogether", () => {
		const seconds = run.series.seconds.map((s) => (s.second === 1 ? { ...s, p99: null } : s));
		const holed = {
			...result,
			runs: [{ ...run, series: { ...run.series, seconds: seconds.filter((s) => s.second !== 3) } }],
		};
		const points = line(ofRun(holed, holed.runs[0] as Run).time, "response", "p99");
		expect(points.find(([s]) => s === 1.5)).toEqual([1.5, null]);
		expect(points.find(([s]) => s === 3.5)).toEqual([3.5, null]);
		expect(points.find(([s]) => s === 2.5)?.[1]).not.toBeNull();
	});

	test("a long run has at most 300 points a line: the worst of each stretch, means of counts", () => {
		const [first] = run.series.seconds;
		const [tick] = run.series.ticks;
		if (!first || !tick) throw new Error("no data");
		const long: Run = {
			...run,
			window: { startNs: 0, endNs: 1200e9 },
			series: {
				...run.series,
				seconds: Array.from({ length: 1200 }, (_, second) => ({
					...first,
					second,
					p99: second === 701 ? 9e9 : 1e6,
					max: second === 701 ? 9e9 : 1e6,
				})),
				ticks: Array.from({ length: 1200 }, (_, i) => ({
					...tick,
					at: i + 1,
					sent: i % 4 === 0 ? 400 : 0,
				})),
			},
		};
		const figure = ofRun({ ...result, runs: [long] }, long).time;
		const p99 = line(figure, "response", "p99");
		expect(p99).toHaveLength(300);
		expect(p99.filter(([, v]) => v === 9e9)).toEqual([[702, 9e9]]);
		const sent = line(figure, "messages per second", "sent");
		expect(new Set(sent.map(([, v]) => v))).toEqual(new Set([100]));
	});

	test("lag and queued have their line where they were measured", () => {
		const beside = {
			...run,
			series: {
				...run.series,
				seconds: run.series.seconds.map((s, i) => ({
					...s,
					lag: { p99: 1000 + i, max: 2000 },
					queued: null,
				})),
			},
		};
		const figure = ofRun({ ...result, runs: [beside] }, beside).time;
		expect(line(figure, "the generator's lag", "lag").map(([, v]) => v)).toEqual(
			run.series.seconds.map((_, i) => 1000 + i),
		);
		expect(panel(figure, "the generator's lag").lines.map(({ key }) => key)).toEqual(["lag"]);
	});

	test("faults are marked as they were done, not as they were planned", () => {
		const failover = fixtureResult("failover");
		const [killed] = failover.runs as [Run];
		expect(ofRun(failover, killed).time?.marks.slice(1)).toEqual([
			{ from: 4.004, to: 7.412, text: "kill of node 2 (the leader) for 3.41s" },
			{ from: 9.002, to: 9.302, text: "pause for 300ms" },
		]);
		const [first, second] = killed.failover;
		if (!first || !second) throw new Error("no faults");
		const other = {
			...killed,
			failover: [
				// From when the broker was told on: nothing that it did lies before its mark.
				{ ...first, calledNs: first.beganNs - 0.2e9, endedNs: null },
				{ ...second, error: "it could not be done" },
			],
		};
		expect(ofRun({ ...failover, runs: [other] }, other).time?.marks.slice(1)).toEqual([
			{ from: 3.804, to: 12, text: "kill of node 2 (the leader), never taken back" },
		]);
	});

	test("warm-up, phases and faults are marked", () => {
		const marked: Run = {
			...run,
			window: { startNs: 2e9, endNs: 12e9 },
			phases: [
				{ name: "step 1: 100/s", fromNs: 0, toNs: 5e9 },
				{ name: "step 2: 200/s", fromNs: 5e9, toNs: 10e9 },
			].map((phase) => ({
				...phase,
				intended: 1,
				rate: 1,
				metric: "response" as const,
				latency: null,
				lagP99: null,
				lagP99Weak: false,
				throughput: { sent: 1, acked: null, received: null },
			})),
			load: {
				...run.load,
				faults: [{ atNs: 10e9, action: "pause", forNs: 5e8, node: null, delayNs: null }],
			},
		};
		expect(ofRun({ ...result, runs: [marked] }, marked).time?.marks).toEqual([
			{ from: -2, to: 0, text: "warm-up" },
			{ from: 0, to: 0, text: "step 1: 100/s" },
			{ from: 5, to: 5, text: "step 2: 200/s" },
			{ from: 8, to: 8.5, text: "pause for 500ms (planned)" },
		]);
	});
});

describe("messages that never completed", () => {
	const result = of("lost");
	const run = result.runs[0] as Run;
	const at2 = run.series.seconds.find((s) => s.second === 2);
	const { time, heat } = ofRun(result, run);
	const stretch = {
		from: 2,
		to: 3,
		count: 12,
		due: 1000,
		beyond: ["max", "p99"],
		longest: at2?.max,
	};

	test("are marked in the second that they were due in; its maximum and p99 are gaps, its p50 is none", () => {
		for (const figure of [time, heat])
			expect(figure?.unfinished).toEqual({ stretches: [stretch], beyond: "> 30s", unplaced: null });
		const at = (key: string) => line(time, "response", key).find(([s]) => s === 2.5)?.[1];
		expect([at("max"), at("p99"), at("p50")]).toEqual([null, null, at2?.p50]);
	});

	test("stand in the description of both pictures", () => {
		expect(time?.description).toContain(
			"Never completed: 12 of 1 000 from 2s to 3s. Response by second of intended time: max > 30s, p99 > 30s, p50 at most ",
		);
		expect(heat?.description).toContain(
			"Never completed: 12 of 1 000 from 2s to 3s. Those are in no cell. The slowest that completed took between",
		);
	});

	test("stand in the tables, with the longest that completed", () => {
		if (!time || !heat) throw new Error("no figures");
		const longest = formatDuration(at2?.max ?? 0);
		const [table] = tablesOf(fromOld(time));
		const row = table?.rows.find(([second]) => second === "2s to 3s");
		expect(table?.head.slice(0, 5)).toEqual([
			"second",
			"never completed",
			...["max", "p99", "p50"].map((key) => `response by second of intended time: ${key}`),
		]);
		expect(row?.slice(1, 5)).toEqual([
			"12 of 1 000",
			`> 30s (${longest} of those that completed)`,
			"> 30s",
			formatDuration(at2?.p50 ?? 0),
		]);
		expect(table?.rows.find(([s]) => s === "1s to 2s")?.[1]).toBe("0");
		const [cells] = tablesOf(fromOld(heat));
		expect(cells?.rows.find(([s]) => s === "2s")?.slice(0, 4)).toEqual([
			"2s",
			"988",
			"12 of 1 000",
			`> 30s (${longest} of those that completed)`,
		]);
	});

	test("of a run without them there is nothing: no column, no word", () => {
		const healthy = of("healthy");
		const figures = ofRun(healthy, healthy.runs[0] as Run);
		if (!figures.time || !figures.heat) throw new Error("no figures");
		for (const figure of [figures.time, figures.heat]) {
			expect(figure.unfinished.stretches).toEqual([]);
			expect(figure.description).not.toContain("ompleted");
			for (const { head } of tablesOf(fromOld(figure)))
				expect(head).not.toContain("never completed");
		}
	});

	test("keep their mark in a long run, and the stretch is a gap though its other seconds were fast", () => {
		const [first] = run.series.seconds;
		if (!first) throw new Error("no data");
		const long: Run = {
			...run,
			window: { startNs: 0, endNs: 1200e9 },
			series: {
				...run.series,
				seconds: Array.from({ length: 1200 }, (_, second) => ({
					...first,
					second,
					...(second === 701
						? { count: 0, missing: 1000, p50: null, p99: null, max: null }
						: { count: 999, missing: second === 30 ? 1 : 0, max: 5e6 }),
				})),
				heat: {
					binsNs: [1e5],
					endNs: 2e5,
					width: 4,
					cells: Array.from({ length: 300 }, (_, i) => [i * 4, 0, 3996]),
				},
			},
		};
		const figures = ofRun({ ...result, runs: [long] }, long);
		for (const figure of [figures.time, figures.heat])
			expect(figure?.unfinished.stretches).toEqual([
				{ from: 28, to: 32, count: 1, due: 3997, beyond: ["max"], longest: 5e6 },
				{ from: 700, to: 704, count: 1000, due: 3997, beyond: ["max", "p99", "p50"], longest: 5e6 },
			]);
		for (const [key, gaps] of [
			["max", [30, 702]],
			["p99", [702]],
			["p50", [702]],
		] as const)
			expect(
				line(figures.time, "response", key)
					.filter(([, v]) => v === null)
					.map(([s]) => s),
			).toEqual(gaps);
	});

	test("of which nobody knows the second are told all the same", () => {
		const unknown: Run = {
			...run,
			series: { ...run.series, seconds: run.series.seconds.map((s) => ({ ...s, missing: null })) },
		};
		const figures = ofRun({ ...result, runs: [unknown] }, unknown);
		for (const figure of [figures.time, figures.heat]) {
			expect(figure?.unfinished.unplaced).toBe("12 never completed, not known in which second");
			expect(figure?.description).toContain("12 never completed, not known in which second.");
		}
	});
});

describe("where ticks are missing", () => {
	const result = of("stall");
	const base = result.runs[0] as Run;
	const [tick] = base.series.ticks;
	if (!tick) throw new Error("no data");
	const run: Run = {
		...base,
		window: { startNs: 0, endNs: 1200e9 },
		series: {
			...base.series,
			ticks: Array.from({ length: 1200 }, (_, i) => ({
				...tick,
				at: i + 1,
				sent: i < 600 ? 100 : 300,
				backlog: Array.from({ length: 10 }, () => (i < 600 ? 1 : 9)),
			})).filter(({ at }) => at !== 2 && (at <= 500 || at > 509)),
		},
	};
	const { time } = ofRun({ ...result, runs: [run] }, run);

	test("rates are a gap, and every other second stays in its stretch", () => {
		const sent = line(time, "messages per second", "sent");
		expect(sent.filter(([, v]) => v === null)).toHaveLength(1);
		// 501 to 508 are two stretches of four; 509 is missing in the third.
		expect(sent.filter(([s]) => s > 495 && s < 515)).toEqual([
			[498, 100],
			[506.5, null],
			[510.5, 100],
			[514, 100],
		]);
		// No mean is of both halves.
		expect(new Set(sent.map(([, v]) => v))).toEqual(new Set([100, 300, null]));
		expect(sent.find(([, v]) => v === 300)?.[0]).toBe(602);
	});

	test("messages in flight are a gap", () => {
		const points = line(time, "messages in flight", "in-flight");
		const gaps = points.filter(([, v]) => v === null).map(([s]) => s);
		expect(gaps).toHaveLength(1);
		expect(gaps[0]).toBeGreaterThan(500);
		expect(gaps[0]).toBeLessThan(510);
	});
});

describe("heat", () => {
	const result = of("stall");
	const run: Run = {
		...(result.runs[0] as Run),
		series: {
			...(result.runs[0] as Run).series,
			heat: {
				binsNs: [1e5, 2e5, 4e5],
				endNs: 8e5,
				width: 1,
				cells: [
					[-1, 0, 5],
					[0, 0, 9],
					[0, 2, 1],
					[1, 1, 3],
				],
			},
		},
	};

	test("has the cells of result.json, and names the slowest", () => {
		const { heat } = ofRun({ ...result, runs: [run] }, run);
		expect(heat?.cells).toEqual(run.series.heat?.cells);
		expect(heat?.description).toContain("between 400us and 800us");
	});

	test("is nothing where nothing was measured", () => {
		const none = { ...run, series: { ...run.series, heat: null } };
		expect(ofRun({ ...result, runs: [none] }, none).heat).toBeNull();
	});

	test("in a small budget joins columns without losing a message", () => {
		const long = {
			...run,
			series: {
				...run.series,
				heat: {
					binsNs: [1e5, 2e5],
					endNs: 4e5,
					width: 1,
					cells: Array.from(
						{ length: 600 },
						(_, i) => [i - 5, i % 2, 2] as [number, number, number],
					),
				},
			},
		};
		const { heat } = ofRun({ ...result, runs: [long] }, long);
		const cells = heat?.cells ?? [];
		expect(new Set(cells.map(([s]) => s)).size).toBeLessThanOrEqual(301);
		expect(cells.reduce((n, c) => n + c[2], 0)).toBe(1200);
		// No column holds both warm-up and window.
		const size = heat?.width ?? 0;
		expect(cells.every(([s]) => s >= 0 || s + size <= 0)).toBe(true);
	});
});

describe("of one run", () => {
	test("what coordinated omission hides has a name with both values", () => {
		const result = of("nats-stall");
		const run = result.runs[0] as Run;
		const hidden = mostHidden(run);
		if (hidden === null) throw new Error("nothing is hidden");
		expect(ofRun(result, run).percentiles?.hidden).toEqual([
			{
				upper: "response",
				lower: "service",
				text: `hidden by coordinated omission: p99 ~${formatDuration(hidden.response)} instead of ${formatDuration(hidden.service)}`,
			},
		]);
	});

	test("messages that never completed are told, and there is no maximum", () => {
		const result = of("lost");
		const [curve] = ofRun(result, result.runs[0] as Run).percentiles?.curves ?? [];
		expect(curve?.censored).toBe("12 never completed: > 30s");
		expect(curve?.max).toBeNull();
	});
});

describe("side by side", () => {
	test("a single run has no overview", () => {
		expect(figuresOf(of("stall")).overview).toEqual([]);
	});

	test("repeats of one system share its switch, colour and dashes; the one that decides is strong", () => {
		const result = of("repeats");
		const [repeats] = figuresOf(result).overview;
		if (repeats?.kind !== "percentiles") throw new Error("no curves");
		for (const [place, system] of ["nats", "kafka"].entries()) {
			const own = repeats.curves.filter((c) => c.group === system);
			expect(own).toHaveLength(3);
			expect(own.map((c) => [c.colour, c.dash, c.hidden])).toEqual(
				Array(3).fill([place, place, false]),
			);
			// The median of three by p99, found a second way.
			const runs = result.runs.filter((run) => run.system === system);
			const p99 = (run: Run) =>
				run.metrics.response?.percentiles.find((x) => x.p === 99)?.value ?? 0;
			const [, middle] = runs.toSorted((a, b) => p99(a) - p99(b));
			expect(own.filter((c) => !c.thin).map((c) => c.key)).toEqual([`run-${middle?.index}`]);
		}
	});

	test("each case has a panel, with all of its systems", () => {
		const result = of("message-queue-latency");
		const [cases] = figuresOf(result).overview;
		if (cases?.kind !== "percentiles") throw new Error("no curves");
		const names = [...new Set(result.runs.map((run) => run.case))];
		expect(cases.panels.map(({ title }) => title)).toEqual(names);
		for (const [panel, name] of names.entries())
			expect(cases.curves.filter((c) => c.panel === panel).map((c) => c.group)).toEqual(
				result.runs.filter((r) => r.case === name).map((r) => r.system),
			);
		expect(cases.curves.every((c) => !c.hidden && !c.thin)).toBe(true);
	});

	test("p99 by case has the values and intervals of result.json; over a size, where only that varies", () => {
		for (const name of ["message-queue-latency", "commit-log-latency"]) {
			const result = of(name);
			const figure = figuresOf(result).overview.find(({ id }) => id === "cases-response");
			if (figure?.kind !== "rate") throw new Error("no figure");
			expect(figure.axis.unit).toBe(name === "commit-log-latency" ? "bytes" : "cases");
			for (const { group, points } of figure.lines)
				expect(points.map(({ value, low, high }) => [value, low, high])).toEqual(
					result.runs
						.filter((run) => run.system === group)
						.map((run) => {
							const p = run.metrics.response?.percentiles.find((x) => x.p === 99);
							return [p?.value, p?.low, p?.high];
						}),
				);
		}
	});
});

test("two patterns of one scenario are no points of one line", () => {
	const result = of("message-queue-latency");
	const [first, , third] = [...new Set(result.runs.map((run) => run.case))];
	for (const run of result.runs)
		if (run.case === first || run.case === third) run.load = { ...run.load, pattern: "fan-out" };
	const figures = figuresOf(result).overview.filter(({ kind }) => kind === "rate");
	expect(figures.map(({ id }) => id)).toEqual([
		"cases-response-fan-out",
		"cases-response-round-trip",
	]);
	const points = figures.map((figure) =>
		figure.kind === "rate" ? figure.lines.map((line) => line.points.length) : [],
	);
	expect(points).toEqual([
		[2, 2, 2, 2],
		[3, 3, 3, 3],
	]);
	expect(figures[0]?.title).toMatch(/, fan-out$/);
});

describe("a hundred runs", () => {
	const copies = (name: string, pick: number): Result => {
		const result = of(name);
		const run = result.runs[pick] as Run;
		return {
			...result,
			runs: Array.from({ length: 100 }, (_, i) => ({
				...run,
				index: i + 1,
				system: `${run.system}${i % 10}`,
				case: `${run.case} ${Math.floor(i / 10)}`,
				folder: `runs/${i}-copy`,
			})),
		};
	};

	test("in a smaller budget have fewer points", () => {
		const result = copies("commit-log-latency", 3);
		const size = (budget: number) => JSON.stringify(listOf(figuresOf(result, budget))).length;
		expect(size(400_000)).toBeLessThan(0.7 * size(4_000_000));
	});
});

test("stretches of several seconds are the same in all panels, counted from the window's start, and hold what was due in them", () => {
	const result = fixtureResult("healthy");
	const [run] = result.runs;
	if (!run) throw new Error("no run");
	// A warm-up of 1 s and a window of 5 s; twice as many are due in each second as in the one before.
	const rate = (messages: number) => ({ messages, perNs: 1e9 });
	const due = [100, 200, 400, 800, 1600, 3200];
	run.load.schedule = {
		...run.load.schedule,
		kind: "stages",
		rate: rate(3200),
		pieces: due.map((n) => ({ durationNs: 1e9, from: rate(n), to: rate(n) })),
	};
	expect(run.window).toMatchObject({ startNs: 1e9, endNs: 6e9 });
	const time = timeFigure("t", run, result, 3);
	expect(time?.width).toBe(2);
	const middles = (points: readonly (readonly [number, unknown])[]) =>
		points.map(([second]) => second);
	// -1 s to 0 s is the half of a stretch that was; 4 s to 5 s of one that will be.
	expect(line(time, "messages per second", "scheduled")).toEqual([
		[-0.5, 100],
		[1, (200 + 400) / 2],
		[3, (800 + 1600) / 2],
		[4.5, 3200],
	]);
	expect(middles(line(time, "messages per second", "sent"))).toEqual(
		middles(line(time, "messages per second", "scheduled")),
	);
	const whole = middles(line(time, "response", "p99"));
	for (const middle of middles(line(time, "CPU", "generator"))) expect(whole).toContain(middle);
});
