import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { variable } from "../brokers/index.ts";
import { buildResult } from "../compare/build.ts";
import { editJson, firstRun, fixtureCopy } from "../evidence/fixture.fake.ts";
import type { Gate, Result, Run } from "../model/result.ts";
import { comparison, search } from "../render/hostile.fake.ts";
import { renderHtml, renderMarkdown, terminalOf } from "../render/rendered.fake.ts";
import { explain, verdictText } from "./explain.ts";
import { brokenOf } from "./outcomes.ts";
import { fixtureResult } from "./stored.fake.ts";

const built = (name: string) => fixtureResult(name);

/** Of the first thing that broke. */
function first(result: Result) {
	const [outcome] = brokenOf(result);
	if (outcome === undefined) throw new Error("nothing broke");
	return explain(outcome, result);
}

/** The result, with its first run changed. */
function withRun(result: Result, change: (run: Run) => void): Result {
	const [run] = result.runs;
	if (run === undefined) throw new Error("another fixture");
	change(run);
	return result;
}

type Repeat = Gate["repeats"][number];

/** The stalled run with another gate: `parts` are of its repeats as well, each with what it has of its own. */
function withGate(parts: Partial<Gate>, repeats: readonly Partial<Repeat>[] = [{}]): Result {
	const result = built("stall");
	const [gate] = result.gates;
	const [repeat] = gate?.repeats ?? [];
	if (!gate || !repeat) throw new Error("another fixture");
	const changed = { ...gate, lowNs: null, highNs: null, ...parts };
	const own = Object.fromEntries(
		Object.keys(repeat).map((key) => [key, changed[key as keyof Gate] ?? null]),
	) as unknown as Repeat;
	const all = repeats.map((one, i) => ({ ...own, repeat: i + 1, ...one }));
	return { ...result, gates: [{ ...changed, repeats: all }] };
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

/** A line about a count, a rate or a time. */
function tally(
	sla: string,
	value: number | null,
	limit: number,
	unit: "messages" | "messages/s" | "ns",
): Partial<Gate> {
	const [name = ""] = sla.split(" ");
	// The printed texts have no number in them that could be read instead.
	const printed = limit === 0 ? { measured: "12", limit: "0" } : { measured: "M", limit: "L" };
	return { ...COUNTED, sla, ...printed, tally: { name, value, limit, unit } };
}

describe("what a verdict means", () => {
	// biome-ignore lint/suspicious/noExplicitAny: tests change any field of a plan.
	const planned = (name: string, edit: (plan: any) => void) => {
		const copy = fixtureCopy(name);
		editJson(join(firstRun(copy), "plan.json"), edit);
		return buildResult(copy);
	};

	test("without any SLA nothing was judged, and nobody says that every SLA is met", () => {
		const result = planned("healthy", (plan) => {
			plan.sla = [];
		});
		expect(result.verdict).toBe("pass");
		for (const text of [terminalOf(result), renderMarkdown(result), renderHtml(result)]) {
			expect(text).toMatch(/no SLA: nothing was judged/i);
			expect(text).not.toContain("every SLA is met");
		}
	});

	test("a strict run that was finished does not say that it could not be", () => {
		const result = planned("healthy", (plan) => {
			plan.strict = true;
			plan.sla[0].percentile = 99.99;
		});
		expect(result.errorCause).toBe("scenario");
		expect(verdictText(result)).toContain("the scenario asks for");
	});

	test("messages that no SLA line counts are the cause, not the samples", () => {
		const result = planned("no-data", (plan) => {
			plan.sla = plan.sla.filter((line: { kind: string }) => line.kind === "tally");
		});
		expect(verdictText(result)).toBe("what was measured leaves it open");
		const { broke, next } = first(result);
		expect(broke).toContain("no SLA line counts them");
		expect(next).toMatch(/^add \w+ == 0.* to the SLA, and measure again/);
	});

	test("of a machine that was saturated is that", () => {
		expect(verdictText({ ...built("stall"), cause: "machine" })).toMatch(
			/^an SLA is breached, and no core was free/,
		);
	});
});

describe("what broke by how much", () => {
	test.each([
		[15e6, "15ms", "p99 is 15ms: 1.5x the limit of 10ms, 5ms above it"],
		[10.21e6, "10.2ms", "p99 is 10.2ms: 2.1 % above the limit of 10ms (by 210us)"],
		[14.9e6, "14.9ms", "p99 is 14.9ms: 49 % above the limit of 10ms (by 4.9ms)"],
		[10e6, "10ms", "p99 is 10ms: at the limit of 10ms"],
		[2.5e9, "2.5s", "p99 is 2.5s: 250x the limit of 10ms, 2.49s above it"],
	])("of a p99 of %d ns", (valueNs, measured, text) => {
		expect(first(withGate({ valueNs, measured })).broke).toBe(text);
	});

	test.each([
		["lost == 0", 12, 0, "messages", "12 lost, where none may be"],
		["lost <= 5", 12, 5, "messages", "lost is M: 2.4x the limit of L, 7 above it"],
		[
			"throughput >= 450/s",
			412.2,
			450,
			"messages/s",
			"throughput is M: 37.8/s (8.4 %) below the L that it has to reach",
		],
		[
			"throughput >= 45000/s",
			1200,
			45_000,
			"messages/s",
			"throughput is M: 43 800/s (97 %) below the L that it has to reach",
		],
		["drainTime < 2s", 5.5e9, 2e9, "ns", "drainTime is M: 2.8x the limit of L, 3.5s above it"],
		["drainTime < 2s", null, 2e9, "ns", "drainTime is M (drainTime < 2s)"],
		[
			"recovered(p(99) < 20ms) < 2s",
			5.5e9,
			2e9,
			"ns",
			"recovered(p(99) < 20ms) is M: 2.8x the limit of L, 3.5s above it",
		],
	] as const)("of %s, measured %d: by its numbers", (sla, value, limit, unit, text) => {
		expect(first(withGate(tally(sla, value, limit, unit))).broke).toBe(text);
	});

	test.each([
		[5.5e9, "more than 2.8x the limit of L, as it had not ended by then"],
		[2e9, "beyond the limit of L, as it had not ended by then"],
	])("of what had not ended after %d ns", (beyondNs, text) => {
		const result = withGate(tally("drained < 2s", null, 2e9, "ns"), [{ beyondNs }]);
		expect(first(result).broke).toBe(`drained is M: ${text}`);
	});

	test("of repeats: the worst of those that failed", () => {
		const of = (valueNs: number, verdict: Gate["verdict"]) => ({
			verdict,
			valueNs,
			measured: `${valueNs / 1e6}ms`,
			margin: 10e6 / valueNs,
		});
		const repeats = [of(20e6, "fail"), of(9e6, "pass"), of(30e6, "fail")];
		expect(first(withGate({}, repeats))).toMatchObject({
			broke: expect.stringMatching(
				/^p99 is 30ms in repeat 3, the worst: 3x the limit of 10ms, 20ms above it/,
			),
			margin: "3x the limit to 1.1x below the limit",
			where: "nats, 256B 1000/s, in repeats 1 and 3 of 3",
		});
		const rates = [400, 300].map((value) =>
			tally("throughput >= 450/s", value, 450, "messages/s"),
		) as Partial<Repeat>[];
		expect(
			first(withGate(tally("throughput >= 450/s", 300, 450, "messages/s"), rates)),
		).toMatchObject({
			broke: expect.stringContaining("in repeat 2, the worst: 150/s (33 %) below"),
			where: "nats, 256B 1000/s, in all 2 repeats",
		});
	});

	test.each([
		[[1.01, 1.2], "just below the limit to 1.2x below the limit"],
		[[6.3, 6.5], "6.3x to 6.5x below the limit"],
		[[0.025, 0.5], "2x to 40x the limit"],
		[[0.99], "just above the limit"],
	])("margins %j are words and factors, never a bare 1x", (margins, text) => {
		expect(
			first(
				withGate(
					{},
					margins.map((margin) => ({ margin })),
				),
			).margin,
		).toBe(text);
	});

	test("has its interval, and of what nothing else counts the reason apart", () => {
		expect(first(built("stall"))).toMatchObject({
			broke: "p99 is ~400ms [196ms, \u221e]: 40x the limit of 10ms, 390ms above it",
			why: expect.stringMatching(/^at most 100 of 10 000 may take longer than 10ms; 490 did/),
		});
		expect(
			first(withGate({ verdict: "inconclusive", measured: "18ms" }, [{ margin: 1.1 }])),
		).toMatchObject({
			broke: "p99 < 10ms is neither met nor breached: 18ms, 1.1x below the limit",
		});
		expect(first(built("interrupted")).broke).toBe("p99 < 20ms was not judged");
	});

	test("of a regression: what the comparison says", () => {
		const c = comparison();
		const { broke, next } = first(
			withGate({ sla: "p99 <= baseline + 10%", comparison: c, why: c.why }),
		);
		expect(broke).toBe("p99 <= baseline + 10%: 1.31x: worse by more than the margin of 10 %");
		expect(next).toContain("--confirm");
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
		const result = withGate(tally("throughput >= 2000/s", 1000, 2000, "messages/s"));
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

	test("is in a repeat that made the gate INVALID, not in one that failed", () => {
		const result = withGate({ verdict: "invalid" }, [
			{ verdict: "fail", margin: 0.01 },
			{ verdict: "invalid", margin: 0.5 },
		]);
		const [run] = result.runs as [Run];
		result.runs = [159e6, 103e6].map((max, i) => {
			const seconds = run.series.seconds.map((one) => ({ ...one, p99: null, max }));
			return { ...run, repeat: i + 1, series: { ...run.series, seconds } };
		});
		expect(first(result)).toMatchObject({
			where: expect.stringContaining("in repeat 2 of 2"),
			when: expect.stringContaining("max 103ms"),
		});
	});

	test("is not known of another metric than the run's own, and of all repeats at once", () => {
		expect(first(withGate({ metric: "service" })).when).toBeNull();
		expect(first(withGate({ compares: true })).when).toBeNull();
	});
});

describe("what to do", () => {
	const next = (result: Result) => first(result).next;
	const check = (name: string, parts: Partial<Run["validity"][number]> = {}) => ({
		check: name,
		status: "warn" as const,
		detail: `${name} warns`,
		figure: null,
		limit: null,
		remedy: null,
		...parts,
	});

	test.each([
		[
			"consumers-idle",
			/^first give the consumers room: write partitions: 4; consumers warns, which is the consumers' share and not the broker's \(mqbench explain partitions\)$/,
		],
		["work-near", /\(mqbench explain saturation\)$/],
	] as const)("is the consumers' share before the machine's and the broker's: %s", (code, text) => {
		const result = withRun(built("stall"), ({ validity }) => {
			validity.push(check("others"), check("consumers", { code, remedy: "write partitions: 4" }));
		});
		expect(next(result)).toMatch(text);
	});

	describe("names the part that took longest", () => {
		const message = (run: Run, parts: object) => {
			run.slowest = [{ ...run.slowest[0], ...parts }] as typeof run.slowest;
		};

		test("of the slowest messages", () => {
			const slow = withRun(built("stall"), (run) =>
				message(run, { responseNs: 100, queuedNs: 75, lagNs: 5, serviceNs: 20 }),
			);
			expect(next(slow)).toContain("of the slowest messages 75 % is queued: the system pushed");
		});

		test("of those around the percentile, where that is known", () => {
			const around = { p: 99, messages: 12, from: 90, to: 110 };
			const of = (parts: {
				response: number | null;
				queued: number | null;
				lag: number | null;
				service: number | null;
			}) =>
				next(
					withRun(built("stall"), (run) => {
						run.breakdown = [{ ...around, ...parts }];
					}),
				);
			expect(of({ response: 100, queued: 20, lag: 70, service: 10 })).toContain(
				"of the messages around p99 70 % is lag",
			);
			expect(of({ response: null, queued: null, lag: null, service: null })).toContain(
				"of the slowest messages 100 %",
			);
		});

		test("but does not explain the middle by the slowest messages", () => {
			expect(next(withGate({ sla: "p50 < 1us", percentile: 50 }))).toMatch(/^look at latency/);
		});

		test("and claims none of another metric than response", () => {
			for (const metric of ["service", "queued", "ack", "last", "lag"] as const)
				expect(next(withGate({ metric }))).not.toMatch(/largest|slowest/);
		});
	});

	test.each([
		[
			5000,
			/^raise workload.rate or lower the limit: only 1 000\/s are scheduled, so no system could reach it$/,
		],
		[1000, /find: max-rate/],
	])("of a rate that nobody schedules is to schedule it: %d", (limit, text) => {
		expect(next(withGate(tally("throughput >= L", 1000, limit, "messages/s")))).toMatch(text);
	});

	test("of messages that failed is their commonest error, though the machine was busy as well", () => {
		const result = withRun(built("no-data"), (run) => {
			run.validity = [check("others"), check("cores", { remedy: "wait" })];
		});
		result.gates = result.gates.map((gate) => ({ ...gate, cause: "machine" }));
		for (const outcome of brokenOf(result))
			expect(explain(outcome, result).next).toMatch(
				/^5 000 messages failed; fix the commonest error first: .*connection refused/,
			);
	});

	test("of a fault that was not carried out is nothing: it explains nothing", () => {
		const result = withRun(built("failover"), (run) => {
			run.failover = run.failover.map((fault) => ({ ...fault, error: "no" }));
		});
		expect(next(result)).toMatch(/^1 message failed; fix the commonest error first: NOT_LEADER/);
	});

	test("of an error is what the broker refused, and names its log only where mqbench keeps one", () => {
		const of = (why: string, target: "local" | "existing") => {
			const result = withRun(withGate({ verdict: "error" }), (run) => {
				const brokerUrl = "redis://10.0.0.5:6400/2";
				const load = { ...run.load, broker: "redis", target };
				Object.assign(run, { why, brokerUrl, verdict: "error", load });
			});
			return next({ ...result, errorCause: "environment" });
		};
		expect(of("NOAUTH Authentication required", "existing")).toBe(
			`write REDIS_PASSWORD=... before the command and --url 'redis://:${variable("REDIS_PASSWORD")}@10.0.0.5:6400/2' behind it, with the single quotes`,
		);
		const unknown = "fix the cause named above and run again";
		expect(of("it is a mystery", "existing")).toBe(unknown);
		expect(of("it is a mystery", "local")).toBe(`${unknown}; broker.log is in the run's folder`);
	});

	test("of a broker that throttled its clients is its quota, before the errors that followed", () => {
		const throttled = (share: number) =>
			withRun(built("no-data"), (run) => {
				run.validity = [check("throttled", { remedy: "raise the quota" })];
				run.throttledNs = share * (run.window.endNs - run.window.startNs);
			});
		expect(next(throttled(0.4))).toBe(
			"first raise the quota: the broker throttled its clients for 2s (mqbench explain throttled)",
		);
		expect(next(throttled(0.001))).toMatch(/^5 000 messages failed/);
	});

	test("of an interruption names the scenario where it is known, and of a search is no --resume", () => {
		const result = built("interrupted");
		const args = ["run", "bench/x.yaml", "--set", "repeat=2", "--out", "my runs"];
		result.command = { scenario: "bench/x.yaml", args, file: null };
		expect(next(result)).toContain(
			"npx mqbench run bench/x.yaml --set repeat=2 --resume 'my runs'",
		);
		const refused = /^start again: a scenario with a search cannot be resumed/;
		const searched = { ...result, searches: [search({ verdict: "interrupted" })] };
		for (const outcome of brokenOf(searched))
			expect(explain(outcome, searched).next).toMatch(refused);
		// Stopped before its search began.
		expect(next({ ...result, command: { ...result.command, resumable: false } })).toMatch(refused);
	});

	test.each([
		["ok", /^allow a slower answer/],
		["warn", /^first free the machine .*: others warns .*; if it stays, allow a slower answer/],
	] as const)(
		"of a search is that of the lowest rate which did not pass: others %s",
		(status, text) => {
			const result = withRun(built("stall"), (run) => {
				run.search = { role: "probe", of: run.case };
				run.validity = run.validity.map((c) => ({
					...c,
					status: c.check === "others" ? status : "ok",
				}));
			});
			const step = { role: "probe", why: null, p50: null, p99: null, max: null } as const;
			const { index = 0 } = result.runs[0] ?? {};
			const runs = [
				{ ...step, index, rate: 10, verdict: "fail" as const },
				{ ...step, index: 99, rate: 20, verdict: "fail" as const },
			];
			expect(next({ ...result, gates: [], searches: [search({ verdict: "fail", runs })] })).toMatch(
				text,
			);
		},
	);
});
