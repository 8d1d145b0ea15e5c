import { describe, expect, test } from "vitest";
import { variable } from "../brokers/index.ts";
import type { Gate, Result } from "../model/result.ts";
import { comparison, search } from "../render/hostile.fake.ts";
import { breachOf } from "./breach.ts";
import { brokenOf } from "./outcomes.ts";
import { fixtureResult } from "./stored.fake.ts";

const built = (name: string) => fixtureResult(name);

/** Of the first thing that broke. */
function first(result: Result) {
	const [outcome] = brokenOf(result);
	if (outcome === undefined) throw new Error("nothing broke");
	return breachOf(outcome, result);
}

/** The stalled run with another gate: `parts` are of its only repeat as well. */
function withGate(parts: Partial<Gate>, repeats?: Gate["repeats"]): Result {
	const result = built("stall");
	const [gate] = result.gates;
	const [repeat] = gate?.repeats ?? [];
	if (!gate || !repeat) throw new Error("another fixture");
	const changed = { ...gate, ...parts };
	const { verdict, measured, valueNs, margin, n, over, allowed } = changed;
	const { censored, why, tally } = changed;
	const counted = { n, over, allowed, tally };
	const numbers = { verdict, measured, valueNs, margin, ...counted };
	return {
		...result,
		gates: [{ ...changed, repeats: repeats ?? [{ ...repeat, ...numbers, censored, why }] }],
	};
}

const COUNTED = {
	metric: null,
	percentile: null,
	limitNs: null,
	valueNs: null,
	margin: null,
	n: null,
	over: null,
	allowed: null,
	verdict: "fail",
} as const;

const UNITS = { "": "messages", "/s": "messages/s", s: "ns" } as const;

/** The numbers of a count, a rate or a time. */
function tally(
	name: string,
	value: number | null,
	limit: number,
	unit: keyof typeof UNITS,
): Pick<Gate, "tally"> {
	return { tally: { name, value, limit, unit: UNITS[unit] } };
}

describe("what broke by how much", () => {
	test.each([
		[15e6, "p99 is 15ms: 1.5x the limit of 10ms, 5ms above it"],
		[10.21e6, "p99 is 10.2ms: 2.1 % above the limit of 10ms (by 210us)"],
		[14.9e6, "p99 is 14.9ms: 49 % above the limit of 10ms (by 4.9ms)"],
		[10e6, "p99 is 10ms: at the limit of 10ms"],
		[2.5e9, "p99 is 2.5s: 250x the limit of 10ms, 2.49s above it"],
	])("of a p99 of %d ns", (valueNs, text) => {
		const measured = { 15e6: "15ms", 10e6: "10ms", 14.9e6: "14.9ms" }[valueNs];
		const result = withGate({
			valueNs,
			measured: measured ?? (valueNs > 1e9 ? "2.5s" : "10.2ms"),
			margin: 10e6 / valueNs,
		});
		expect(first(result).broke).toBe(
			`${text}; 490 of 10 000 messages took longer, at most 100 may`,
		);
	});

	test.each([
		["lost == 0", 12, 0, "", "12 lost, where none may be"],
		["lost <= 5", 12, 5, "", "lost is M: 2.4x the limit of L, 7 above it"],
		[
			"throughput >= 450/s",
			412.2,
			450,
			"/s",
			"throughput is M: 37.8/s (8.4 %) below the L that it has to reach",
		],
		[
			"throughput >= 45000/s",
			1200,
			45_000,
			"/s",
			"throughput is M: 43 800/s (97 %) below the L that it has to reach",
		],
		["drainTime < 2s", 5.5e9, 2e9, "s", "drainTime is M: 2.8x the limit of L, 3.5s above it"],
		["drainTime < 2s", null, 2e9, "s", "drainTime is M (drainTime < 2s)"],
		[
			"recovered(p(99) < 20ms) < 2s",
			5.5e9,
			2e9,
			"s",
			"recovered(p(99) < 20ms) is M: 2.8x the limit of L, 3.5s above it",
		],
	] as const)("of %s, measured %d: by its numbers", (sla, value, limit, unit, text) => {
		const name = sla.split(" ")[0] ?? "";
		// The printed texts have no number in them that could be read instead.
		const printed = limit === 0 ? { measured: "12", limit: "0" } : { measured: "M", limit: "L" };
		const numbers = tally(name, value, limit, unit);
		expect(first(withGate({ ...COUNTED, sla, ...printed, ...numbers })).broke).toBe(text);
	});

	test.each([
		[5.5e9, "more than 2.8x the limit of 2s, as it had not ended by then"],
		[2e9, "beyond the limit of 2s, as it had not ended by then"],
	])("of what had not ended after %d ns", (beyondNs, text) => {
		const [repeat] = built("stall").gates[0]?.repeats ?? [];
		if (repeat === undefined) throw new Error("another fixture");
		const numbers = tally("drained", null, 2e9, "s");
		const gate = { ...COUNTED, sla: "drained < 2s", limit: "2s", ...numbers };
		expect(
			first(withGate(gate, [{ ...repeat, ...COUNTED, ...numbers, measured: "> M", beyondNs }]))
				.broke,
		).toBe(`drained is > M: ${text}`);
	});

	test("of repeats: the worst of those that failed", () => {
		const [repeat] = built("stall").gates[0]?.repeats ?? [];
		if (repeat === undefined) throw new Error("another fixture");
		const of = (n: number, valueNs: number, verdict: Gate["verdict"]) => ({
			...repeat,
			repeat: n,
			verdict,
			valueNs,
			measured: `${valueNs / 1e6}ms`,
			margin: 10e6 / valueNs,
		});
		const result = withGate({ measured: "20ms, 9ms, 30ms" }, [
			of(1, 20e6, "fail"),
			of(2, 9e6, "pass"),
			of(3, 30e6, "fail"),
		]);
		expect(first(result).broke).toContain(
			"p99 is 30ms in repeat 3, the worst: 3x the limit of 10ms, 20ms above it",
		);
		expect(first(result).where).toBe("nats, 256B 1000/s, in repeats 1 and 3 of 3");
	});

	test("of rates in repeats the smallest is the worst", () => {
		const [repeat] = built("stall").gates[0]?.repeats ?? [];
		if (repeat === undefined) throw new Error("another fixture");
		const of = (n: number, value: number) => ({
			...repeat,
			...COUNTED,
			...tally("throughput", value, 450, "/s"),
			repeat: n,
			measured: `${value}/s`,
		});
		const result = withGate({ ...COUNTED, sla: "throughput >= 450/s", limit: "450/s" }, [
			of(1, 400),
			of(2, 300),
		]);
		expect(first(result).broke).toContain(
			"throughput is 300/s in repeat 2, the worst: 150/s (33 %) below",
		);
		expect(first(result).where).toBe("nats, 256B 1000/s, in all 2 repeats");
	});

	test("of a regression: what the comparison says", () => {
		const c = comparison();
		const result = withGate({ sla: "p99 <= baseline + 10%", comparison: c, why: c.why });
		expect(first(result).broke).toBe(
			"p99 <= baseline + 10%: 1.31x: worse by more than the margin of 10 %",
		);
		expect(first(result).next).toContain("--confirm");
	});
});

describe("when", () => {
	test("is the first message that was lost", () => {
		const result = built("lost");
		// Of a closed load only the message itself knows when it was sent.
		for (const { offenders } of result.runs) if (offenders.lost) offenders.lost.intendedNs = null;
		expect(first(result).when).toBe("first lost: producer 0, sequence 3000");
	});

	test("is the second with the fewest receipts, of a rate", () => {
		const result = withGate({
			...COUNTED,
			sla: "throughput >= 2000/s",
			measured: "1 000/s",
			limit: "2 000/s",
			...tally("throughput", 1000, 2000, "/s"),
		});
		// The warm-up takes 1 s: the tick that ended 8 s after T0 began 6 s after the window opened.
		const tick = result.runs[0]?.series.ticks.find((t) => t.at === 8);
		if (tick === undefined) throw new Error("another fixture");
		tick.received = 412;
		expect(first(result).when).toBe(
			"fewest in the second that began 6s after the window opened: 412 received",
		);
	});

	test("is a second in which messages never completed before any that only was slow", () => {
		const result = built("stall");
		const second = result.runs[0]?.series.seconds.find((s) => s.second === 2);
		if (second === undefined) throw new Error("another fixture");
		Object.assign(second, { count: 988, missing: 12, p99: null });
		expect(first(result).when).toBe(
			"worst in the second that began 2s after the window opened: 12 of 1 000 never completed",
		);
	});

	describe("of a gate that compares", () => {
		/** Three repeats of the stalled run; `times` are p99 of the second 3. */
		const compared = (parts: Partial<Gate>, ...times: number[]): Result => {
			const result = withGate({ ...parts, comparison: comparison() }, []);
			const [run] = result.runs;
			if (run === undefined) throw new Error("another fixture");
			result.gates = result.gates.map((gate) => ({ ...gate, compares: true }));
			result.runs = times.map((p99, i) => ({
				...run,
				repeat: i + 1,
				series: {
					...run.series,
					seconds: run.series.seconds.map((s) => ({
						...s,
						p99: s.second === 3 ? p99 : 1e6,
						max: s.second === 3 ? p99 : 1e6,
					})),
					ticks: run.series.ticks.map((tick) => ({
						...tick,
						received: tick.at === 5 ? 100 * i : 1000,
					})),
				},
			}));
			return result;
		};

		test("is the worst second of all repeats, and names its repeat", () => {
			expect(first(compared({}, 2e6, 9e6, 4e6)).when).toBe(
				"worst in repeat 2 of 3, the second that began 3s after the window opened: p99 9ms, max 9ms",
			);
			expect(first(compared({}, 2e6)).when).toBe(
				"worst in the second that began 3s after the window opened: p99 2ms, max 2ms",
			);
		});
	});

	test("is in a repeat that made the gate INVALID, not in one that failed", () => {
		const result = withGate({ verdict: "invalid" });
		const [gate] = result.gates;
		const [run] = result.runs;
		const [repeat] = gate?.repeats ?? [];
		if (!gate || !run || !repeat) throw new Error("another fixture");
		gate.repeats = [
			{ ...repeat, repeat: 1, verdict: "fail", margin: 0.01 },
			{ ...repeat, repeat: 2, verdict: "invalid", margin: 0.5 },
		];
		result.runs = [159e6, 103e6].map((max, i) => ({
			...run,
			repeat: i + 1,
			series: {
				...run.series,
				seconds: [
					{ ...run.series.seconds[0], second: 4, p99: null, max },
				] as typeof run.series.seconds,
			},
		}));
		expect(first(result)).toMatchObject({
			where: expect.stringContaining("in repeat 2 of 2"),
			when: "worst in the second that began 4s after the window opened: max 103ms",
		});
	});

	test("is not known of another metric than the run's own", () => {
		expect(first(withGate({ metric: "service" })).when).toBeNull();
	});
});

describe("what to do", () => {
	const warned = (code: string) => {
		const result = built("stall");
		const warn = { status: "warn" as const, figure: null, limit: null };
		result.runs[0]?.validity.push(
			{ ...warn, check: "others", detail: "others worked", remedy: null },
			{
				...warn,
				check: "consumers",
				code: code as "work-near",
				detail: "3 of 4 consumers get nothing",
				remedy: "write partitions: 4",
			},
		);
		return first(result).next;
	};

	test("is the consumers' share before the machine's and the broker's", () => {
		expect(warned("consumers-idle")).toBe(
			"first give the consumers room: write partitions: 4; 3 of 4 consumers get nothing, which is the consumers' share and not the broker's (mqbench explain partitions)",
		);
		expect(warned("work-near")).toContain("(mqbench explain saturation)");
	});

	test("names the part of the slowest messages that took longest", () => {
		const result = built("stall");
		const [run] = result.runs;
		if (run === undefined) throw new Error("another fixture");
		run.slowest = [
			{ ...run.slowest[0], responseNs: 100, queuedNs: 75, lagNs: 5, serviceNs: 20 },
		] as typeof run.slowest;
		expect(first(result).next).toContain(
			"of the slowest messages 75 % is queued: the system pushed",
		);
	});

	test("names the part that the messages around the percentile waited for, where that is known", () => {
		const result = built("stall");
		const [run] = result.runs;
		if (run === undefined) throw new Error("another fixture");
		const around = { p: 99, messages: 12, from: 90, to: 110 };
		run.breakdown = [{ ...around, response: 100, queued: 20, lag: 70, service: 10 }];
		expect(first(result).next).toContain("of the messages around p99 70 % is lag");
		const nobody = { response: null, queued: null, lag: null, service: null };
		run.breakdown = [{ ...around, ...nobody }];
		expect(first(result).next).toContain("of the slowest messages 100 %");
	});

	test("does not explain the middle by the slowest messages", () => {
		const result = withGate({ sla: "p50 < 1us", percentile: 50 });
		const [run] = result.runs;
		if (run === undefined) throw new Error("another fixture");
		run.slowest = [
			{ ...run.slowest[0], responseNs: 9, queuedNs: 9, lagNs: 0, serviceNs: 0 },
		] as typeof run.slowest;
		const p50 = run.metrics.service?.percentiles.find((p) => p.p === 50);
		expect(p50?.value).toBe(183_935);
		expect(first(result).next).toContain("the largest part of p50 (184us) is service: the broker");
	});

	test("of other metrics than response claims no part of it", () => {
		for (const metric of ["service", "queued", "ack", "last", "lag"] as const)
			expect(first(withGate({ metric })).next).not.toMatch(/largest|slowest/);
	});

	test("of a rate that nobody schedules is to schedule it", () => {
		const gate = { ...COUNTED, measured: "1 000/s" };
		const sla = (limit: string, asked: number) =>
			withGate({
				...gate,
				sla: `throughput >= ${limit}`,
				limit,
				...tally("throughput", 1000, asked, "/s"),
			});
		expect(first(sla("5 000/s", 5000)).next).toBe(
			"raise workload.rate or lower the limit: only 1 000/s are scheduled, so no system could reach it",
		);
		expect(first(sla("1 000/s", 1000)).next).toContain("find: max-rate");
	});

	test("of messages that failed is their commonest error, though the machine was busy as well", () => {
		const result = built("no-data");
		const [run] = result.runs;
		if (run === undefined) throw new Error("another fixture");
		const warn = { status: "warn" as const, figure: null, limit: null };
		run.validity = [
			{ ...warn, check: "others", detail: "others worked", remedy: null },
			{ ...warn, check: "cores", detail: "none free", remedy: "wait" },
		];
		result.gates = result.gates.map((gate) => ({ ...gate, cause: "machine" }));
		for (const outcome of brokenOf(result))
			expect(breachOf(outcome, result).next).toMatch(
				/^5 000 messages failed; fix the commonest error first: .*connection refused/,
			);
	});

	test("of a fault that was not carried out is nothing: it explains nothing", () => {
		const result = built("failover");
		const [run] = result.runs;
		if (run === undefined) throw new Error("another fixture");
		run.failover = run.failover.map((fault) => ({ ...fault, error: "no" }));
		expect(first(result).next).toMatch(
			/^1 message failed; fix the commonest error first: NOT_LEADER/,
		);
	});

	test("of an error is what the broker refused, and names its log only where mqbench keeps one", () => {
		const next = (why: string, target: "local" | "existing") => {
			const result = withGate({ verdict: "error" });
			const [run] = result.runs;
			if (run === undefined) throw new Error("another fixture");
			const brokerUrl = "redis://10.0.0.5:6400/2";
			Object.assign(run, { why, brokerUrl, verdict: "error" });
			run.load = { ...run.load, broker: "redis", target };
			return first({ ...result, errorCause: "environment" }).next;
		};
		expect(next("NOAUTH Authentication required", "existing")).toBe(
			`write REDIS_PASSWORD=... before the command and --url 'redis://:${variable("REDIS_PASSWORD")}@10.0.0.5:6400/2' behind it, with the single quotes`,
		);
		const unknown = "fix the cause named above and run again";
		expect(next("it is a mystery", "existing")).toBe(unknown);
		expect(next("it is a mystery", "local")).toBe(`${unknown}; broker.log is in the run's folder`);
	});

	test("of a broker that throttled its clients is its quota, before the errors that followed", () => {
		const result = built("no-data");
		const [run] = result.runs;
		if (run === undefined) throw new Error("another fixture");
		const { startNs, endNs } = run.window;
		run.validity = [
			{
				check: "throttled",
				status: "warn",
				detail: "throttled",
				figure: null,
				limit: null,
				remedy: "raise the quota",
			},
		];
		run.throttledNs = 2e9;
		expect(first(result).next).toBe(
			"first raise the quota: the broker throttled its clients for 2s (mqbench explain throttled)",
		);
		run.throttledNs = (endNs - startNs) / 1000;
		expect(first(result).next).toMatch(/^5 000 messages failed/);
	});

	test("of an interruption names the scenario where it is known", () => {
		const result = built("interrupted");
		result.command = {
			scenario: "bench/x.yaml",
			args: ["run", "bench/x.yaml", "--set", "repeat=2", "--out", "my runs"],
			file: null,
		};
		expect(first(result).next).toContain(
			"npx mqbench run bench/x.yaml --set repeat=2 --resume 'my runs'",
		);
	});

	test("of an interrupted search is no --resume, which refuses it", () => {
		const result = built("interrupted");
		result.searches = [search({ verdict: "interrupted" })];
		for (const outcome of brokenOf(result))
			expect(breachOf(outcome, result).next).toMatch(
				/^start again: a scenario with a search cannot be resumed/,
			);
	});

	test("of a run of a fixed rate before a search, stopped before that began, is no --resume either", () => {
		const result = built("interrupted");
		const args = ["run", "s.yaml"];
		result.command = { scenario: "s.yaml", args, file: null, resumable: false };
		expect(first(result).next).toMatch(/^start again: a scenario with a search/);
	});

	test("of a search is that of the lowest rate which did not pass: a busy machine first", () => {
		const result = built("stall");
		const [run] = result.runs;
		if (run === undefined) throw new Error("another fixture");
		const step = { role: "probe", why: null, p50: null, p99: null } as const;
		const searched = (busy: boolean): Result => ({
			...result,
			gates: [],
			runs: [
				{
					...run,
					search: { role: "probe", of: run.case },
					validity: run.validity.map((check) =>
						check.check === "others"
							? { ...check, status: busy ? "warn" : "ok" }
							: { ...check, status: "ok" },
					),
				},
			],
			searches: [
				search({
					verdict: "fail",
					runs: [
						{ ...step, index: run.index, rate: 10, verdict: "fail", max: null },
						{ ...step, index: 99, rate: 20, verdict: "fail", max: null },
					],
				}),
			],
		});
		expect(first(searched(false)).next).toMatch(/^allow a slower answer/);
		expect(first(searched(true)).next).toMatch(
			/^first free the machine .*: others warns .*; if it stays, allow a slower answer/,
		);
	});
});
