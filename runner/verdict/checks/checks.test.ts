import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { buildResult } from "../../compare/build.ts";
import { built, type Fate, planOf, steady } from "../../evidence/built.fake.ts";
import { collect } from "../../evidence/collect.ts";
import { editJson, firstRun, fixture, fixtureCopy } from "../../evidence/fixture.fake.ts";
import type { Merged } from "../../histogram/merge.ts";
import type { Plan } from "../../model/plan.ts";
import { packageFolder } from "../../package.ts";
import { parseSla } from "../../scenario/sla.ts";
import { CHECKS } from "../checks.ts";
import { exitCodeOf } from "../exit.ts";
import { type Facts, factsOf, UNKNOWN } from "../facts.ts";
import {
	type Any,
	type Changes,
	check,
	counters,
	floorOf,
	judged,
	lines,
	sla,
	totals,
} from "../judged.fake.ts";
import { judgeRun } from "../run.ts";
import { tallyOf } from "../tally.ts";
import { floor, lag, floorOf as measuredFloor } from "./generator.ts";
import { drain } from "./messages.ts";

const MS = 1e6;
const T0_MS = 1767225600000;

/** A sample a second, from a second before T0 to the end; `machine` says what the counters are after s seconds. */
const resources = (machine: (s: number) => Any): Any[] =>
	Array.from({ length: 9 }, (_, i) => ({
		unixMs: T0_MS - 1000 + i * 1000,
		generator: null,
		broker: null,
		machine: { cpuNs: i * 4e9, idleNs: i * 3e9, stealNs: 0, throttled: 0, ...machine(i) },
	}));
/** Of 4 cores, in each second: what the processes and nothing used. */
const used = (generator: number | null, broker: number | null, idle: number): Any[] => {
	const usage = (s: number, cores: number | null) =>
		cores === null ? null : { cpuNs: s * cores * 1e9, rssBytes: 0, readBytes: 0, writeBytes: 0 };
	return resources((s) => ({ idleNs: s * idle * 1e9 })).map((line, s) => ({
		...line,
		generator: usage(s, generator),
		broker: usage(s, broker),
	}));
};
const ticks = (edit: (tick: Any) => unknown): Changes =>
	lines((all) => {
		for (const l of all) if (l.type === "tick") edit(l);
	});
const cpu = (cores: number, quotaCores: number | null): Changes => ({
	...ticks((t) => {
		t.cpuNs = cores * 1e9;
	}),
	surroundings: { quotaCores },
});
/** All lag: a message that is sent late and answered at once; without a limit. */
const allLag = (figure: string | null, limitBytes: number | null = null): Changes => ({
	plan: (plan) => {
		const line = { kind: "baseline", text: "x", op: "<=", margin: 0.1, allowanceNs: null };
		const baselineSla = figure === null ? [] : [{ ...line, figure }];
		Object.assign(plan, { sla: [], limits: [], baselineSla });
		plan.message.limitBytes = limitBytes;
	},
});

test("a healthy run is quiet: nothing is found, and only the floor is not known", () => {
	const { checks } = judged("healthy");
	expect(checks.filter((c) => c.status !== "ok").map((c) => c.check)).toEqual(["steady", "floor"]);
	expect(checks.every((c) => c.status !== "ok" || c.remedy === null)).toBe(true);
});

test("reports/METHOD.md has the table of checks (UPDATE_GOLDEN=1 writes it)", () => {
	const path = join(packageFolder, "reports", "METHOD.md");
	const method = readFileSync(path, "utf8");
	const rows = CHECKS.map(({ name, comesTo, when }) => `| ${name} | ${comesTo} | ${when} |\n`);
	const table = `| check | | when |\n| --- | --- | --- |\n${rows.join("")}`;
	const written = method.replace(/^\| check \|[\s\S]*?\n(?=\n)/m, () => table);
	if (process.env.UPDATE_GOLDEN) writeFileSync(path, written);
	else expect(written).toBe(method);
});

test("every check that is not ok says what to do", () => {
	for (const name of ["lost", "lag", "no-data", "interrupted", "repeats"])
		for (const c of judged(name).checks)
			expect(c.status === "ok" || (c.remedy ?? "").length > 5).toBe(true);
});

// healthy: 4 cores, response p99 431us.
test.each<[name: string, what: string, changes: Changes, found: object, of?: string]>([
	["lag", "most of what was measured", allLag(null), { status: "invalid" }, "lag"],
	["lag", "of messages above a limit on purpose", allLag(null, 200), { status: "warn" }, "lag"],
	["lag", "of a run that is compared", allLag("response p99"), { status: "warn" }, "lag"],
	["lag", "that is not compared", allLag("throughput"), { status: "invalid" }, "lag"],
	[
		"cpuQuota",
		"never in the window",
		{ resources: resources((s) => ({ throttled: s < 2 ? 3 * s : 6 })) },
		{ status: "ok" },
	],
	[
		"cpuQuota",
		"in the window",
		{ resources: resources((s) => ({ throttled: s < 4 ? 0 : 7 })) },
		{ status: "warn" },
	],
	[
		"cpuQuota",
		"unreadable",
		{ resources: resources(() => ({ throttled: null })) },
		{ status: "unknown" },
	],
	["cpuQuota", "without samples", { resources: [] }, { status: "unknown" }],
	["steal", "without samples", { resources: [] }, { status: "unknown" }],
	...(
		[
			[0.01, "ok", "1 %"],
			[0.05, "warn", "5 %"],
		] as const
	).map(([share, status, figure]): [string, string, Changes, object] => [
		"steal",
		`of ${figure}`,
		{ resources: resources((s) => ({ stealNs: s * 4e9 * share })) },
		{ status, figure, limit: "2 %" },
	]),
	[
		"steal",
		"that went backwards",
		{ resources: resources((s) => ({ stealNs: (9 - s) * 1e9 })) },
		{ status: "unknown" },
	],
	[
		"others",
		"beside 1 of 4 cores",
		{ resources: used(0.5, 0.5, 2.5) },
		{ status: "ok", figure: "13 %" },
	],
	[
		"others",
		"that take more",
		{ resources: used(0.5, 0.5, 1.5) },
		{ status: "warn", figure: "38 %" },
	],
	["others", "sampled apart", { resources: used(2, 2, 1) }, { status: "ok", figure: "0 %" }],
	["others", "without the broker", { resources: used(0.5, null, 1) }, { status: "unknown" }],
	["others", "without the generator", { resources: used(null, 0.5, 1) }, { status: "unknown" }],
	[
		"others",
		"as long as the generator was there",
		{
			resources: used(0.5, 0.5, 1.5).map((l, s) => (s < 6 ? l : { ...l, generator: null })),
		},
		{ status: "warn", figure: "38 %" },
	],
	[
		"others",
		"beside a broker of yours that was found",
		{
			plan: (plan) => {
				plan.target = "existing";
			},
			resources: used(0.5, 0.5, 1.5),
		},
		{ status: "warn", figure: "38 %" },
	],
	["ownCpu", "below 80 % of 4 cores", cpu(3.1, null), { status: "ok" }],
	["ownCpu", "above it", cpu(3.3, null), { status: "warn" }],
	["ownCpu", "above it of a quota", cpu(0.9, 1), { status: "warn" }],
	["ownCpu", "below it of a quota", cpu(0.7, 1), { status: "ok" }],
	["ownCpu", "unreadable", cpu(0, null), { status: "unknown" }],
	...(
		[
			[100_000, "ok", "without any broker p99 is 100us at best"],
			[
				160_000,
				"warn",
				"without any broker p99 is 160us at best, a large part of the 431us with one",
			],
			[null, "unknown", "nothing to compare the generator's floor with"],
		] as const
	).map(([p99, status, detail]): [string, string, Changes, object] => [
		"floor",
		`of ${p99} ns`,
		{ surroundings: floorOf(p99) },
		{ status, detail },
	]),
	["floor", "not measured", {}, { status: "unknown", detail: "not measured" }],
	[
		"floor",
		"not to its end",
		{ surroundings: floorOf(1, { problem: "k6 was stopped" }) },
		{ status: "unknown", detail: "k6 was stopped" },
	],
	...["clientDropped", "reconnects"].map((name): [string, string, Changes, object] => [
		name,
		"that the driver cannot count",
		lines((all) => Object.assign(totals(all), { clientDropped: null, reconnects: null })),
		{ status: "unknown", detail: expect.stringContaining("this driver does not count") },
	]),
	[
		"range",
		"with values below 0",
		lines((all) => {
			all.find((l) => l.second === 0).metrics.lag.negative = 4;
		}),
		{ status: "warn" },
	],
	...(
		[
			["hpet", "invalid"],
			["acpi_pm", "invalid"],
			["jiffies", "invalid"],
			["refined-jiffies", "invalid"],
			["xen", "warn"],
			["kvm-clock", "ok"],
			[null, "unknown"],
		] as const
	).map(([clock, status]): [string, string, Changes, object] => [
		"clockSource",
		String(clock),
		{ clock },
		{ status },
	]),
	[
		"uncounted",
		"where a latency counts them, whatever else is asked",
		lines((all) => Object.assign(counters(all, "window"), { lost: 0, failed: 12 })),
		{ status: "ok" },
		"lost",
	],
	...(
		[
			[
				[100, 200, 300, 400, 490, 0, 0, 0, 0, 0],
				"invalid",
				"490",
				"the receiving side was slow (up to 490 messages waited in the client library, and 10 are due within 10ms): that decided p99 < 10ms",
			],
			[
				[0, 0, 0, 0, 100, 0, 0, 0, 0, 0],
				"warn",
				"100",
				expect.stringContaining("decided no line of the SLA"),
			],
			[Array(10).fill(10), "ok", "10", "at most 10 messages waited in the client library"],
		] as const
	).map(([samples, status, figure, detail]): [string, string, Changes, object, string] => [
		"held",
		`of ${samples}`,
		ticks((t) => Object.assign(t, { held: t.at === 6 ? samples : Array(10).fill(0) })),
		{ status, figure, limit: "10", detail },
		"stall",
	]),
	[
		"held",
		"that is not counted",
		ticks((t) => Object.assign(t, { held: null })),
		{ status: "unknown" },
	],
])("%s %s", (name, _, changes, found, of) => {
	expect(check(name, changes, of)).toMatchObject(found);
});

test("others are not asked beside a broker of yours whose process was not found", () => {
	const { checks } = judged("healthy", {
		plan: (plan) => {
			plan.target = "existing";
		},
		resources: used(0.5, null, 1.5),
	});
	expect(checks.find((c) => c.check === "others")).toBeUndefined();
});

test.each([
	["publish", null, 3, "unknown == 0"],
	["round-trip", 2, 0, "lost == 0"],
	["round-trip", 2, 3, "lost == 0 and unknown == 0"],
])(
	"what a drain of %s misses, %s lost and %s unanswered, asks for %s",
	(pattern, lost, unknown, lines) => {
		const counts = (n: number) => ({ lost: lost && n * lost, unknown: n * unknown });
		const collected = {
			plan: { pattern, sla: [], drainNs: 1e9 },
			state: "complete",
			run: null,
			counters: { warmup: counts(0), window: counts(1) },
		};
		const { text, remedy } = drain.judge({ collected } as unknown as Facts, []);
		expect(text).toMatch(/; no SLA line counts them$/);
		expect(remedy).toBe(`add ${lines} to the SLA`);
	},
);

/** The broker refused all 6000 messages: none was accepted, so none is lost. */
describe("a dead broker", () => {
	test.each([["lost == 0"], []])(
		"with %s alone is INCONCLUSIVE, and says what to add",
		(...line) => {
			const copy = fixtureCopy("no-data");
			editJson(join(firstRun(copy), "plan.json"), sla(...line).plan);
			const result = buildResult(copy);
			expect(result.verdict).toBe("inconclusive");
			expect(exitCodeOf(result)).toBe(6);
			expect(result.runs[0]?.why).toBe("6 000 failed of 6 000 messages; no SLA line counts them");
			expect(JSON.stringify(result)).not.toContain("a large part of what was measured");
		},
	);

	test.each([
		["failed == 0", "fail", null],
		// Counted, and all of it allowed: and yet nothing has completed.
		["failed <= 6000", "inconclusive", "none of the 5 000 messages of the window completed"],
		["failed == all", "pass", null],
	])("with %s: %s", (line, verdict, why) => {
		const found = judged("no-data", {
			plan: (plan) => {
				const parsed: Any = parseSla(line);
				plan.sla = [parsed.all ? { ...parsed, limit: 6000 } : parsed];
			},
		});
		expect(found).toMatchObject({ verdict, why });
	});

	test("has not sent what was refused: achieved is 0, never below", () => {
		expect(tallyOf(collect(firstRun(fixture("no-data"))), "achieved")).toBe(0);
	});
});

describe("12 messages that did not complete, of 6 000", () => {
	test.each([
		["failed", "lost == 0", "inconclusive"],
		["failed", "lost == 0, failed == 0", "fail"],
		["failed", "achieved >= 1000/s", "fail"],
		["unknown", "lost == 0, failed == 0", "inconclusive"],
		["unknown", "unknown == 0", "fail"],
	] as const)("%s, with %s: %s", (kind, asked, verdict) => {
		const found = judged("lost", {
			...sla(...asked.split(", ")),
			...lines((all) => Object.assign(counters(all, "window"), { lost: 0, [kind]: 12 })),
		});
		expect(found.verdict).toBe(verdict);
		if (verdict === "inconclusive")
			expect(found.why).toBe(`12 ${kind} of 6 000 messages; no SLA line counts them`);
	});
});

test("a percentile beyond the timeout is no small one: lag is no large part of it", () => {
	const facts = factsOf(collect(firstRun(fixture("healthy"))), UNKNOWN);
	const { collected } = facts;
	const plan = { ...collected.plan, sla: [] };
	// All but 36 of 100 refused, and the survivors fast: their lag p99 is above half of their response.
	const few = (ns: number): Merged => ({
		whole: { count: 36, low: [ns], high: [ns], upTo: [36] },
		maxNs: ns,
		seconds: new Map(),
		phases: [],
		bins: new Map(),
		above: () => new Map(),
	});
	plan.schedule = { ...plan.schedule, messages: plan.schedule.warmupMessages + 100 };
	const merged = new Map([
		["response", few(100_000)],
		["lag", few(90_000)],
	]);
	const one = { count: 36, sum: 0, min: 0, clamped: 0, negative: 0 };
	const metrics = { response: { ...one, max: 100_000 }, lag: { ...one, max: 90_000 } };
	const seconds = [{ second: 0, limits: [], metrics }];
	const found = lag.judge({ ...facts, merged, collected: { ...collected, plan, seconds } }, []);
	expect(found.status).toBe("ok");
});

describe("a load of which the generator sent half too late", () => {
	/** A run that lost 12 of 5 000 messages, had the generator sent each of them so late. */
	function sentLate(lateNs: number, ...lines: string[]) {
		const collected = collect(firstRun(fixture("lost")));
		const plan = { ...collected.plan, sla: lines.map(parseSla) };
		// The exact maximum stands beside the histogram, and caps it.
		const seconds = collected.seconds.map((s) => {
			const { lag } = s.metrics;
			return lag ? { ...s, metrics: { ...s.metrics, lag: { ...lag, max: lateNs } } } : s;
		});
		const facts = factsOf({ ...collected, plan, seconds }, UNKNOWN);
		const lag = facts.merged.get("lag") as Merged;
		const { count } = lag.whole;
		const whole = { count, low: [lateNs], high: [lateNs], upTo: [count] };
		const merged = new Map(facts.merged).set("lag", { ...lag, whole });
		return judgeRun({ ...facts, merged });
	}

	test.each<
		[what: string, ms: number, limit: string, lost: string, verdicts: string, limit?: string]
	>([
		// NATS at 1 000 000/s on two busy cores: lag p50 6.55 s.
		[
			"is INVALID where a gate fails, losses too",
			6550,
			"p99.9 < 20ms",
			"lost == 0",
			"invalid invalid invalid",
			"20ms",
		],
		["is a FAIL within the limit", 19, "p99.9 < 20ms", "lost == 0", "fail fail fail"],
		[
			"is no excuse below 1 ms, however tight the limit",
			0.9,
			"p50 < 100us",
			"lost == 0",
			"error error fail",
		],
		["is one above", 1.1, "p50 < 100us", "lost == 0", "invalid invalid invalid", "1ms"],
		["stays what it is where nothing fails", 6550, "p50 < 20ms", "lost < 100", "pass pass pass"],
	])("%s", (_, ms, limit, lost, verdicts, above) => {
		const { verdict, judgements, checks } = sentLate(ms * MS, limit, lost);
		expect([verdict, ...judgements.map((j) => j.verdict)].join(" ")).toBe(verdicts);
		expect(checks.find((c) => c.check === "offered")).toMatchObject(
			above ? { status: "invalid", limit: above } : { status: "ok" },
		);
	});

	test("is told by how late half of it was", () => {
		expect(sentLate(6550 * MS, "p99.9 < 20ms").why).toBe(
			"the generator could not offer this load: it sent half of the messages at least 6.55s late, more than the limit of 20ms",
		);
	});
});

describe("the floor", () => {
	const checked = (plan: Plan, fates: Fate[], p99: number, perSecond: number | null = null) => {
		const below = floorOf(p99, { perSecond, p50: p99 });
		return floor.judge(
			factsOf(collect(firstRun(built(plan, fates))), { ...UNKNOWN, ...below }),
			[],
		);
	};
	/** 1 ms each; of every `lostEvery` messages one never arrives. */
	const answered = (n: number, everyMs: number, lostEvery: number): Fate[] =>
		Array.from({ length: n }, (_, i) => ({
			receivedNs: [i % lostEvery === 0 ? null : i * everyMs * MS + MS],
		}));

	test.each([
		["p99", 3000, 1, 1000, "warn"],
		["nothing when p99 lies among messages that never came", 3000, 1, 50, "ok"],
		["the maximum of too few samples", 100, 10, 101, "warn"],
		["nothing where survivors alone have one", 100, 10, 100, "unknown"],
	])("is compared with %s", (_, n, everyMs, lostEvery, status) => {
		const few = { ...steady(1000, 0, 1), rate: { messages: 100, perNs: 1e9 }, messages: 100 };
		const plan = planOf({ schedule: n === 100 ? few : steady(1000, 1, 2) });
		const fates = answered(n, everyMs, lostEvery);
		if (lostEvery === 101) fates[0] = { receivedNs: [MS] };
		expect(checked(plan, fates, 0.5 * MS).status).toBe(status);
	});

	describe("of a closed loop is a ceiling", () => {
		const plan = planOf({
			pattern: "work-queue",
			consumers: 1,
			inFlight: 10,
			schedule: {
				kind: "closed",
				rate: null,
				warmupNs: 0,
				durationNs: 60e9,
				warmupMessages: 0,
				messages: 1000,
			},
		});
		const fates = Array.from({ length: 1000 }, (_, i) => ({
			sentNs: i * MS,
			receivedNs: [i * MS + 300_000],
		}));

		test.each([
			[10_000, "ok"],
			[1500, "warn"],
			[null, "unknown"],
		])("1000/s where noop carries %s/s is %s", (most, status) => {
			expect(checked(plan, fates, 1, most).status).toBe(status);
		});

		test("is what noop received per second of its own time", () => {
			const found = measuredFloor(factsOf(collect(firstRun(built(plan, fates))), UNKNOWN));
			expect(found.perSecond).toBeCloseTo(1000 / 0.999, 6);
			expect(found.count).toBe(1000);
		});
	});
});
