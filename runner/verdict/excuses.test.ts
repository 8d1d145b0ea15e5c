import { describe, expect, test } from "vitest";
import { collect } from "../evidence/collect.ts";
import { firstRun, fixture } from "../evidence/fixture.fake.ts";
import { parseSla } from "../scenario/sla.ts";
import { type Facts, factsOf, UNKNOWN } from "./facts.ts";
import { without } from "./intervals.ts";
import { type Any, floorOf, judged, tenth } from "./judged.fake.ts";
import { judgeRun } from "./run.ts";

const MS = 1e6;
const kinds = ["percentile", "max", "stopped"] as const;
type Kind = (typeof kinds)[number];

/** 490 of 10 000 messages took longer than 10 ms, all of them due in 500 ms of the fifth second of the window; the generator was not late. */
const stored = collect(firstRun(fixture("stall")));

type Change = (run: Any, facts: Any) => void;

/** A changed run with one line, about 10 ms; of a run that was stopped, the line that stopped it. */
function changed(kind: Kind, change: Change = () => {}): Facts {
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

/** What its line comes to, what decided that, its cause, and the check that reports it. */
function line(kind: Kind, change: Change) {
	const { judgements, checks } = judgeRun(changed(kind, change));
	const [judged] = judgements;
	const code = judged?.code.replace(/^.*-by-/, "") ?? "";
	const about = checks.find((c) => c.check === CHECKS[code]);
	return [judged?.verdict, code, judged?.cause, about && `(${about.check} ${about.status})`]
		.filter((part) => part)
		.join(" ");
}

/** Checks that report an excuse, by the end of its code. */
const CHECKS: Readonly<Record<string, string>> = {
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
	for (const { limits } of late(run)) limits[0].over = limits[0].overWithoutLag = tenth(0);
};

/** The generator was so late in those seconds; what it sent at once waited in the system: taking its own lag off changes little. */
const burst =
	(is: (second: number) => boolean, ms = 500): Change =>
	(run) => {
		withoutLag(run, (over) => Math.max(0, over - 1));
		for (const s of run.seconds) if (is(s.second)) s.metrics.lag.max = ms * MS;
	};

/** What the client library held at the ten samples of the second in which 490 messages took up to 500 ms. */
const held =
	(...samples: readonly number[]): Change =>
	(run) => {
		for (const tick of run.ticks) tick.held = tick.at === 6 ? samples : tenth(0);
	};
const SLOW = [100, 200, 300, 400, 490, 0, 0, 0, 0, 0];

/** Of 4 cores, a sample a second: idle ones, and how long generator and broker waited for each second that they used; null: unknown. */
const machine =
	(wait: number | null = null, idle = 0.1, is: (second: number) => boolean = () => true): Change =>
	(run) => {
		let [idleNs, waitNs] = [0, 0];
		run.resources = Array.from({ length: 14 }, (_, i) => {
			idleNs += (is(i - 2) ? idle : 3) * 1e9;
			waitNs += (is(i - 2) ? (wait ?? 0) : 0.01) * 1e9;
			const used = { cpuNs: i * 1e9, rssBytes: 1, ...(wait === null ? {} : { waitNs }) };
			return {
				unixMs: run.t0Ms - 1000 + i * 1000,
				generator: used,
				broker: used,
				machine: { cpuNs: i * 4e9, idleNs, stealNs: 0, throttled: 0 },
			};
		});
	};
const all =
	(...changes: Change[]): Change =>
	(run, facts) => {
		for (const change of changes) change(run, facts);
	};
const strict: Change = (run) => {
	run.plan.strict = true;
};
const clocks: Change = (run) => {
	Object.assign(run.plan, { pattern: "work-queue", client: { index: 0, count: 2 } });
	const clock = { beforeNs: 0, afterNs: 0, boundNs: 250 * MS, readNs: null, source: "probes" };
	const end = { index: 0, name: "far", kind: "ssh", k6Exit: 0, firstClaimNs: -1, clock };
	run.parts = [0, 1].map((index) => ({ ...run.parts[0], index, end: { ...end, index } }));
	run.hosts = run.parts.map((client: Any) => ({ client, samples: run.resources }));
};
/** A pause of 490 ms by the scenario itself. */
const pause =
	(beganNs = 5000 * MS): Change =>
	(run) => {
		const fault = { action: "pause", node: null, leader: false, calledNs: beganNs, beganNs };
		const endedNs = beganNs + 490 * MS;
		run.run.faults = [{ ...fault, endedNs, delayNs: null, error: null, runOver: false }];
	};
const atFive = (second: number) => second === 4;
const FAIL = "fail late-messages";
const STOPPED = "fail aborted-hopeless";

test.each<[excuse: string, change: Change, answer: string, stopped?: string]>([
	["nothing", () => {}, FAIL, STOPPED],
	["lag", (run) => withoutLag(run, () => 0), "invalid lag (lag invalid)"],
	["burst", burst(atFive), "invalid burst (lag invalid)"],
	["burst from the second before", burst((s) => s === 3), "invalid burst (lag invalid)"],
	["burst in another second", burst((s) => s === 8), FAIL, STOPPED],
	["burst within the limit", burst(() => true, 9.9), FAIL, STOPPED],
	["burst that leaves less than half", burst((s) => s % 2 === 0), FAIL, STOPPED],
	[
		// Of its second nothing is left: those that were only planned are no window without late ones.
		"burst until the stop",
		all(burst(atFive), (run) => {
			run.seconds = late(run);
			for (const second of run.seconds) second.second = 0;
		}),
		FAIL,
		STOPPED,
	],
	[
		"stops",
		(run) => {
			run.stops = [[5000 * MS, 5490 * MS]];
		},
		"invalid stops (lag invalid)",
	],
	["held", held(...SLOW), "invalid held (held invalid)"],
	["held, the last fifth of it", held(0, 0, 0, 0, 100, 0, 0, 0, 0, 0), FAIL, STOPPED],
	["held, as it comes all at once", held(0, 0, 0, 0, 490, 0, 0, 0, 0, 0), FAIL, STOPPED],
	["held, and slowly passed on", held(0, 0, 0, 0, 490, 390, 290, 190, 90, 0), FAIL, STOPPED],
	["held, as the rate explains", held(...tenth(10)), FAIL, STOPPED],
	[
		"held, by consumers that work",
		all(held(...SLOW), (run) => {
			run.plan.work = { meanNs: MS, distribution: "constant" };
		}),
		FAIL,
		STOPPED,
	],
	[
		"held, not counted",
		(run) => {
			for (const tick of run.ticks) tick.held = null;
		},
		FAIL,
		STOPPED,
	],
	[
		"receipts",
		(run) => {
			for (const { limits } of late(run))
				limits[0].count = limits[0].count.map((n: number, i: number) => n + limits[0].over[i]);
			const ledger = (duplicated: number) => ({ sent: 0, failed: 0, strange: 0, duplicated });
			run.ledgers = { warmup: ledger(0), window: ledger(490) };
		},
		"inconclusive duplicate-receipts",
		STOPPED,
	],
	[
		"floor",
		(_, facts) => Object.assign(facts, floorOf(12 * MS)),
		"inconclusive floor-over-limit (floor warn)",
	],
	["floor below the limit", (_, facts) => Object.assign(facts, floorOf(9 * MS)), FAIL, STOPPED],
	["machine", machine(4), "fail machine-saturated machine (cores warn)"],
	["machine, waiting not known", machine(), "fail machine-saturated machine (cores warn)"],
	[
		"machine, then",
		machine(4, 0.1, (s) => s > 3 && s < 7),
		"fail machine-saturated machine (cores warn)",
		STOPPED,
	],
	["machine, at another time", machine(4, 0.1, (s) => s > 7), FAIL, STOPPED],
	["machine, by work of low priority", machine(0.05, 0), FAIL, STOPPED],
	["machine, strict", all(machine(), strict), "invalid machine-saturated machine (cores invalid)"],
	["own fault", pause(), "fail own-faults fault"],
	["own fault, on a saturated machine", all(machine(4), pause(), strict), "fail own-faults fault"],
	["own fault at another time", pause(9000 * MS), FAIL, STOPPED],
	[
		"own fault at another time, on a saturated machine",
		all(machine(4), pause(9000 * MS)),
		"fail machine-saturated machine (cores warn)",
	],
	["clocks", clocks, "inconclusive clocks (clock ok)"],
	["clocks, in time", all(clocks, inTime), "inconclusive clocks (clock ok)"],
	["machine and clocks", all(machine(), clocks), "inconclusive clocks machine (clock ok)"],
	[
		"machine and clocks, strict",
		all(machine(), clocks, strict),
		"invalid machine-saturated machine (cores invalid)",
	],
	[
		"queue",
		all(inTime, (run) => {
			for (const [i, tick] of run.ticks.entries())
				tick.backlog = tick.backlog.map((_: number, k: number) => 100 * i + 10 * k);
		}),
		"inconclusive queue-growing (backlog fail)",
		STOPPED,
	],
	[
		"drift",
		all(inTime, (run, facts) => {
			const response = factsOf(run, UNKNOWN).merged.get("response");
			const seconds = Array.from({ length: 10 }, (_, second) => {
				const ns = (4 + second) * MS;
				return [second, { count: 100, p50: ns, p99: ns, max: ns }] as const;
			});
			facts.merged = new Map([["response", { ...response, seconds: new Map(seconds) }]]);
		}),
		"inconclusive p50-rose (steady warn)",
		STOPPED,
	],
])(
	"%s: on a percentile, on the largest value, and stopped",
	(_, change, answer, stopped = answer) => {
		expect(kinds.map((kind) => line(kind, change))).toEqual([answer, answer, stopped]);
	},
);

describe("an excuse says what it is, what was measured, and what is left without it:", () => {
	const over =
		"at most 100 of 10 000 may take longer than 10ms; 490 did, in one stretch of 500ms, at least twice as many";
	test.each<[string, Kind, Change, string | RegExp]>([
		[
			"stops",
			"stopped",
			(run) => {
				run.stops = [[5000 * MS, 5490 * MS]];
			},
			/^the load generator was stopped once, for 490ms, so this says nothing about the system: stopped after [\d.]+s: could not pass any more \(490 of 10 000 planned messages took longer than 10ms; at most 100 may\); without its lag and the messages due around that, none of 9 010 did, and the run would have gone on$/,
		],
		[
			"lag",
			"percentile",
			(run) => withoutLag(run, () => 0),
			`the load generator was late, so this says nothing about the system: ${over}; without its own lateness, none of 10 000 did, which would be PASS instead of FAIL`,
		],
		[
			"held",
			"percentile",
			held(...SLOW),
			`the receiving side was slow (up to 490 messages waited in the client library, and 10 are due within 10ms), so this says nothing about the system: ${over}; without the 500ms of load that waited there, none of 9 500 did, which would be PASS instead of FAIL`,
		],
		[
			"own fault",
			"percentile",
			all(machine(4), pause()),
			`${over}; but what the scenario itself did to the broker explains it: pause`,
		],
		[
			"machine",
			"percentile",
			machine(4),
			`${over}; but the machine was saturated (this machine): no core was free in 100 % of the window (2.5 % of the CPU time was idle, and the processes of the run waited for 80 % of the time in which they wanted a core)`,
		],
	])("%s", (_, kind, change, why) => {
		expect(judgeRun(changed(kind, change)).judgements[0]?.why).toEqual(
			typeof why === "string" ? why : expect.stringMatching(why),
		);
	});
});

test("a FAIL of service after a burst is INVALID too, though no lag is in it; by lag alone it stands", () => {
	const service = (change: Change) => {
		const facts = changed("percentile", (run) => {
			change(run, {});
			run.plan.limits[0].metric = run.plan.sla[0].metric = "service";
		});
		return judgeRun(facts).judgements[0]?.code;
	};
	expect(service(burst(atFive))).toBe("late-by-burst");
	expect(service((run) => withoutLag(run, () => 0))).toBe("late-messages");
});

test("a FAIL that without lag is undecided is INVALID too, not only one that would pass", () => {
	const facts = changed("percentile", (run) => {
		for (const s of run.seconds) {
			if (s.second < 0) continue;
			s.limits[0].over = tenth(2);
			s.limits[0].overWithoutLag = tenth(1);
		}
	});
	expect(judgeRun(facts).judgements[0]).toMatchObject({ code: "late-by-lag", over: 200 });
});

test("a run of which the client library held everything is INVALID: nothing is left", () => {
	const facts = changed("percentile", (run) => {
		for (const { limits } of run.seconds)
			limits[0].over = limits[0].overWithoutLag = limits[0].count;
		for (const [i, tick] of run.ticks.entries())
			tick.held = Array.from({ length: 10 }, (_, k) => 50 * (10 * i + k + 1));
	});
	expect(judgeRun(facts).judgements[0]).toMatchObject({
		code: "late-by-held",
		why: expect.stringContaining("without the 10s of load that waited there, none of 0 did"),
	});
});

test("no message is taken away that never came", () => {
	const interval = { n: 100, over: 60, overWithoutLag: 60, censored: 20 };
	expect(without([interval, interval], new Map([[1, 1]]))).toEqual([
		interval,
		{ n: 20, over: 20, overWithoutLag: 20, censored: 20 },
	]);
});

describe("a fault of the scenario", () => {
	const rate = (change: Change) =>
		judgeRun(
			changed("percentile", (run) => {
				change(run, {});
				run.plan.sla = [parseSla("throughput >= 1010/s")];
			}),
		);

	test("explains a rate that the rest of the window would have met, and no other", () => {
		expect(rate(pause()).cause).toBe("fault");
		expect(rate(all(machine(4), pause())).cause).toBe("fault");
		expect(rate(pause(2e12)).cause).toBeNull();
	});

	test("that could not be made explains nothing, and one that lasts explains what follows", () => {
		const failed: Change = (run) => {
			run.run.faults[0].error = "no";
		};
		expect(line("percentile", all(pause(), failed))).toBe(FAIL);
		const stays: Change = (run) => {
			run.run.faults[0].endedNs = null;
		};
		expect(line("percentile", all(pause(3000 * MS), stays))).toBe("fail own-faults fault");
	});
});

describe("a saturated machine", () => {
	test("explains a rate that was not reached, and no loss", () => {
		const cause = (text: string, change: Change) => {
			const facts = changed("percentile", (run) => {
				change(run, {});
				run.plan.sla = [parseSla(text)];
			});
			return judgeRun(facts).cause;
		};
		expect(cause("throughput >= 1000000/s", machine(4))).toBe("machine");
		expect(cause("throughput >= 1000000/s", machine(0.01, 3))).toBeNull();
		expect(cause("notOffered == 5", machine(4))).toBeNull();
	});

	test.each([
		["a PASS", inTime, { verdict: "pass", cause: null }],
		[
			"an interrupted run",
			(run: Any) => Object.assign(run, { state: "interrupted" }),
			{ cause: null },
		],
	])("of %s is warned of, and decides nothing", (_, change, expected) => {
		const found = judgeRun(changed("percentile", all(machine(4), change)));
		expect(found).toMatchObject(expected);
		expect(found.judgements[0]?.cause).toBeNull();
		expect(found.checks.find((c) => c.check === "cores")?.status).toBe("warn");
	});

	test("is not known without samples, nor of a run that was stopped before its load began", () => {
		const before = all(machine(4), (run) => Object.assign(run, { t0Ms: null }));
		for (const change of [(run: Any) => Object.assign(run, { resources: [] }), before])
			expect(
				judgeRun(changed("percentile", change)).checks.find((c) => c.check === "cores")?.status,
			).toBe("unknown");
	});
});

test.each(["p99.9 < 20ms", "max < 20ms"])(
	"a floor above the limit leaves %s a FAIL where the messages that never completed are too many for it",
	(text) => {
		const { judgements } = judged("lost", {
			surroundings: floorOf(50 * MS),
			plan: (plan) => {
				plan.sla = [parseSla(text)];
			},
		});
		expect(judgements[0]?.verdict).toBe("fail");
		expect(judgements[0]?.why).toContain("never completed");
	},
);
