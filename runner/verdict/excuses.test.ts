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

/** The line about 10 ms in a run that was changed, and what decided over it; of a run that was stopped, the line that stopped it. */
function line(kind: Kind, change: (run: Any, facts: Any) => void) {
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
	const judged = judgeRun({ ...factsOf(run, facts), ...facts } as Facts).judgements[0];
	return [judged?.verdict, judged?.code.replace(/^.*-by-/, ""), judged?.cause];
}

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

test.each<[excuse: string, percentile: string, max: string, stopped: string]>([
	["nothing", ...both("fail late-messages"), "fail aborted-hopeless"],
	["lag", "invalid lag", "invalid lag", "invalid lag"],
	["burst", ...both("invalid burst"), "invalid burst"],
	["stops", "invalid stops", "invalid stops", "invalid stops"],
	["held", "invalid held", "invalid held", "invalid held"],
	[
		"receipts",
		"inconclusive duplicate-receipts",
		"inconclusive duplicate-receipts",
		"fail aborted-hopeless",
	],
	["floor", ...both("inconclusive floor-over-limit"), "inconclusive floor-over-limit"],
	["machine", ...both("fail machine-saturated machine"), "fail machine-saturated machine"],
	[
		"machine, strict",
		...both("invalid machine-saturated machine"),
		"invalid machine-saturated machine",
	],
	["clocks", ...both("inconclusive clocks"), "inconclusive clocks"],
	["clocks, in time", ...both("inconclusive clocks"), "inconclusive clocks"],
	["queue", ...both("inconclusive queue-growing"), "fail aborted-hopeless"],
	["drift", ...both("inconclusive p50-rose"), "fail aborted-hopeless"],
])("%s: on a percentile, on the largest value, and stopped", (name, ...expected) => {
	const change = EXCUSES[name] ?? (() => {});
	expect(kinds.map((kind) => line(kind, change).join(" ").trim())).toEqual(expected);
});

function both(one: string): [string, string] {
	return [one, one];
}
