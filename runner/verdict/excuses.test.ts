import { expect, test } from "vitest";
import { collect } from "../evidence/collect.ts";
import { firstRun, fixture } from "../evidence/fixture.fake.ts";
import { type Facts, factsOf, UNKNOWN } from "./facts.ts";
import type { Any } from "./judged.fake.ts";
import { judgeRun } from "./run.ts";

const MS = 1e6;
const kinds = ["percentile", "max", "stopped"] as const;
type Kind = (typeof kinds)[number];

/** 490 of 10 000 messages took longer than 10 ms, all of them due in 500 ms of the fifth second of the window; the generator was not late. */
const stored = collect(firstRun(fixture("stall")));

/** A changed run with one line, about 10 ms; of a run that was stopped, the line that stopped it. */
function changed(kind: Kind, change: (run: Any, facts: Any) => void = () => {}): Facts {
	const { logs, brokerLog, completions, ...rest } = stored;
	const run: Any = { ...structuredClone({ ...rest, parts: [] }), logs, brokerLog, completions };
	run.parts = stored.parts.map((part) => ({ ...part }));
	// Counts that were changed need not add up.
	run.closed = false;
	const sla = { text: "line", metric: "response", op: "<", limitNs: 10 * MS, abort: true };
	run.plan.sla = [
		kind === "max" ? { kind, ...sla } : { kind: "percentile", percentile: 99, ...sla },
	];
	if (kind === "stopped") {
		run.state = "aborted";
		run.run.abortedBy = "line";
	}
	const facts: Any = { ...UNKNOWN, clockSource: "tsc" };
	change(run, facts);
	return { ...factsOf(run, facts), ...facts };
}

/** What its line comes to, what decided that, its cause, and the check that tells of it. */
function line(kind: Kind, change: (run: Any, facts: Any) => void) {
	const { judgements, checks } = judgeRun(changed(kind, change));
	const [judged] = judgements;
	const code = judged?.code.replace(/^.*-by-/, "") ?? "";
	const told = checks.find((c) => c.check === TOLD_BY[code]);
	return [judged?.verdict, code, judged?.cause, told && `(${told.check} ${told.status})`]
		.filter((part) => part)
		.join(" ");
}

/** Checks that tell of an excuse, by what its code ends with. */
const TOLD_BY: Readonly<Record<string, string>> = {
	lag: "lag",
	burst: "lag",
	stops: "lag",
	held: "held",
	"floor-over-limit": "floor",
	"machine-saturated": "cores",
	clocks: "clock",
	"queue-growing": "backlog",
	"p50-rose": "steady",
};

const late = (run: Any) => run.seconds.filter((s: Any) => s.limits[0].over.some((n: number) => n));
const withoutLag = (run: Any, of: (over: number) => number) => {
	for (const { limits } of late(run)) limits[0].overWithoutLag = limits[0].over.map(of);
};
const inTime = (run: Any) => {
	for (const { limits } of late(run)) limits[0].over = limits[0].overWithoutLag = Array(10).fill(0);
};
const saturated = (run: Any) => {
	run.resources = Array.from({ length: 14 }, (_, i) => ({
		unixMs: run.t0Ms - 1000 + i * 1000,
		generator: null,
		broker: null,
		machine: { cpuNs: i * 4e9, idleNs: i * 1e8, stealNs: 0, throttled: 0 },
	}));
};

const EXCUSES: Readonly<Record<string, (run: Any, facts: Any) => void>> = {
	nothing: () => {},
	lag: (run) => withoutLag(run, () => 0),
	burst: (run) => {
		// What it sent at once waited in the system: taking its own lag off changes little.
		withoutLag(run, (over) => Math.max(0, over - 1));
		for (const { metrics } of late(run)) metrics.lag.max = 500 * MS;
	},
	// Of its two seconds nothing is left: those that were only planned are no window without late ones.
	"burst, in all seconds until the stop": (run) => {
		EXCUSES.burst?.(run, {});
		run.seconds = late(run);
		for (const second of run.seconds) second.second = 0;
	},
	stops: (run) => {
		run.stops = [[5000 * MS, 5490 * MS]];
	},
	held: (run) => {
		const slow = [100, 200, 300, 400, 490, 0, 0, 0, 0, 0];
		for (const tick of run.ticks) tick.held = tick.at === 6 ? slow : Array(10).fill(0);
	},
	receipts: (run) => {
		for (const { limits } of late(run))
			limits[0].count = limits[0].count.map((n: number, i: number) => n + limits[0].over[i]);
		const ledger = (duplicated: number) => ({ sent: 0, failed: 0, strange: 0, duplicated });
		run.ledgers = { warmup: ledger(0), window: ledger(490) };
	},
	floor: (_, facts) => {
		const p99 = 12 * MS;
		facts.floor = { folder: "floors/01", problem: null, count: 5000, p50: 1e4, p99, max: p99 };
	},
	machine: saturated,
	"machine, strict": (run) => {
		saturated(run);
		run.plan.strict = true;
	},
	clocks: (run) => {
		Object.assign(run.plan, { pattern: "work-queue", client: { index: 0, count: 2 } });
		const clock = { beforeNs: 0, afterNs: 0, boundNs: 250 * MS, readNs: null, source: "probes" };
		const end = { index: 0, name: "far", kind: "ssh", k6Exit: 0, firstClaimNs: -1, clock };
		run.parts = [0, 1].map((index) => ({ ...run.parts[0], index, end: { ...end, index } }));
	},
	"clocks, in time": (run) => {
		EXCUSES.clocks?.(run, {});
		inTime(run);
	},
	"machine and clocks": (run) => {
		saturated(run);
		EXCUSES.clocks?.(run, {});
		run.hosts = run.parts.map((client: Any) => ({ client, samples: run.resources }));
	},
	"machine and clocks, strict": (run) => {
		EXCUSES["machine and clocks"]?.(run, {});
		run.plan.strict = true;
	},
	queue: (run) => {
		inTime(run);
		for (const [i, tick] of run.ticks.entries())
			tick.backlog = tick.backlog.map((_: number, k: number) => 100 * i + 10 * k);
	},
	drift: (run, facts) => {
		inTime(run);
		const response = factsOf(run, UNKNOWN).merged.get("response");
		const seconds = Array.from({ length: 10 }, (_, second) => {
			const ns = (4 + second) * MS;
			return [second, { count: 100, p50: ns, p99: ns, max: ns }] as const;
		});
		facts.merged = new Map([["response", { ...response, seconds: new Map(seconds) }]]);
	},
};

test.each<[excuse: string, answer: string, stopped?: string]>([
	["nothing", "fail late-messages", "fail aborted-hopeless"],
	["lag", "invalid lag (lag invalid)"],
	["burst", "invalid burst (lag invalid)"],
	["burst, in all seconds until the stop", "fail late-messages", "fail aborted-hopeless"],
	["stops", "invalid stops (lag invalid)"],
	["held", "invalid held (held invalid)"],
	["receipts", "inconclusive duplicate-receipts", "fail aborted-hopeless"],
	["floor", "inconclusive floor-over-limit (floor warn)"],
	["machine", "fail machine-saturated machine (cores warn)"],
	["machine, strict", "invalid machine-saturated machine (cores invalid)"],
	["clocks", "inconclusive clocks (clock ok)"],
	["clocks, in time", "inconclusive clocks (clock ok)"],
	["machine and clocks", "inconclusive clocks machine (clock ok)"],
	["machine and clocks, strict", "invalid machine-saturated machine (cores invalid)"],
	["queue", "inconclusive queue-growing (backlog fail)", "fail aborted-hopeless"],
	["drift", "inconclusive p50-rose (steady warn)", "fail aborted-hopeless"],
])("%s: on a percentile, on the largest value, and stopped", (name, answer, stopped = answer) => {
	const change = EXCUSES[name] ?? (() => {});
	expect(kinds.map((kind) => line(kind, change))).toEqual([answer, answer, stopped]);
});

test("an excuse says what it is, what was measured, and what is left without it", () => {
	const { judgements } = judgeRun(changed("stopped", EXCUSES.stops));
	expect(judgements[0]?.why).toMatch(
		/^the load generator was stopped once, for 490ms, so this says nothing about the system: stopped after [\d.]+s: could not pass any more \(490 of 10 000 planned messages took longer than 10ms; at most 100 may\); without its lag and the messages due around that, none of 9 010 did, and the run would have gone on$/,
	);
});
