import { describe, expect, test } from "vitest";
import { type Baseline, Comparison } from "../model/comparison.ts";
import { baselineWith, machineWith } from "./baseline.fake.ts";
import { compareRuns, gateVerdict, pairOf } from "./compare.ts";

type Figures = Parameters<typeof baselineWith>[0];
type Parts = Parameters<typeof baselineWith>[1];

const MS = 1e6;
/** Five runs around a value, half a per cent apart. */
const around = (value: number, n = 5) =>
	Array.from({ length: n }, (_, i) => value * (1 + 0.005 * (i - (n - 1) / 2)));
const b = (figures: Figures, parts: Parts = {}) =>
	baselineWith(figures, { runId: "run-b", ...parts });
const p99 = (values: readonly (number | null)[]) => ({
	"response p50": around(MS, values.length),
	"response p99": values,
});
const a = baselineWith(p99(around(MS)));
const compared = (x: Baseline, y: Baseline) =>
	compareRuns({ name: x.runId, of: x }, { name: y.runId, of: y });
const only = (x: Baseline, y: Baseline, metric = "response p99") =>
	Comparison.parse(compared(x, y).comparisons.find((c) => c.metric === metric));

test.each([
	[1, "same", true],
	[1.25, "inconclusive", false],
	[2, "regressed", false],
	[0.5, "improved", true],
])("five runs with %f times the p99: %s", (factor, verdict, notWorse) => {
	const found = only(a, b(p99(around(factor * MS))));
	expect(found).toMatchObject({ verdict, notWorse, judged: true, advisory: null });
	expect(found).toMatchObject({ margin: 0.25, marginFrom: "default", unit: "ns" });
	expect(found.ratio).toBeCloseTo(factor, 2);
	expect(found.confidence).toBeCloseTo(0.968, 3);
});

test("of a rate less is worse, and 0 is a regression", () => {
	const entry = { closed: true };
	const rates = (values: readonly number[]) =>
		only(
			baselineWith({ throughput: around(9) }, { entry }),
			b({ throughput: values }, { entry }),
			"throughput",
		);
	expect(rates(around(8))).toMatchObject({
		verdict: "regressed",
		unit: "messages/s",
		margin: 0.05,
	});
	expect(rates(around(11))).toMatchObject({ verdict: "improved" });
	expect(rates([0, 0, 0, 0, 0])).toMatchObject({ verdict: "regressed", ratio: 0, high: 0 });
});

test.each([
	[3, 3, null],
	[3, 5, "regressed"],
	[5, 3, "regressed"],
	[4, 4, "regressed"],
])("%i and %i runs are enough: %s", (n, m, verdict) => {
	const found = only(baselineWith(p99(around(MS, n))), b(p99(around(9 * MS, m))));
	expect(found.verdict).toBe(verdict ?? "inconclusive");
	expect(found.low === null && found.high === null && found.confidence === null).toBe(
		verdict === null,
	);
});

describe("what is judged", () => {
	const many = {
		"response p50": around(MS),
		"response p90": around(2 * MS),
		"response p99": around(3 * MS),
		"response p99.9": around(4 * MS),
		"response max": around(5 * MS),
		"service p50": around(MS),
		"service p99": around(MS),
		"throughput.sent": around(9),
		achieved: around(1000),
	};
	const judged = (figures: Figures, entry: Partial<Baseline["runs"][number]> = {}) =>
		compared(baselineWith(figures, { entry }), b(figures, { entry })).comparisons.map(
			(c) => `${c.metric}${c.judged ? "" : ", shown"}`,
		);

	test("p50 and p99 of the main metric decide; its other percentiles and max are shown", () => {
		expect(judged(many)).toEqual([
			"response p50",
			"response p90, shown",
			"response p99",
			"response p99.9, shown",
			"response max, shown",
		]);
	});

	test("of a closed loop its throughput too; where nobody consumes, what is acknowledged", () => {
		const entry = { main: "service", closed: true };
		const decide = (figures: Figures) =>
			judged(figures, entry).filter((text) => !text.endsWith("shown"));
		expect(decide(many)).toEqual(["service p50", "service p99", "throughput.sent"]);
		const received = { ...many, throughput: around(9) };
		expect(decide(received)).toEqual(["service p50", "service p99", "throughput"]);
	});

	test("of a search for the highest rate that rate alone; one that the generator ended proves no lower rate of the other", () => {
		const rate = (value: number, more: boolean, runId: string) =>
			baselineWith(
				{ "highest rate": around(value) },
				{ runId, entry: { beyond: more ? ["highest rate"] : [] } },
			);
		expect(judged({ "highest rate": around(9000) })).toEqual(["highest rate"]);
		const rates = (x: boolean, y: boolean) =>
			only(rate(9000, x, "run-a"), rate(5000, y, "run-b"), "highest rate").verdict;
		expect(rates(false, false)).toBe("regressed");
		expect(rates(true, false)).toBe("regressed");
		expect(rates(false, true)).toBe("inconclusive");
	});

	test("a line judges a figure by its margin, whether the runs have it or not", () => {
		const place = { system: "nats", case: "256B 1000/s" };
		const { pair } = pairOf(
			{ name: "before", of: baselineWith(many), ...place },
			{ name: "now", of: b(many), ...place },
			null,
		);
		const line = { margin: 0.4, allowanceNs: null };
		expect(pair?.compare("service p99", line)).toMatchObject({
			judged: true,
			margin: 0.4,
			verdict: "same",
		});
		expect(pair?.compare("service p99")).toMatchObject({ judged: false, margin: 0.25 });
		expect(pair?.compare("response p95", line)).toMatchObject({
			judged: true,
			verdict: "inconclusive",
			ratio: null,
			why: "no run of before has a value",
		});
	});

	test("values stay in the order of the runs, and a run without one is not counted as 0", () => {
		const found = only(baselineWith(p99([3, 1, null, 2, 5, 4])), b(p99([1, 2, 3, 4, 5, 6])));
		expect(found.a).toEqual({
			name: "run-a",
			runs: 6,
			values: [3, 1, 2, 5, 4],
			median: 3,
			weak: false,
		});
	});
});

describe("machines", () => {
	const slow = (machine: Baseline["machine"], parts: Parts = {}) =>
		only(a, b(p99(around(1.4 * MS)), { machine, ...parts }));
	const set = (smt: string) => machineWith({ settings: { SMT: smt } });

	test("the same start of the same machine: the margin as it is; another start doubles it", () => {
		expect(slow(machineWith())).toMatchObject({ verdict: "regressed", margin: 0.25 });
		const stored = { verdict: "same", judged: true, margin: 0.5 };
		expect(slow(machineWith({ boot: "boot 2" }))).toMatchObject(stored);
		// An unknown start counts as another one.
		const unknown = machineWith({ boot: null });
		expect(
			only({ ...a, machine: unknown }, { ...a, runId: "x", machine: unknown }).marginFrom,
		).toMatch(/stored/);
	});

	test("two systems of one run were measured together, whatever is known; the same run id alone is not one run", () => {
		const one = { ...a, machine: null };
		expect(only(one, one)).toMatchObject({ advisory: null, margin: 0.25 });
		const machine = machineWith({ boot: "boot 2" });
		expect(only(a, { ...a, machine }).margin).toBe(0.25);
		expect(only({ ...a, startedAt: null }, { ...a, machine, startedAt: null }).margin).toBe(0.5);
		expect(only({ ...one, startedAt: null }, { ...one, startedAt: null }).advisory).not.toBeNull();
	});

	test.each([
		["another machine: CPU Example CPU against Other CPU", machineWith({ cpu: "Other CPU" })],
		["one of the two does not say on which machine it was made", null],
	])("%s: shown, and never judged", (advisory, machine) => {
		const found = slow(machine);
		expect(found).toMatchObject({ judged: false, verdict: "regressed", advisory });
		expect(gateVerdict(found)).toBe("inconclusive");
	});

	test("the same machine set otherwise is another; a baseline of before settings were recorded judges as it did", () => {
		const found = only({ ...a, machine: set("off") }, b(p99(around(MS)), { machine: set("on") }));
		expect(found).toMatchObject({ judged: false, advisory: "another machine: SMT off against on" });
		expect(slow(set("on")).judged).toBe(true);
	});
});

describe("what is not compared, and why", () => {
	const whyNot = (x: Baseline, y: Baseline) =>
		compared(x, y).notCompared.map((n) => `${n.case}: ${n.why}`);

	test("other work, with what differs where that was written down", () => {
		const works = { w2: { load: "5000/s constant", message: "1KiB" } };
		const other = b(p99(around(MS)), { entry: { work: "w2" }, works });
		expect(compared(a, other).comparisons).toEqual([]);
		expect(whyNot(a, other)).toEqual([
			"256B 1000/s: other work: load 1000/s constant against 5000/s constant, message none against 1KiB",
		]);
		expect(whyNot({ ...a, works: {} }, other)).toEqual([
			"256B 1000/s: other work: what differs was not written down",
		]);
	});

	test("systems and cases that only one side has", () => {
		expect(whyNot(a, b(p99([1]), { entry: { case: "other" } }))).toEqual([
			"other: run-a has no run of nats, other: nothing to compare with",
			"256B 1000/s: only run-a has runs of it",
		]);
	});

	const without = (reason: string, ...repeats: readonly number[]) => ({
		entries: ({ repeat }: { repeat: number }) =>
			repeats.includes(repeat) ? { without: reason, figures: {} } : {},
	});

	test("a side on which no run counts", () => {
		const none = b(p99(around(MS)), { entry: { without: "interrupted", figures: {} } });
		expect(compared(a, none).comparisons).toEqual([]);
		expect(whyNot(a, none).at(-1)).toBe("256B 1000/s: no run of run-b counts");
	});

	test("runs without figures are named, and the others count", () => {
		const some = b(p99(around(MS, 8)), {
			entries: ({ repeat }) =>
				repeat === 2
					? { without: "interrupted", figures: {} }
					: repeat > 6
						? { without: "invalid", figures: {} }
						: {},
		});
		expect(whyNot(a, some)).toEqual([
			"256B 1000/s: repeat 2 of run-b does not count: interrupted",
			"256B 1000/s: repeats 7, 8 of run-b do not count: invalid",
		]);
		// The runs left are the same; the others might not have been.
		expect(only(a, some)).toMatchObject({
			b: { runs: 5 },
			verdict: "inconclusive",
			notWorse: false,
			why: expect.stringMatching(
				/; but repeat 2 of run-b does not count: interrupted; repeats 7, 8 of run-b do not count: invalid: the runs that do not count may be the worse ones$/,
			),
		});
	});

	test.each([
		[1, "inconclusive"],
		[0.5, "inconclusive"],
		[2, "regressed"],
	])(
		"with a run of the candidate that was stopped %f times is %s: the slowest are those that are stopped",
		(factor, verdict) => {
			const stopped = without("stopped as p99 < 5ms could not be met any more", 6);
			expect(only(a, b(p99(around(factor * MS, 6)), stopped)).verdict).toBe(verdict);
		},
	);

	test("runs of the baseline that do not count are named, and leave it open when they are more than half", () => {
		const base = (...repeats: readonly number[]) =>
			baselineWith(p99(around(MS, 8)), without("invalid", ...repeats));
		const half = base(1, 2, 3, 4);
		expect(whyNot(half, b(p99(around(MS))))).toHaveLength(1);
		expect(only(half, b(p99(around(MS)))).verdict).toBe("same");
		const most = only(base(1, 2, 3, 4, 5), b(p99(around(MS))));
		expect(most.verdict).toBe("inconclusive");
		expect(most.why).toContain("; but only 3 of 8 runs of run-a count: ");
	});
});

describe("clocks of several machines", () => {
	/** A is 1 ms, B so many times that. */
	const _bound = (factor: number, clockBoundNs: number | null, metric = "response p99") => {
		const main = metric.split(" ")[0] as string;
		const figures = (value: number) => ({ [metric]: around(value) });
		const entry = { clockBoundNs, main };
		return only(baselineWith(figures(MS), { entry }), b(figures(factor * MS), { entry }), metric);
	};

	test("each run's bound moves its own value", () => {
		const exact = baselineWith(p99(around(MS, 10)));
		const found = (bounds: readonly number[]) =>
			only(
				exact,
				b(p99(around(MS, 10)), {
					entries: ({ repeat }) => ({ clockBoundNs: (bounds[repeat - 1] ?? 0) * MS }),
				}),
			);
		expect(found([0.5]).verdict).toBe("same");
		expect(found(Array<number>(10).fill(0.5))).toMatchObject({
			verdict: "inconclusive",
			why: expect.stringMatching(/but within the clocks' bound of ±500us$/),
		});
	});
});

describe("two systems of one run", () => {
	const one = {
		...a,
		runs: ["old", "new"].flatMap(
			(system, i) =>
				baselineWith(p99(around((i + 1) * MS)), { entry: { system, work: system } }).runs,
		),
	};
	const systems = ["old", "new"] as const;

	test("are compared by name, and called so; with other durability they were given the same work", () => {
		const { comparisons, notCompared } = compareRuns(
			{ name: "old", of: one },
			{ name: "new", of: one },
			systems,
		);
		expect(notCompared).toEqual([]);
		expect(comparisons.map((c) => [c.system, c.metric, c.verdict])).toEqual([
			["new", "response p50", "same"],
			["new", "response p99", "regressed"],
		]);
		expect(comparisons[1]).toMatchObject({ a: { name: "old" }, b: { name: "new" } });
		expect(comparisons[1]?.why).toMatch(/^new is 2.00x old \(95 % interval: /);
	});
});

test("names from outside may be anything, also those that objects have of their own", () => {
	const entry = { system: "__proto__", case: "constructor" };
	const x = baselineWith(p99(around(MS)), { entry });
	expect(compared(x, x).comparisons).toHaveLength(2);
});
