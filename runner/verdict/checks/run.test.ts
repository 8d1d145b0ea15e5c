import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
	built,
	type Fate,
	type More,
	planOf,
	steady as steadyLoad,
} from "../../evidence/built.fake.ts";
import { collect } from "../../evidence/collect.ts";
import { editLines, firstRun } from "../../evidence/fixture.fake.ts";
import type { Plan } from "../../model/plan.ts";
import type { ClientEnd, FaultDone } from "../../model/run-file.ts";
import { limits } from "../../plan/expand.ts";
import { parseSla } from "../../scenario/sla.ts";
import { factsOf, hasMetric, UNKNOWN } from "../facts.ts";
import { faultName } from "../faults.ts";
import { type Any, clientEnd, killed as fault } from "../judged.fake.ts";
import { judgeRun } from "../run.ts";
import { startSkewNs } from "./run.ts";

const MS = 1e6;
const S = 1e9;

const clock = (boundNs: number, afterNs: number | null = 0): ClientEnd["clock"] => ({
	beforeNs: 0,
	afterNs,
	boundNs,
	readNs: null,
	source: "probes",
	probedNs: null,
});
const client = (index: number, more: Partial<ClientEnd> = {}): ClientEnd =>
	clientEnd(index, {
		name: `bench@10.0.0.${index}`,
		kind: "ssh",
		machine: "linux amd64, 6.1.0, 8 cores",
		clock: clock(200_000),
		...more,
	});
const two = [client(0), client(1)];
const ONE = "client 1 (bench@10.0.0.1)";

/** 400/s for 5 s after 1 s warm-up on two clients, 5 ms each but for what `fate` says. */
function run({
	pattern = "round-trip",
	sla = ["p99 < 20ms", "lost == 0"],
	fate = () => ({}),
	clients = two,
	plan = {},
	...more
}: {
	pattern?: "round-trip" | "work-queue" | "fan-out";
	sla?: string[];
	fate?: (i: number, dueNs: number) => Fate;
	clients?: ClientEnd[];
	plan?: Partial<Plan>;
} & More = {}) {
	const lines = sla.map((text) => parseSla(text) as never);
	const whole = planOf({
		pattern,
		producers: 2,
		connections: 2,
		...(pattern === "work-queue" ? { consumers: 2, consumerConnections: 2, acks: true } : {}),
		client: { index: 0, count: 2 },
		schedule: steadyLoad(400, 1, 5),
		sla: lines,
		limits: limits(lines),
		...plan,
	} as never);
	const fates = Array.from({ length: whole.schedule.messages }, (_, i): Fate => {
		const due = i * 2.5 * MS;
		const { sentNs = due, ...rest } = fate(i, due);
		const at = (sentNs ?? due) + 5 * MS;
		return { sentNs, ackedNs: whole.acks ? at : null, receivedNs: [at], ...rest };
	});
	return firstRun(built(whole, fates, { ...more, run: { clients, ...more.run } }));
}
const crossing = (more: Parameters<typeof run>[0]) => run({ pattern: "work-queue", ...more });
const edited = (folder: string, name: string, from: string | RegExp, to: string) => {
	const path = join(folder, name);
	writeFileSync(path, readFileSync(path, "utf8").replace(from, to));
	return folder;
};

const judged = (folder: string) =>
	judgeRun(factsOf(collect(folder), { ...UNKNOWN, clockSource: "tsc" }));
const check = (folder: string, name: string) => judged(folder).checks.find((c) => c.check === name);
const first = (folder: string) => judged(folder).judgements[0];

test("two clients that did their part pass", () => {
	const folder = run();
	expect(judged(folder)).toMatchObject({ verdict: "pass", why: null });
	expect(check(folder, "clients")).toMatchObject({ detail: "all 2 clients finished" });
	// Where the system does not report it.
	expect(check(folder, "suspended")).toBeUndefined();
});

const unfinished = "1 of 2 clients did not finish: ";
test.each<[string, () => string, string | null, why?: string]>([
	["missing", () => run({ missing: [1] }), "invalid", `${unfinished}${ONE} has left no files`],
	[
		"missing, and why",
		() =>
			run({ missing: [1], clients: [client(0), client(1, { error: "the connection was lost" })] }),
		"invalid",
		`${unfinished}${ONE}: the connection was lost`,
	],
	[
		"that broke off with all files there",
		() => run({ clients: [client(0, { error: "k6 was killed" }), client(1)] }),
		"invalid",
		`${unfinished}client 0 (bench@10.0.0.0): k6 was killed`,
	],
	[
		"whose file was changed",
		() => edited(run(), "client-0.jsonl", '"count":200', '"count":201'),
		"invalid",
		`${unfinished}client 0 (bench@10.0.0.0): client-0.jsonl was changed: it does not match the sum in its trailer`,
	],
	[
		"that was stopped alone",
		() =>
			edited(run(), "client-1.jsonl", /("type":"trailer","state":)"complete"/, '$1"interrupted"'),
		"invalid",
		`${unfinished}${ONE} was stopped before the run was over`,
	],
	["without which there is none", () => run({ missing: [0, 1] }), "error"],
	[
		"missing as the broker died",
		() => run({ missing: [1], run: { error: "the broker died" } }),
		"error",
		"the broker died",
	],
	[
		"whose machine was suspended",
		() => run({ suspendedNs: [0, 90 * S] }),
		"invalid",
		"bench@10.0.0.1 was suspended for 1min 30s during the run, as when a laptop's lid is closed; in that time nothing was sent or timed",
	],
	["whose clocks are read a moment apart", () => run({ suspendedNs: [-3000, 20 * MS] }), "pass"],
	[
		"whose clock was not read again, where messages cross",
		() => crossing({ clients: [client(0), client(1, { clock: clock(1000, null) })] }),
		"invalid",
		`the clock of ${ONE} was not compared again after the run, so how far it moved is not known, and messages cross from client to client`,
	],
	[
		"whose clock was not read again, where none does",
		() => run({ clients: [client(0), client(1, { clock: clock(1000, null) })] }),
		"pass",
	],
	[
		"whose counters are not what its ledger has",
		() => {
			const folder = crossing({});
			editLines(join(folder, "client-0.jsonl"), (lines) => {
				const window = lines.find((l) => l.type === "counters" && l.scope === "window");
				Object.assign(window, { sent: window.sent - 1, acked: window.acked - 1, notOffered: 1 });
				return undefined;
			});
			return folder;
		},
		"error",
		"window sent in counters and ledgers: 1999 and 2000",
	],
])("a client %s", (_, folder, verdict, why = "") => {
	const found = judged(folder());
	expect(found.verdict).toBe(verdict);
	expect(found.why ?? "").toContain(why);
	if (why.startsWith(unfinished))
		for (const j of found.judgements)
			expect(j).toMatchObject({ verdict: "invalid", n: null, over: null });
});

test("a single client is not asked for its part", () => {
	const folder = run({ clients: [], plan: { client: { index: 0, count: 1 } } });
	for (const name of ["clients", "clock"]) expect(check(folder, name)).toBeUndefined();
});

test("the skew of the clients' starts is not known while one is missing", () => {
	const folder = run({ firstClaimNs: [-40 * MS, -90 * MS] });
	expect(startSkewNs(collect(folder))).toBe(50 * MS);
	const silent = client(1, { firstClaimNs: null });
	expect(startSkewNs(collect(run({ missing: [1], clients: [client(0), silent] })))).toBeNull();
});

/** What was sampled in a second of the run, of 8 cores: what each of these used, and how often the quota held it back. */
interface Used {
	readonly broker?: number;
	readonly idle?: number;
	readonly stolen?: number;
	readonly held?: number;
}
const write = (folder: string, name: string, used: Used | null) => {
	const { broker = 1, idle = 7, stolen = 0, held = 0 } = used ?? {};
	const line = (s: number) => ({
		unixMs: 1_767_225_600_000 + 1000 * s,
		generator: null,
		network: null,
		broker: { cpuNs: s * broker * S, rssBytes: 1, readBytes: 0, writeBytes: 0 },
		machine: {
			cpuNs: s * 8 * S,
			idleNs: s * idle * S,
			stealNs: s * stolen * S,
			throttled: s * held,
		},
	});
	const lines = used ? [0, 1, 6, 11, 12].map((s) => `${JSON.stringify(line(s))}\n`) : [];
	writeFileSync(join(folder, `resources${name}.jsonl`), lines.join(""));
	return folder;
};
const onHosts = (of: Used | null, sameHost = false) => {
	const folder = run({ run: { sameHost }, plan: { target: "aws" } });
	for (const client of ["-0", "-1"]) write(folder, client, {});
	write(folder, "-broker-1", {});
	return write(folder, "-broker-2", of);
};
const ticks = (folder: string, clients: number[], change: object) => {
	for (const i of clients)
		editLines(join(folder, `client-${i}.jsonl`), (lines) => {
			for (const l of lines) if (l.type === "tick") Object.assign(l, change);
			return undefined;
		});
	return folder;
};
const here = two.map((c) => ({ ...c, kind: "local" as const, clock: null }));
const NODE = "the host of the broker's node 2: ";
// One in 60 messages of client 1 is late: less than 1 % of all, more than 1 % of its own.
const lateBy =
	(ms: number) =>
	(i: number, due: number): Fate =>
		i % 120 === 1 ? { sentNs: due + ms * MS } : {};

describe("each client and each machine is looked at by itself:", () => {
	test.each<[name: string, what: string, folder: () => string, status: string, detail: string]>([
		[
			"lag",
			"of one of them",
			() => run({ fate: lateBy(4) }),
			"warn",
			`${ONE}: lag p50 0s, p99 4ms: more than 10 % of the tightest limit`,
		],
		[
			"lag",
			"without a latency SLA",
			() => run({ sla: ["lost == 0"], fate: lateBy(40) }),
			"invalid",
			`${ONE}: lag p50`,
		],
		[
			"ownCpu",
			"of machines of their own",
			() => ticks(run(), [0, 1], { cpuNs: 0.9 * S }),
			"ok",
			"0.9 of 2 cores",
		],
		[
			"ownCpu",
			"of one machine",
			() => ticks(run({ clients: here }), [0, 1], { cpuNs: 0.9 * S }),
			"warn",
			"the generator itself used 1.8 of 2 cores, 2 clients on this machine",
		],
		[
			"cpuQuota",
			"not of this machine",
			() => write(write(run(), "-0", {}), "", { held: 9 }),
			"unknown",
			`${ONE}: whether a CPU quota slowed mqbench down cannot be read`,
		],
		[
			"cpuQuota",
			"of a client's machine",
			() => write(write(run(), "-0", {}), "-1", { held: 2 }),
			"warn",
			`${ONE}: a CPU quota held mqbench back in 10 periods of the window`,
		],
		[
			"steal",
			"of a client's machine",
			() => write(write(run(), "-0", {}), "-1", { stolen: 1 }),
			"warn",
			`${ONE}: the hypervisor took 13 % of the CPU time`,
		],
		[
			"others",
			"of quiet hosts of the broker",
			() => onHosts({}),
			"ok",
			"other processes used 0 % of the CPU time on the broker's host, those of the run 13 %",
		],
		[
			"cpuQuota",
			"of a broker's host",
			() => onHosts({ held: 2 }),
			"warn",
			`${NODE}a CPU quota held the broker back in 10 periods of the window`,
		],
		[
			"steal",
			"of a broker's host",
			() => onHosts({ stolen: 1, idle: 6 }),
			"warn",
			`${NODE}the hypervisor took 13 % of the CPU time`,
		],
		[
			"cores",
			"of a broker's host",
			() => onHosts({ idle: 0.25 }),
			"warn",
			`${NODE}no core was free in 100 % of the window (3.1 % of the CPU time was idle)`,
		],
		[
			"others",
			"of a broker's host",
			() => onHosts({ idle: 3 }),
			"warn",
			`${NODE}other processes used 50 % of the CPU time on the broker's host, those of the run 13 %`,
		],
		...["cpuQuota", "steal", "others", "cores"].map(
			(name): [string, string, () => string, string, string] => [
				name,
				"of a broker's host without samples",
				() => onHosts(null),
				"unknown",
				NODE,
			],
		),
		[
			"clock",
			"where no message crosses",
			() =>
				run({
					clients: [client(0, { clock: clock(150_000) }), client(1, { clock: clock(400_000) })],
				}),
			"ok",
			"clients share their start to \u00b1400us",
		],
		[
			"clock",
			"where messages cross: both together",
			() =>
				crossing({
					clients: [client(0, { clock: clock(150_000) }), client(1, { clock: clock(400_000) })],
				}),
			"ok",
			"times across clients are exact to \u00b1550us",
		],
	])("%s %s", (name, _, folder, status, detail) => {
		const found = check(folder(), name);
		expect(found?.status).toBe(status);
		expect(found?.detail).toContain(detail);
	});

	test("hosts that generators run on as well say nothing of other processes, nor do clocks that are one", () => {
		expect(check(onHosts({ idle: 3 }, true), "others")).toBeUndefined();
		// Where the broker has none the same.
		expect(check(run({ plan: { target: "aws" } }), "others")).toBeUndefined();
		expect(check(crossing({ clients: here }), "clock")).toBeUndefined();
	});
});

describe("clocks of several machines", () => {
	const bounds = (ms: number) => [0, 1].map((i) => client(i, { clock: clock((ms * MS) / 2) }));

	test.each([
		[550_000, 1600, "pass"],
		[550_001, 1600, "invalid"],
		// In the warm-up too.
		[MS, 40, "invalid"],
	])("of 550us, and a message %d ns before it was sent: %s", (ns, at, verdict) => {
		const found = judged(
			crossing({
				clients: bounds(0.55),
				fate: (i, due) => (i === at ? { receivedNs: [due - ns] } : {}),
			}),
		);
		expect(found.verdict).toBe(verdict);
		if (verdict === "invalid")
			expect(found.why).toMatch(
				/^1 message arrived up to \S+ before being sent: the clocks are further apart than \u00b1550us$/,
			);
	});

	test.each([
		// What was measured, bound of both clocks together: 5 ms and more, limit 20 ms.
		["p99", 5, 1, "pass"],
		["p99", 19.5, 0.2, "pass"],
		["p99", 19.5, 0.8, "inconclusive"],
		["p99", 20.5, 0.2, "fail"],
		["p99", 20.5, 0.8, "inconclusive"],
		["p99", 40, 1, "fail"],
		["max", 18, 1, "pass"],
		["max", 19.5, 1, "inconclusive"],
		["max", 20.5, 1, "inconclusive"],
		["max", 22, 1, "fail"],
		["max", null, 1, "fail"],
	])("%s of %f ms with clocks to %f ms: %s", (what, ms, boundMs, verdict) => {
		const late = (due: number): Fate => ({ receivedNs: [ms === null ? null : due + ms * MS] });
		const gate = first(
			crossing({
				sla: [`${what} < 20ms`],
				clients: bounds(boundMs),
				fate: (i, due) => (what === "p99" || i === 1500 ? late(due) : {}),
			}),
		);
		expect(gate?.verdict).toBe(verdict);
		if (verdict === "inconclusive") expect(gate?.why).toMatch(/; but within the clocks' bound of /);
	});

	test("do not excuse a stall that spends the budget many times over", () => {
		const fate = (_: number, due: number): Fate =>
			due >= 5 * S && due < 5.5 * S ? { receivedNs: [5.5 * S + MS] } : {};
		expect(first(crossing({ clients: bounds(1), fate }))?.verdict).toBe("fail");
	});

	test("do not matter to an acknowledgement, which is timed by one of them", () => {
		const fate = (_: number, due: number): Fate => ({ ackedNs: due + 19.5 * MS });
		const sla = ["ack p99 < 20ms"];
		expect(first(crossing({ sla, clients: bounds(20), fate }))?.verdict).toBe("pass");
	});
});

describe("messages that cross", () => {
	test("wait for all after a pause of one client: a burst", () => {
		// Client 1 stands still for 300 ms at 4 s and sends all of it at once, which takes the system 100 ms.
		const folder = run({
			fate: (i, due) =>
				i % 2 === 1 && due >= 5 * S && due < 5.3 * S
					? { sentNs: 5.3 * S, receivedNs: [5.4 * S] }
					: due >= 5.3 * S && due < 5.4 * S
						? { receivedNs: [5.4 * S + 30 * MS] }
						: {},
		});
		expect(first(folder)).toMatchObject({ verdict: "invalid", code: "late-by-burst" });
	});

	test("and are lost between clients are counted by the gate", () => {
		const folder = crossing({ fate: (i) => (i === 1500 ? { receivedNs: [null] } : {}) });
		expect(judged(folder).judgements[1]).toMatchObject({ verdict: "fail", measured: "1" });
	});

	test("grow a queue that no client sees alone", () => {
		// Acknowledged at once; consumers fall behind by 40 ms a second.
		const slow = (_: number, due: number): Fate => ({
			ackedNs: due + MS,
			receivedNs: [due + 5 * MS + Math.round(due * 0.04)],
		});
		expect(check(crossing({ fate: slow }), "backlog")).toMatchObject({
			status: "fail",
			detail: expect.stringContaining("the queue grew"),
		});
	});

	test("of a fan-out have no last copy, as no client knows it", () => {
		const folder = run({
			pattern: "fan-out",
			sla: ["p99 < 20ms"],
			plan: { subscriptions: 3, consumers: 0, consumerConnections: 2 },
			fate: (_, due) => ({ receivedNs: [due + MS, due + 2 * MS, due + 3 * MS] }),
		});
		const facts = factsOf(collect(folder), UNKNOWN);
		expect(hasMetric(facts, "last")).toBe(false);
		expect(judgeRun(facts)).toMatchObject({ verdict: "pass" });
		expect(facts.collected.counters.window).toMatchObject({ received: 6000, lost: 0 });
	});
});

// --- faults, and a warm-up until steady: one client ---

const OF_BROKERS = { of: "brokers", count: null, delayNs: null } as const;
const planned: Plan["faults"] = [
	{ ...OF_BROKERS, atNs: 6 * S, action: "kill", forNs: 2 * S, node: "leader" },
	{ ...OF_BROKERS, atNs: 9 * S, action: "pause", forNs: S, node: null },
];
const killed = fault({ node: 2, beganNs: 6 * S, endedNs: 8 * S });
const paused: FaultDone = {
	...killed,
	action: "pause",
	node: null,
	leader: false,
	beganNs: 9 * S,
	endedNs: 10 * S,
};

/** 200/s for 11 s after 1 s warm-up, a millisecond each but for what `fate` says. */
function alone(
	done: readonly FaultDone[] | undefined,
	{
		fate = () => ({}),
		faults = planned,
		...more
	}: { fate?: (dueNs: number) => Fate; faults?: Plan["faults"] } & More = {},
) {
	const lines = [parseSla("p50 < 1s"), parseSla("lost == 0")] as never[];
	const schedule = steadyLoad(200, 1, 11);
	const plan = planOf({ faults, schedule, sla: lines, limits: limits(lines) });
	const fates = Array.from({ length: plan.schedule.messages }, (_, i): Fate => {
		const due = i * 5 * MS;
		return { receivedNs: [due + MS], ...fate(due) };
	});
	const run = { ...(done && { faults: [...done] }), ...more.run };
	return firstRun(built(plan, fates, { ...more, run }));
}
const never = "was not carried out as planned: ";
const tooLate = {
	...killed,
	node: null,
	endedNs: null,
	error: "the run was over before it was done",
	runOver: true,
};

describe("faults", () => {
	test.each<[FaultDone[] | undefined, abortedBy: string | null, status: string, detail: string]>([
		[[killed, paused], null, "ok", "kill of node 2 (the leader), pause: carried out"],
		[
			[killed, { ...paused, endedNs: null, error: "the broker had ended" }],
			null,
			"invalid",
			`pause ${never}the broker had ended`,
		],
		[[killed], null, "invalid", "1 of 2 faults did not happen"],
		[[], null, "invalid", "2 of 2 faults did not happen"],
		[undefined, null, "invalid", "2 of 2 faults did not happen"],
		[
			[tooLate, paused],
			null,
			"invalid",
			`kill of the leader ${never}the run was over before it was done`,
		],
		// A stop of a run keeps faults from happening.
		[[tooLate, paused], "lost == 0", "ok", "pause: carried out"],
		[[killed], "lost == 0", "ok", "kill of node 2 (the leader): carried out"],
		[[], "lost == 0", "ok", "the run was stopped before the first fault"],
	])("%#: %s %s", (done, abortedBy, status, detail) => {
		const folder = alone(done, { run: { abortedBy } });
		expect(check(folder, "faults")).toMatchObject({ status, detail, limit: "2" });
		if (abortedBy === null)
			expect(judged(folder)).toMatchObject(
				status === "ok" ? { verdict: "pass" } : { verdict: "invalid", why: detail },
			);
	});

	test("of a run without run.json are not known, and those that nobody asked for are not looked for", () => {
		const folder = alone([]);
		rmSync(join(folder, "run.json"));
		expect(check(folder, "faults")?.status).toBe("unknown");
		expect(check(alone(undefined, { faults: [] }), "faults")).toBeUndefined();
	});

	test("make connections anew: that is no reason to look twice", () => {
		expect(check(alone([killed, paused], { reconnects: 3 }), "reconnects")).toMatchObject({
			status: "ok",
			detail: "clients reconnected 3 times, in a run with faults",
		});
		const quiet = alone(undefined, { reconnects: 3, faults: [] });
		expect(check(quiet, "reconnects")?.status).toBe("warn");
	});

	test.each<[Any, string]>([
		[killed, "kill of node 2 (the leader)"],
		[paused, "pause"],
		[{ ...killed, leader: false }, "kill of node 2"],
		[{ ...killed, node: null }, "kill of the leader"],
		[
			{ ...killed, action: "latency", delayNs: 50 * MS, leader: false },
			"latency of 50ms of node 2",
		],
	])("have a name (%#)", (fault, name) => {
		expect(faultName(fault)).toBe(name);
	});
});

describe("a queue that grew", () => {
	// From 8 s on messages wait until 12.5 s, after the window: the last third is full of them.
	const kept = (due: number): Fate => (due >= 8 * S ? { receivedNs: [12.5 * S] } : {});
	// It grows all the time, by a message every 20 ms, and more in the fault.
	const slow = (due: number): Fate => ({
		receivedNs: [
			due + MS + Math.round(Math.max(0, due - S) * 0.3) + (due >= 6 * S && due < 7 * S ? S : 0),
		],
	});
	const at = { ...killed, beganNs: 8 * S, endedNs: 12 * S };

	test.each<[string, FaultDone[] | undefined, (due: number) => Fate, string]>([
		["fails a run to which nothing was done", undefined, kept, "fail"],
		["in a fault alone does not: the rate is carried without it", [at], kept, "ok"],
		// Known to have taken effect four seconds after the command: the fault caused what piled up in between.
		["in one that was told before", [{ ...at, calledNs: 8 * S, beganNs: 11.9 * S }], kept, "ok"],
		["outside of it, too, does", [{ ...killed, endedNs: 6.5 * S }], slow, "fail"],
	])("%s", (_, done, fate, status) => {
		const found = check(alone(done, { fate, ...(done ? {} : { faults: [] }) }), "backlog");
		expect(found?.status).toBe(status);
		if (status === "ok")
			expect(found?.detail).toMatch(
				/^outside of faults and stops of the load generator the queue did not grow/,
			);
	});
});

test.each([
	[4e9, false, "ok", "p50 was level after 4s of warm-up"],
	[
		undefined,
		false,
		"warn",
		"p50 was not level after 6s of warm-up, the longest that warmup: steady waits",
	],
	[
		undefined,
		true,
		"invalid",
		"p50 was not level after 6s of warm-up, the longest that warmup: steady waits",
	],
])("a window that opened at %s, strict %s: %s", (windowStartNs, strict, status, detail) => {
	const steady = { fromNs: 2e9, toNs: 6e9 };
	const plan = planOf({ strict, schedule: { ...steadyLoad(100, 6, 3), steady } });
	const sent = windowStartNs === undefined ? 900 : 700;
	const fates = Array.from(
		{ length: sent },
		(_, i): Fate => ({ sentNs: i * 1e7, receivedNs: [i * 1e7 + 1e6] }),
	);
	const folder = firstRun(built(plan, fates, windowStartNs ? { windowStartNs } : {}));
	expect(check(folder, "warm-up")).toMatchObject({ status, detail });
	expect(check(folder, "identities")?.status).toBe("ok");
});
