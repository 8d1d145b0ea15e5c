import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { variable } from "../brokers/index.ts";
import { buildResult } from "../compare/build.ts";
import { editJson, firstRun, fixtureCopy } from "../evidence/fixture.fake.ts";
import type { Gate, Result, Run } from "../model/result.ts";
import { check, search, step } from "../render/hostile.fake.ts";
import { renderHtml, renderMarkdown, terminalOf } from "../render/rendered.fake.ts";
import { explain, verdictText } from "./explain.ts";
import { brokenOf } from "./outcomes.ts";
import { fixtureResult } from "./stored.fake.ts";

const built = (name: string) => fixtureResult(name);

function first(result: Result) {
	const [outcome] = brokenOf(result);
	if (outcome === undefined) throw new Error("nothing broke");
	return explain(outcome, result);
}

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

function tally(sla: string, value: number, unit: "messages" | "messages/s"): Partial<Gate> {
	const [name = ""] = sla.split(" ");
	const limit = Number(/\d+/.exec(sla));
	return { ...COUNTED, sla, measured: `${value}`, tally: { name, value, limit, unit } };
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

	test("a strict run that cannot answer its SLA was not refused by something around it", () => {
		const result = planned("healthy", (plan) => {
			plan.strict = true;
			plan.sla[0].percentile = 99.99;
		});
		expect(result.errorCause).toBe("scenario");
		expect(first(result).next).toMatch(/^change the SLA line or the load/);
	});

	test("messages that no SLA line counts are the cause, not the samples", () => {
		const result = planned("no-data", (plan) => {
			plan.sla = plan.sla.filter((line: { kind: string }) => line.kind === "tally");
		});
		expect(verdictText(result)).toBe("6 000 failed of 6 000 messages; no SLA line counts them");
		const { broke, next } = first(result);
		expect(broke).toContain("no SLA line counts them");
		expect(next).toMatch(/^add \w+ == 0.* to the SLA \(npx mqbench explain uncounted\)/);
	});

	test("without a broker nobody speaks of one", () => {
		const texts = ["lag", "stall"].map((name) =>
			terminalOf(
				planned(name, (plan) => {
					Object.assign(plan, { broker: "noop", server: false });
				}),
			),
		);
		for (const text of texts)
			expect(text.replaceAll(/broker\.log|without any broker/g, "")).not.toMatch(/broker/i);
	});

	const FAILED = "p99 < 10ms is breached: ~400ms, 40x the limit";
	const OPEN = "p99 < 10ms is neither met nor breached: ~400ms, 40x the limit";
	const floored = "100 did; but the load generator alone needs 12ms, which is above the limit";
	const late = "the load generator was late (it achieved 900/s of 1 000/s)";
	test.each<[string, Partial<Gate>, string]>([
		[
			"a saturated machine",
			{ cause: "machine" },
			`${FAILED}, and no core was free: the machine is a cause of it`,
		],
		[
			"a fault",
			{ cause: "fault", why: "490 did; but the scenario explains it: pause" },
			`${FAILED}; the scenario explains it: pause`,
		],
		["messages that are missing", { censored: 2 }, `${FAILED}; 2 messages never completed`],
		["waiting", {}, `${FAILED}; the system pushed back`],
		["too few", { verdict: "inconclusive" }, `${OPEN}; measure longer, or repeat`],
		[
			"a saturated machine under strict",
			{ verdict: "invalid", why: "490 did; but the machine was saturated" },
			"p99 < 10ms was not judged: the machine was saturated",
		],
		[
			"the last of two excuses",
			{
				verdict: "inconclusive",
				why: "490 did; but no core was free; but within 1ms",
				code: "clocks",
			},
			`${OPEN}; within 1ms`,
		],
		[
			"the floor",
			{ verdict: "inconclusive", why: floored, code: "floor-over-limit" },
			`${OPEN}; the load generator alone needs 12ms, which is above the limit`,
		],
		[
			"the generator",
			{ verdict: "invalid", why: `${late}, so this says nothing about the system: 490 did` },
			`p99 < 10ms was not judged: ${late}`,
		],
	])("names the line, its value, its limit and its cause: %s", (_, gate, text) => {
		const result = withRun(withGate(gate), (run) => {
			const around = { p: 99, messages: 12, from: 90, to: 110, response: 100 };
			run.breakdown = [{ ...around, queued: 80, lag: 10, service: 10 }];
		});
		Object.assign(result, { verdict: gate.verdict ?? "fail" });
		expect(verdictText(result)).toBe(text);
		expect(terminalOf(result, 1000)).toContain(`\nstall: ${text}.\n`);
		const { next } = first(result);
		expect([next?.includes("measure longer"), next?.includes("set a limit above")]).toEqual([
			text.includes("measure longer"),
			text.includes("alone needs"),
		]);
	});

	test("names the system where there are several, and how many others did not pass", () => {
		expect(verdictText(built("repeats"))).toMatch(
			/^kafka, 256B 500\/s: ack p99 < 20ms is neither .* \(1 more did not pass\)$/,
		);
	});

	test.each<[string, Partial<Gate>, Partial<Gate>]>([
		["one that nothing explains", { cause: "fault", margin: 0.001 }, { margin: 0.5 }],
		["else the one furthest from its limit", { margin: 0.9 }, { margin: 0.5 }],
		["else the first", { sla: "p50 < 1s", margin: 0.5 }, { sla: "p99 < 1s", margin: 0.9 }],
	])("names of several lines %s", (_, one, other) => {
		const result = withGate({});
		const [gate] = result.gates as [Gate];
		result.gates = [
			{ ...gate, sla: "p50 < 1ms", ...one },
			{ ...gate, sla: "p50 < 1s", ...other },
		];
		result.verdict = "fail";
		expect(verdictText(result)).toMatch(/^p50 < 1s is breached.* \(1 more did not pass\)$/);
	});
});

describe("what broke by how much", () => {
	test.each([
		[1.01, "just below the limit"],
		[6.3, "6.3x below the limit"],
		[0.025, "40x the limit"],
		[0.99, "just above the limit"],
	])("a margin of %d is a word or a factor, never a bare 1x", (margin, text) => {
		expect(first(withGate({ margin })).margin).toBe(text);
	});

	test("a count has no margin, and a line names itself", () => {
		const { broke, margin } = first(withGate(tally("lost <= 5", 12, "messages")));
		expect(broke).toBe("lost <= 5 is breached: 12");
		expect(margin).toBe("");
	});

	test("has its interval, and of what nothing else counts the reason apart", () => {
		expect(first(built("stall"))).toMatchObject({
			broke: "p99 < 10ms is breached: ~400ms [196ms, \u221e], 40x the limit",
			why: expect.stringMatching(/^at most 100 of 10 000 may take longer than 10ms; 490 did/),
		});
		expect(
			first(withGate({ verdict: "inconclusive", measured: "18ms", margin: 1.1 })),
		).toMatchObject({
			broke: "p99 < 10ms is neither met nor breached: 18ms, 1.1x below the limit",
		});
		expect(first(built("interrupted")).broke).toBe("p99 < 20ms was not judged");
	});
});

describe("when", () => {
	test("is the first message that was lost", () => {
		const result = built("lost");
		// In a closed load only the message has the time at which it was sent.
		for (const { offenders } of result.runs) if (offenders.lost) offenders.lost.intendedNs = null;
		expect(first(result).when).toBe("first lost: producer 0, sequence 3000");
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
	test.each([
		["consumers", /^first give room: consumers warns \(npx mqbench explain consumers\)$/],
		["throttled", /^first give room: throttled warns/],
		["others", /^first give room: others warns/],
	])("is about what warns before the system: %s", (name, text) => {
		const warns = check(name, "warn", { detail: `${name} warns`, remedy: "give room" });
		const result = withRun(built("stall"), ({ validity }) => {
			validity.push(warns);
			if (name !== "others") validity.unshift(check("others", "warn", { remedy: "wait" }));
		});
		expect(next(result)).toMatch(text);
	});

	test.each([
		["response", { queued: 20, lag: 70, service: 10 }, /^the generator itself was late/],
		["response", { queued: 80, lag: 10, service: 10 }, /^the system pushed back/],
		["response", { queued: null, lag: null, service: null }, /^the time went in the system/],
		["queued", {}, /^the system pushed back/],
		["ack", { queued: 80, lag: 10, service: 10 }, /^the time went in the system/],
	] as const)("of %s is that of the part that took longest: %j", (metric, parts, text) => {
		const around = { p: 99, messages: 12, from: 90, to: 110, response: 100, queued: 0, lag: 0 };
		const result = withRun(withGate({ metric }), (run) => {
			run.breakdown = [{ ...around, service: 100, ...parts }];
		});
		expect(next(result)).toMatch(text);
	});

	test("of messages that failed is their commonest error, though the machine was busy as well", () => {
		const result = withRun(built("no-data"), (run) => {
			run.validity = [check("others"), check("cores", "warn", { remedy: "wait" })];
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

	test("of an error is what the broker refused", () => {
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
		expect(of("it is a mystery", "local")).toMatch(/^fix the cause named above and run again/);
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
		["ok", /^raise the limit/],
		["warn", /^first .*\(npx mqbench explain others\)$/],
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
			const { index = 0 } = result.runs[0] ?? {};
			const runs = [step({ index, rate: 10 }), step({ index: 99, rate: 20 })];
			expect(next({ ...result, gates: [], searches: [search({ verdict: "fail", runs })] })).toMatch(
				text,
			);
		},
	);
});
