import { describe, expect, test } from "vitest";
import { type Calibration, Comparison } from "../model/comparison.ts";
import { baselineWith, machineWith } from "./baseline.fake.ts";
import { compareRuns, gateVerdict } from "./compare.ts";

const MS = 1e6;
/** Five runs around a value, half a per cent apart. */
const around = (value: number, n = 5) =>
	Array.from({ length: n }, (_, i) => value * (1 + 0.005 * (i - (n - 1) / 2)));
const b = (
	figures: Parameters<typeof baselineWith>[0],
	parts: Parameters<typeof baselineWith>[1] = {},
) => baselineWith(figures, { runId: "run-b", ...parts });

const p99 = (values: readonly (number | null)[]) => ({
	"response p50": around(MS, values.length),
	"response p99": values,
});
const only = (
	a: ReturnType<typeof baselineWith>,
	other: ReturnType<typeof baselineWith>,
	options: Parameters<typeof compareRuns>[2] = {},
	metric = "response p99",
) => {
	const found = compareRuns(a, other, options).comparisons.find((c) => c.metric === metric);
	if (found === undefined) throw new Error(`no ${metric}`);
	return Comparison.parse(found);
};

describe("verdicts", () => {
	test.each([
		[1, "same", true],
		[1.2, "same", true],
		[0.82, "same", true],
		[1.25, "inconclusive", false],
		[1.3, "regressed", false],
		[2, "regressed", false],
		[0.8, "inconclusive", true],
		[0.7, "improved", true],
	])("five runs with %f times the p99: %s", (factor, verdict, notWorse) => {
		const found = only(baselineWith(p99(around(MS))), b(p99(around(factor * MS))));
		expect(found).toMatchObject({
			verdict,
			notWorse,
			judged: true,
			advisory: null,
			margin: 0.25,
			marginFrom: "default",
		});
		expect(found.ratio).toBeCloseTo(factor, 2);
		expect(found.confidence).toBeCloseTo(0.968, 3);
	});

	test.each([
		[1, "same", true],
		[0.98, "same", true],
		[0.9, "regressed", false],
		[1.2, "improved", true],
		[0.95, "inconclusive", false],
	])("of a rate less is worse: %f times is %s", (factor, verdict, notWorse) => {
		const figures = (rate: number) => ({
			"service p50": around(MS),
			"service p99": around(MS),
			throughput: around(rate),
		});
		const entry = { main: "service", closed: true };
		const found = only(
			baselineWith(figures(50_000), { entry }),
			b(figures(50_000 * factor), { entry }),
			{},
			"throughput",
		);
		expect(found).toMatchObject({ verdict, notWorse, judged: true });
		expect(found).toMatchObject({ unit: "messages/s", margin: 0.05 });
	});

	test("too few runs are a ratio without interval, and what to do", () => {
		const found = only(baselineWith(p99([MS, MS, MS])), b(p99([2 * MS, 2 * MS, 2 * MS])));
		expect(found).toMatchObject({
			ratio: 2,
			low: null,
			high: null,
			confidence: null,
			verdict: "inconclusive",
			notWorse: false,
		});
		expect(found.why).toBe(
			"run-b is 2.00x run-a, but 3 and 3 runs are too few to tell a change from noise: measure both with repeat: 5",
		);
	});

	test("3 and 5 runs, and 4 and 4, are enough", () => {
		for (const [n, m] of [
			[3, 5],
			[5, 3],
			[4, 4],
		] as const)
			expect(only(baselineWith(p99(around(MS, n))), b(p99(around(9 * MS, m))))).toMatchObject({
				verdict: "regressed",
			});
	});

	test("the sentence says how sure it is, of what, and the margin", () => {
		expect(only(baselineWith(p99([1, 1, 1, 1])), b(p99([2, 2, 2, 2]))).why).toBe(
			"run-b is 2.00x run-a (95 % interval: 2.00x to 2.00x): worse by more than the margin of 25 %",
		);
	});

	test("an interval over the margin's edge says how many runs would tell", () => {
		const wide = [0.9, 0.95, 1, 1.05, 1.1].map((f) => f * MS);
		const found = only(baselineWith(p99(wide)), b(p99(wide.map((v) => 1.18 * v))));
		expect(found.verdict).toBe("inconclusive");
		expect(found.why).toMatch(/about repeat: \d+ would tell$/);
		const near = only(baselineWith(p99(wide)), b(p99(wide.map((v) => 1.249 * v))));
		expect(near.why).toMatch(/on the margin itself, where more runs hardly tell$/);
		const noisy = [0.2, 0.5, 1, 1.5, 4].map((f) => f * MS);
		expect(only(baselineWith(p99(noisy)), b(p99(noisy))).why).toMatch(
			/about \d{2,3} runs on each side would tell; longer runs, or a quieter machine, tell sooner$/,
		);
	});

	test("how many runs would tell counts from the bound where it would be worse: whether it is better is no matter", () => {
		const noisy = [0.7, 0.85, 1, 1.2, 1.4].map((f) => f * MS);
		// 0.82 is near 1/1.25, beyond which it would be better, and far from 1.25.
		const found = only(baselineWith(p99(noisy)), b(p99(noisy.map((v) => 0.82 * v))));
		expect(found).toMatchObject({ verdict: "inconclusive", notWorse: false });
		expect(found.why).toMatch(/about repeat: \d+ would tell$/);
		const entry = { closed: true };
		const rate = only(
			baselineWith({ throughput: noisy }, { entry }),
			// 1.05 is the bound beyond which a rate would be better.
			b({ throughput: noisy.map((v) => 1.0526 * v) }, { entry }),
			...([{ margins: { throughput: 0.05 } }, "throughput"] as const),
		);
		expect(rate).toMatchObject({ verdict: "inconclusive", notWorse: false });
		expect(rate.why).toMatch(/about \d+ runs on each side would tell/);
	});

	test("not worse for certain, but perhaps better, passes a gate", () => {
		const wide = [0.8, 0.9, 1, 1.1, 1.2].map((f) => f * MS);
		const found = only(baselineWith(p99(wide)), b(p99(wide.map((v) => 0.75 * v))));
		expect(found).toMatchObject({ verdict: "inconclusive", notWorse: true });
		expect(found.why).toMatch(/not worse by more than the margin of 25 %/);
		expect(gateVerdict(found)).toBe("pass");
	});

	test("as a gate only what is worse beyond doubt fails", () => {
		const gate = (verdict: Comparison["verdict"], notWorse: boolean) =>
			gateVerdict({ verdict, notWorse, advisory: null });
		expect(gate("regressed", false)).toBe("fail");
		expect(gate("same", true)).toBe("pass");
		expect(gate("improved", true)).toBe("pass");
		expect(gate("inconclusive", false)).toBe("inconclusive");
		expect(
			gateVerdict({ verdict: "regressed", notWorse: false, advisory: "another machine" }),
		).toBe("inconclusive");
	});

	test("A and B swapped turn a verdict into its opposite, whatever the values", () => {
		const OPPOSITE = {
			regressed: "improved",
			improved: "regressed",
			same: "same",
			inconclusive: "inconclusive",
		} as const;
		for (const factor of [0.3, 0.75, 0.79, 0.9, 1, 1.2, 1.26, 1.33, 4])
			for (const metric of ["response p99", "throughput"]) {
				const sides = (value: number) => ({ [metric]: around(value) });
				const entry = { closed: metric === "throughput" };
				const x = baselineWith(sides(1000), { entry });
				const y = b(sides(1000 * factor), { entry });
				const there = only(x, y, {}, metric);
				const back = only(y, x, {}, metric);
				expect(back.verdict, `${metric} ${factor}`).toBe(OPPOSITE[there.verdict]);
				expect(back.ratio).toBeCloseTo(1 / (there.ratio ?? 0), 9);
			}
	});
});

describe("what is judged", () => {
	const many = {
		"response p50": around(MS),
		"response p90": around(2 * MS),
		"response p99": around(3 * MS),
		"response p99.9": around(4 * MS),
		"response max": around(5 * MS),
		"service p99": around(MS),
		"ack p99": around(MS),
		throughput: around(1000),
		achieved: around(1000),
	};

	test("p50 and p99 of the main metric decide; its other percentiles and max are shown", () => {
		const { comparisons } = compareRuns(baselineWith(many), b(many));
		expect(comparisons.map((c) => [c.metric, c.judged])).toEqual([
			["response p50", true],
			["response p90", false],
			["response p99", true],
			["response p99.9", false],
			["response max", false],
		]);
	});

	test("of a closed loop its throughput too; where nobody consumes, what is acknowledged", () => {
		const entry = { main: "service", closed: true };
		const judged = (figures: Parameters<typeof baselineWith>[0]) =>
			compareRuns(baselineWith(figures, { entry }), b(figures, { entry }))
				.comparisons.filter((c) => c.judged)
				.map((c) => c.metric);
		const service = {
			"service p50": around(MS),
			"service p99": around(MS),
			"throughput.sent": around(9),
		};
		expect(judged({ ...service, throughput: around(9) })).toEqual([
			"service p50",
			"service p99",
			"throughput",
		]);
		expect(judged(service)).toEqual(["service p50", "service p99", "throughput.sent"]);
	});

	test("of a search for the highest rate that rate alone", () => {
		const found = { "highest rate": around(9000) };
		expect(
			compareRuns(baselineWith(found), b(found)).comparisons.map((c) => [
				c.metric,
				c.judged,
				c.margin,
			]),
		).toEqual([["highest rate", true, 0.05]]);
	});

	test("an SLA adds figures and sets margins", () => {
		const { comparisons } = compareRuns(baselineWith(many), b(many), {
			margins: { "ack p99": 0.4, "response p99": 0.1, "response p95": 0.2 },
		});
		const of = (metric: string) => comparisons.find((c) => c.metric === metric);
		expect(of("ack p99")).toMatchObject({
			judged: true,
			margin: 0.4,
			marginFrom: "the SLA",
			verdict: "same",
		});
		expect(of("response p99")).toMatchObject({ judged: true, margin: 0.1 });
		expect(of("response p50")).toMatchObject({ judged: true, margin: 0.1 });
		expect(of("response p50")?.marginFrom).toBe("default");
		expect(of("response p95")).toMatchObject({
			judged: true,
			verdict: "inconclusive",
			ratio: null,
			why: "no run of run-a has a value",
		});
	});

	test("throughput.received is throughput", () => {
		const { comparisons } = compareRuns(baselineWith(many), b(many), {
			margins: { "throughput.received": 0.02 },
		});
		expect(comparisons.find((c) => c.metric === "throughput")).toMatchObject({
			judged: true,
			margin: 0.02,
			unit: "messages/s",
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
	const a = baselineWith(p99(around(MS)));
	const slow = (parts: Parameters<typeof baselineWith>[1]) => b(p99(around(1.4 * MS)), parts);

	test("the same start of the same machine: the margin as it is", () => {
		expect(only(a, slow({}))).toMatchObject({ verdict: "regressed", margin: 0.25 });
	});

	test("another start of it: a stored baseline, the margin doubles", () => {
		const found = only(a, slow({ machine: machineWith({ boot: "boot 2" }) }));
		expect(found).toMatchObject({
			verdict: "same",
			margin: 0.5,
			judged: true,
			marginFrom: "default, doubled: a stored baseline",
		});
	});

	test("a start that nobody wrote down is taken for another one", () => {
		const old = machineWith({ boot: null });
		expect(only({ ...a, machine: old }, slow({ machine: old })).marginFrom).toMatch(/stored/);
	});

	test("but two systems of one run were measured together, whatever is known", () => {
		const one = { ...a, machine: null };
		expect(only(one, one)).toMatchObject({ advisory: null, margin: 0.25 });
	});

	test("the same run id alone is not one run: people choose it", () => {
		const machine = machineWith({ boot: "boot 2" });
		const found = (startedAt: string | null) =>
			only({ ...a, startedAt }, { ...slow({ machine }), runId: a.runId, startedAt }).margin;
		expect(found(a.startedAt)).toBe(0.25);
		expect(found(null)).toBe(0.5);
		// Unless who asks knows it.
		const one = { ...a, startedAt: null, machine: null };
		expect(only({ ...one }, { ...one }).advisory).not.toBeNull();
		expect(only({ ...one }, { ...one }, { oneRun: true })).toMatchObject({
			advisory: null,
			margin: 0.25,
		});
	});

	test("another machine: shown, and never judged", () => {
		const found = only(a, slow({ machine: machineWith({ cpu: "Other CPU" }) }));
		expect(found).toMatchObject({
			judged: false,
			verdict: "regressed",
			advisory: "another machine: CPU Example CPU against Other CPU",
		});
		expect(gateVerdict(found)).toBe("inconclusive");
	});

	test("the same machine set otherwise: shown, and never judged", () => {
		const set = (smt: string) => machineWith({ settings: { SMT: smt } });
		const one = { ...a, machine: set("off") };
		expect(only(one, slow({ machine: set("on") }))).toMatchObject({
			judged: false,
			advisory: "another machine: SMT off against on",
		});
		// A baseline of before settings were recorded judges as it did.
		expect(only(a, slow({ machine: set("on") })).judged).toBe(true);
	});

	test("an unknown machine: never judged", () => {
		expect(only(a, slow({ machine: null }))).toMatchObject({
			judged: false,
			advisory: "one of the two does not say on which machine it was made",
		});
	});

	test("shortened runs judge nothing", () => {
		expect(only(a, slow({ quick: true }))).toMatchObject({ judged: false });
	});
});

describe("calibration", () => {
	const calibration = (
		parts: Partial<Calibration["noise"][number]> = {},
		machine = machineWith({ boot: "boot 9" }),
	): Calibration => ({
		schema: 1,
		scenario: "example",
		runId: "calibration",
		machine,
		noise: [
			{
				system: "nats",
				case: "other case",
				work: "w1",
				metric: "response p99",
				runs: 20,
				each: 5,
				halfWidth: 0.3,
				detectable: 0.6,
				...parts,
			},
		],
	});
	const a = baselineWith(p99(around(MS)));
	const slow = b(p99(around(1.5 * MS)));

	test("twice the noise of A/A runs is the least margin", () => {
		expect(only(a, slow, { calibration: calibration() })).toMatchObject({
			margin: 0.6,
			verdict: "same",
			marginFrom: "twice this machine's noise (calibrate)",
		});
	});

	test("of an SLA's margin too, and doubled for a stored baseline", () => {
		const stored = { ...slow, machine: machineWith({ boot: "boot 2" }) };
		expect(
			only(a, stored, { calibration: calibration(), margins: { "response p99": 0.1 } }),
		).toMatchObject({
			margin: 1.2,
			marginFrom: "twice this machine's noise (calibrate), doubled: a stored baseline",
		});
	});

	test.each([
		// Half as wide with four times as many.
		[20, 20, 2 * (Math.sqrt(1.3) - 1)],
		[5, 20, 2 * (1.3 ** Math.sqrt(5 / 8) - 1)],
		[4, 4, 2 * (1.3 ** Math.sqrt(5 / 4) - 1)],
	])(
		"of %i and %i runs is the noise of so many: intervals narrow with their root",
		(n, m, margin) => {
			const x = baselineWith(p99(around(MS, n)));
			const y = b(p99(around(1.4 * MS, m)));
			expect(only(x, y, { calibration: calibration() }).margin).toBeCloseTo(margin, 9);
		},
	);

	test.each<[string, Calibration]>([
		["a quiet machine", calibration({ halfWidth: 0.01 })],
		["other work", calibration({ work: "w2" })],
		["another figure", calibration({ metric: "response p50" })],
		["another machine", calibration({}, machineWith({ cpu: "Other CPU" }))],
	])("a calibration of %s changes nothing", (_, other) => {
		expect(only(a, slow, { calibration: other })).toMatchObject({
			margin: 0.25,
			marginFrom: "default",
		});
	});

	test("of several systems with that work its own counts, else the noisiest", () => {
		const { noise } = calibration();
		const two = (first: string, second: string) => ({
			...calibration(),
			noise: [
				...noise.map((n) => ({ ...n, system: first, halfWidth: 0.2 })),
				...noise.map((n) => ({ ...n, system: second, halfWidth: 0.4 })),
			],
		});
		expect(only(a, slow, { calibration: two("nats", "other") }).margin).toBe(0.4);
		expect(only(a, slow, { calibration: two("x", "y") }).margin).toBe(0.8);
	});
});

describe("what is not compared, and why", () => {
	const a = baselineWith(p99(around(MS)));

	test("other work, with what differs", () => {
		const { comparisons, notCompared } = compareRuns(
			a,
			b(p99(around(MS)), {
				entry: { work: "w2" },
				works: { w2: { load: "5000/s constant", message: "1KiB" } },
			}),
		);
		expect(comparisons).toEqual([]);
		expect(notCompared).toEqual([
			{
				system: "nats",
				case: "256B 1000/s",
				why: "other work: load 1000/s constant against 5000/s constant, message none against 1KiB",
			},
		]);
	});

	test("other work of which nobody wrote down what it is", () => {
		const { notCompared } = compareRuns(
			{ ...a, works: {} },
			b(p99([1]), { entry: { work: "w2" } }),
		);
		expect(notCompared[0]?.why).toBe("other work: what differs was not written down");
	});

	test("systems and cases that only one side has", () => {
		const { notCompared } = compareRuns(a, b(p99([1]), { entry: { case: "other" } }));
		expect(notCompared.map((n) => [n.case, n.why])).toEqual([
			["other", "run-a has no run of nats, other: nothing to compare with"],
			["256B 1000/s", "only run-a has runs of it"],
		]);
	});

	test("runs without figures are named, and the others count", () => {
		const found = compareRuns(
			a,
			b(p99(around(MS, 8)), {
				entries: ({ repeat }) =>
					repeat === 2
						? { without: "interrupted", figures: {} }
						: repeat > 6
							? { without: "invalid", figures: {} }
							: {},
			}),
		);
		expect(found.notCompared.map((n) => n.why)).toEqual([
			"repeat 2 of run-b does not count: interrupted",
			"repeats 7, 8 of run-b do not count: invalid",
		]);
		expect(found.comparisons[0]?.b).toMatchObject({ runs: 5 });
		// Those that are left are the same; what the others would have been nobody knows.
		expect(found.comparisons[0]).toMatchObject({
			verdict: "inconclusive",
			notWorse: false,
			why: expect.stringMatching(
				/; but repeat 2 of run-b does not count: interrupted; repeats 7, 8 of run-b do not count: invalid: the runs that do not count may be the worse ones$/,
			),
		});
	});

	const without = (reason: string, ...repeats: readonly number[]) => ({
		entries: ({ repeat }: { repeat: number }) =>
			repeats.includes(repeat) ? { without: reason, figures: {} } : {},
	});
	const STOPPED = "stopped as p99 < 5ms could not be met any more";

	test.each([
		[1, "inconclusive"],
		[0.5, "inconclusive"],
		[2, "regressed"],
	])(
		"with a run of the candidate that was stopped %f times is %s: the slowest are those that are stopped",
		(factor, verdict) => {
			const slow = b(p99(around(factor * MS, 6)), without(STOPPED, 6));
			const found = only(a, slow);
			expect(found).toMatchObject({ verdict, notWorse: false });
			expect(gateVerdict(found)).toBe(verdict === "regressed" ? "fail" : "inconclusive");
		},
	);

	test("runs of the baseline that do not count are named, and leave it open when they are more than half", () => {
		const base = (...repeats: readonly number[]) =>
			baselineWith(p99(around(MS, 8)), without("invalid", ...repeats));
		const half = base(1, 2, 3, 4);
		expect(compareRuns(half, b(p99(around(MS)))).notCompared).toHaveLength(1);
		expect(only(half, b(p99(around(MS)))).verdict).toBe("same");
		const most = only(base(1, 2, 3, 4, 5), b(p99(around(MS))));
		expect(most).toMatchObject({ verdict: "inconclusive", notWorse: false });
		expect(most.why).toContain("; but only 3 of 8 runs of run-a count: ");
	});

	test("a side on which no run counts", () => {
		const found = compareRuns(
			a,
			b(p99(around(MS)), { entry: { without: "interrupted", figures: {} } }),
		);
		expect(found.comparisons).toEqual([]);
		expect(found.notCompared.at(-1)?.why).toBe("no run of run-b counts");
	});
});

describe("values that are larger than they could be measured", () => {
	const TIMEOUT = 30_000 * MS;
	const beyond = (n: number) => ({
		entries: ({ repeat }: { repeat: number }) => (repeat <= n ? { beyond: ["response p99"] } : {}),
	});
	const timedOut = (n: number) => around(MS).map((v, i) => (i < n ? TIMEOUT : v));

	test("in the candidate: never better for it, and worse where the timeout alone is", () => {
		expect(only(baselineWith(p99(around(MS))), b(p99(timedOut(5)), beyond(5)))).toMatchObject({
			verdict: "regressed",
		});
	});

	test("in the baseline: no regression can be told from it", () => {
		const a = baselineWith(p99(around(MS)), beyond(1));
		expect(only(a, b(p99(around(2 * MS))))).toMatchObject({
			verdict: "inconclusive",
			notWorse: false,
		});
		expect(only(a, b(p99(around(MS / 2))))).toMatchObject({ verdict: "improved" });
	});

	test("in both: the same timeout is not the same latency", () => {
		const found = only(baselineWith(p99(timedOut(5)), beyond(5)), b(p99(timedOut(5)), beyond(5)));
		expect(found).toMatchObject({ verdict: "inconclusive", ratio: 1 });
		expect(found.why).toMatch(/above what could be measured/);
	});

	test("a search that the generator ended proves no lower rate of the other", () => {
		const rate = (value: number, more: boolean, runId: string) =>
			baselineWith(
				{ "highest rate": around(value) },
				{ runId, entry: { beyond: more ? ["highest rate"] : [] } },
			);
		const rates = (x: boolean, y: boolean) =>
			only(rate(9000, x, "run-a"), rate(5000, y, "run-b"), {}, "highest rate").verdict;
		expect(rates(false, false)).toBe("regressed");
		expect(rates(true, false)).toBe("regressed");
		expect(rates(false, true)).toBe("inconclusive");
	});
});

describe("clocks of several machines", () => {
	/** A is 1 ms; both sides have the same bound. */
	const of = (factor: number, clockBoundNs: number | null, figure = "p99") => {
		const side = (value: number) => ({
			[`response ${figure}`]: around(value),
			[`ack ${figure}`]: around(value),
		});
		const entry = { clockBoundNs };
		return (metric: string) =>
			only(
				baselineWith(side(MS), { entry }),
				b(side(factor * MS), { entry }),
				{ margins: { [`ack ${figure}`]: 0.25 } },
				`${metric} ${figure}`,
			);
	};

	// Both bounds together are 0.4 ms: more than the margin of 0.25 ms.
	test.each([
		[1, "same", "inconclusive", false],
		[1.3, "regressed", "inconclusive", false],
		[0.7, "improved", "inconclusive", true],
		[3, "regressed", "regressed", false],
		[0.2, "improved", "improved", true],
	])(
		"%f times: %s without them is %s within a bound of 0.2 ms on both sides",
		(factor, without, verdict, notWorse) => {
			const bound = 0.2 * MS;
			expect(of(factor, null)("response").verdict).toBe(without);
			const found = of(factor, bound)("response");
			expect(found).toMatchObject({ verdict, notWorse });
			const why = /; but within the clocks' bound of \u00b1400us$/;
			if (verdict === without) expect(found.why).not.toMatch(why);
			else expect(found.why).toMatch(why);
			// The interval is that of what was measured, and one clock has timed acks.
			expect(found.ratio).toBe(of(factor, null)("response").ratio);
			expect(of(factor, bound)("ack").verdict).toBe(without);
		},
	);

	test("that are exact enough change nothing", () => {
		for (const [factor, verdict] of [
			[1, "same"],
			[1.4, "regressed"],
			[0.7, "improved"],
		] as const)
			expect(of(factor, 0.01 * MS)("response")).toMatchObject({ verdict });
		const exact = of(1.25, 0.001 * MS)("response");
		expect(exact).toMatchObject({ verdict: "inconclusive" });
		expect(exact.why).toMatch(/would tell|tell sooner|hardly tell$/);
	});

	test("of one side alone count, and each run's moves its own value", () => {
		const exact = baselineWith(p99(around(MS, 10)));
		const bounds = [0.5, ...Array<number>(9).fill(0)];
		const found = (clockBoundNs: readonly number[]) =>
			only(
				exact,
				b(p99(around(MS, 10)), {
					entries: ({ repeat }) => ({ clockBoundNs: (clockBoundNs[repeat - 1] ?? 0) * MS }),
				}),
			);
		expect(found(bounds).verdict).toBe("same");
		expect(found(bounds.map(() => 0.5))).toMatchObject({
			verdict: "inconclusive",
			why: expect.stringMatching(/but within the clocks' bound of ±500us$/),
		});
	});

	test("wider than the margin: more runs would not tell, which is said", () => {
		expect(of(1.25, 0.2 * MS)("response").why).toMatch(/; but within the clocks' bound of ±400us$/);
	});
});

describe("zeros", () => {
	test("nothing is a part of 0", () => {
		const found = only(baselineWith(p99([0, 0, 0, 0])), b(p99([1, 1, 1, 1])));
		expect(found).toMatchObject({ verdict: "inconclusive", ratio: null });
		expect(found.why).toBe("run-a measured 0, so there is no ratio");
	});

	test("a rate that fell to 0 is a regression", () => {
		const entry = { closed: true };
		expect(
			only(
				baselineWith({ throughput: around(9) }, { entry }),
				b({ throughput: [0, 0, 0, 0, 0] }, { entry }),
				{},
				"throughput",
			),
		).toMatchObject({ verdict: "regressed", ratio: 0, high: 0 });
	});
});

test("two systems of one run are compared by name, and called so", () => {
	const runs = [1, 2].flatMap(
		(factor) =>
			baselineWith(p99(around(factor * MS)), { entry: { system: factor === 1 ? "old" : "new" } })
				.runs,
	);
	const one = { ...baselineWith(p99([1])), runs };
	const { comparisons, notCompared } = compareRuns(one, one, { pairs: { new: "old" } });
	expect(notCompared).toEqual([]);
	expect(comparisons.map((c) => [c.system, c.metric, c.verdict])).toEqual([
		["new", "response p50", "same"],
		["new", "response p99", "regressed"],
	]);
	expect(comparisons[1]?.a.name).toBe("old");
	expect(comparisons[1]?.b.name).toBe("new");
	expect(comparisons[1]?.why).toMatch(/^new is 2.00x old \(95 % interval: /);
});

test("names from outside may be anything, also those that objects have of their own", () => {
	const entry = { system: "__proto__", case: "constructor" };
	const x = baselineWith(p99(around(MS)), { entry });
	expect(compareRuns(x, x).comparisons).toHaveLength(2);
});

test("two systems of one run with other durability were given the same work", () => {
	const entries = (system: string) =>
		baselineWith(p99(around(MS)), { entry: { system, work: system } }).runs;
	const one = { ...baselineWith(p99([1])), runs: [...entries("old"), ...entries("new")] };
	expect(compareRuns(one, one, { pairs: { new: "old" } }).comparisons).toHaveLength(2);
	expect(
		compareRuns(one, { ...one, runId: "run-b" }, { pairs: { new: "old" } }).comparisons,
	).toEqual([]);
});
