import { describe, expect, test } from "vitest";
import type { Baseline } from "../model/comparison.ts";
import { Result, type Run } from "../model/result.ts";
import { judge } from "../result/outcomes.ts";
import { exitCodeOf } from "../verdict/exit.ts";
import { baselineOf } from "./baseline-of-result.ts";
import { comparedResult } from "./compared.fake.ts";
import { withBaseline as compared } from "./with-baseline.ts";

const workload = "workload: { rate: 1000/s, message: 256B, duration: 10s }\n";
const ab = (line: string, repeat = 5) => `systems: { old: nats, new: nats }
baseline: old
repeat: ${repeat}
${workload}sla: [${line}]
`;
const one = (...lines: string[]) => `system: nats
repeat: 5
${workload}sla: [${lines.join(", ")}]
`;

const withBaseline = (...given: Parameters<typeof compared>) => {
	const whole = compared(...given);
	return { ...whole, ...judge(whole) };
};

const flat = [1e6, 1.01e6, 1.02e6, 1.03e6, 1.04e6];
const times = (factor: number) => flat.map((value) => value * factor);

function judged(
	yaml: string,
	values: Readonly<Record<string, readonly number[]>>,
	change?: (run: Run) => Partial<Run>,
) {
	const { result, plans } = comparedResult(yaml, values, change);
	return withBaseline(result, plans, null);
}

describe("two systems of one scenario", () => {
	test.each([
		// 1.2 times as slow: the interval [1.15, 1.25] lies beyond 10 %, around 20 %, within 30 %.
		["p99 <= baseline + 10%", 1.2, "fail", 99],
		["p99 <= baseline + 20%", 1.2, "inconclusive", 0],
		["p99 <= baseline + 30%", 1.2, "pass", 0],
		// Whether it is better by more than the margin does not matter.
		["p99 <= baseline + 10%", 0.9, "pass", 0],
	])("%s, %f times as slow: %s", (line, factor, verdict, code) => {
		const result = judged(ab(line), { old: flat, new: times(factor) });
		expect(result.gates).toHaveLength(1);
		expect(result.gates[0]).toMatchObject({
			sla: line,
			system: "new",
			case: "256B 1000/s",
			verdict,
			metric: "response",
			percentile: 99,
			limitNs: null,
		});
		expect(result.verdict).toBe(verdict);
		expect(exitCodeOf(result)).toBe(code);
	});

	test("the gate has the ratio with its interval, the baseline's median, and the whole comparison", () => {
		const [gate] = judged(ab("p99 <= baseline + 10%"), { old: flat, new: times(1.2) }).gates;
		// Ratios of all pairs: 1.2 * (1 +- 0.04), the third smallest and largest of 25.
		expect(gate?.measured).toBe("1.20x [1.17, 1.24] of ~1.02ms");
		expect(gate?.limit).toBe("baseline + 10%");
		expect(gate?.why).toMatch(
			/^new is 1\.20x old \(95 % interval: 1\.17x to 1\.24x\): worse by more than the margin of 10 %$/,
		);
		expect(gate?.valueNs).toBe(1.224e6);
		expect(gate?.comparison).toMatchObject({
			metric: "response p99",
			verdict: "regressed",
			judged: true,
			margin: 0.1,
			marginFrom: "the SLA",
			a: { name: "old", runs: 5, values: flat },
			b: { name: "new", runs: 5 },
		});
	});

	test("a run that is INVALID decides the gate, whichever side it is of", () => {
		for (const system of ["old", "new"]) {
			const result = judged(ab("p99 <= baseline + 10%"), { old: flat, new: flat }, (run) =>
				run.system === system && run.repeat === 3
					? { verdict: "invalid", why: "the generator was late" }
					: {},
			);
			expect(result.gates[0]).toMatchObject({
				verdict: "invalid",
				why: `repeat 3 of ${system} is INVALID: the generator was late`,
			});
			expect(exitCodeOf(result)).toBe(4);
		}
	});

	test("a breach of a limit is no reason not to compare", () => {
		const result = judged(ab("p99 <= baseline + 10%"), { old: flat, new: flat }, () => ({
			verdict: "fail",
		}));
		expect(result.gates[0]?.verdict).toBe("pass");
	});
});

describe("a baseline from elsewhere", () => {
	/** Runs of `nats` at these values, compared with a stored baseline at those. */
	function stored(
		lines: readonly string[],
		now: readonly number[],
		change: (baseline: Baseline) => Baseline = (all) => all,
	) {
		const before = comparedResult(one(...lines), { nats: flat });
		const after = comparedResult(one(...lines), { nats: now });
		// Another command on the same start of the machine.
		const baseline = change({
			...baselineOf({ ...before.result, runId: "r0" }),
			startedAt: "2026-01-01T00:00:00.000Z",
		});
		return withBaseline(after.result, after.plans, {
			schema: 1,
			name: "the baseline of 2026-01-01 (b.json)",
			baseline,
			calibration: null,
		});
	}
	const _boot = (value: string) => (all: Baseline) => ({
		...all,
		machine: all.machine && { ...all.machine, boot: value },
	});
	test("is named, and judged against", () => {
		const result = stored(["p99 <= baseline + 10%"], times(1.5));
		expect(result.gates[0]).toMatchObject({ verdict: "fail" });
		expect(result.gates[0]?.why).toMatch(
			/^nats is 1\.50x the baseline of 2026-01-01 \(b\.json\) \(95 % interval: /,
		);
		expect(Result.safeParse(result).error?.issues).toBeUndefined();
	});

	test("of another machine decides nothing, lets the build through, and says why", () => {
		const result = stored(["p99 <= baseline + 10%"], times(9), (all) => ({
			...all,
			machine: all.machine && { ...all.machine, fingerprint: "other", cpu: "Other CPU" },
		}));
		expect(result.gates[0]).toMatchObject({ verdict: "inconclusive" });
		expect(result.gates[0]?.why).toMatch(/^not judged, another machine: CPU/);
		expect(result.openBaselineOnly).toBe(true);
		expect(exitCodeOf(result)).toBe(0);
		expect(exitCodeOf(result, "fail")).toBe(6);
		expect(result.comparisons.every((c) => !c.judged)).toBe(true);
	});

	test("without this case, or with other work, leaves the line undecided", () => {
		const lacking = (all: Baseline) => ({ ...all, runs: [] });
		expect(stored(["p99 <= baseline + 10%"], flat, lacking).gates[0]).toMatchObject({
			verdict: "inconclusive",
			measured: "n/a",
			limit: "baseline + 10%",
			compares: true,
			comparison: null,
			why: expect.stringContaining("has no run of nats, 256B 1000/s"),
		});
		const other = (all: Baseline) => ({
			...all,
			runs: all.runs.map((run) => ({ ...run, work: "other" })),
		});
		expect(stored(["p99 <= baseline + 10%"], flat, other).gates[0]?.why).toMatch(/^other work: /);
	});

	test("two lines about one figure are two gates", () => {
		const { gates, comparisons } = stored(
			["p99 <= baseline + 10%", "p99 <= baseline + 100%"],
			times(1.5),
		);
		expect(gates.map((g) => g.verdict)).toEqual(["fail", "pass"]);
		expect(comparisons.filter((c) => c.metric === "response p99")).toEqual([
			expect.objectContaining({ margin: 0.1, verdict: "regressed" }),
		]);
	});

	test("without a line that compares is judged by what decides by default", () => {
		const result = stored([], times(5));
		expect(result.gates.map((g) => [g.sla, g.verdict, g.line])).toEqual([
			["p50 <= baseline + 10%", "fail", null],
			["p99 <= baseline + 25%", "fail", null],
		]);
		expect(result.gates[1]).toMatchObject({
			system: "nats",
			case: "256B 1000/s",
			compares: true,
			metric: "response",
			percentile: 99,
			limit: "baseline + 25%",
			why: expect.stringMatching(
				/^nats is 5\.00x the baseline .*: worse by more than the margin of 25 % \(default\)$/,
			),
		});
		expect(result.comparisons.map((c) => [c.metric, c.judged])).toEqual([
			["response p50", true],
			["response p99", true],
		]);
		expect(exitCodeOf(result)).toBe(99);
		expect(Result.safeParse(result).error?.issues).toBeUndefined();
	});
});

test("of a run that was shortened nothing is judged by default", () => {
	const { result, plans } = comparedResult(ab(""), { new: times(9) });
	const quick = withBaseline({ ...result, quick: true }, plans, null);
	expect(quick).toMatchObject({ verdict: "pass", gates: [] });
});

test("without a baseline nothing is compared, though lines ask for it", () => {
	const { result, plans } = comparedResult(one("p99 <= baseline + 10%"), {});
	expect(compared(result, plans, null)).toBe(result);
});

describe("lag that is more than half of what is compared", () => {
	/** Response so many times as slow, of which 0.7 ms are lag; service so many times as slow, null: not measured. */
	const lagged = (response: number, service: number | null, queued: number) =>
		judged(ab("p99 <= baseline + 10%"), { old: flat, new: times(response) }, (run) => {
			const factor = run.system === "new" ? service : 1;
			const scaled = (value: number | null) => ({
				...(run.metrics.response as NonNullable<Run["metrics"]["response"]>),
				percentiles: (run.metrics.response?.percentiles ?? []).map((p) => ({
					...p,
					value,
					support: value === null ? ("none" as const) : p.support,
				})),
			});
			const base = flat[run.repeat - 1] ?? 1e6;
			return {
				metrics: {
					...run.metrics,
					lag: scaled(0.7e6),
					queued: scaled(queued),
					service: scaled(factor === null ? null : base * 0.3 * factor),
				},
			};
		}).gates[0];

	test.each([
		["a breach that service shares stands", 1.2, 1.5, 0, "fail"],
		["a breach that service does not share is INVALID", 1.2, 1, 0, "invalid"],
		["a pass that service shares stands", 1, 1, 0, "pass"],
		[
			"a pass that service does not share is open: lag on both sides hides it",
			1,
			2,
			0,
			"inconclusive",
		],
		["without a figure of service nothing is decided", 1.2, null, 0, "inconclusive"],
		[
			"where the system itself made messages wait for longer, lag decides nothing",
			1.2,
			1,
			0.9e6,
			"fail",
		],
	])("%s", (_, response, service, queued, verdict) => {
		const gate = lagged(response, service, queued);
		expect(gate?.verdict).toBe(verdict);
		if (verdict === "invalid") expect(gate?.why).toContain("without it (service p99)");
	});
});
