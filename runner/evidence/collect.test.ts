import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readLogs } from "../histogram/hlog.ts";
import { mergeLines } from "../histogram/merge.ts";
import type { ClientEnd } from "../model/run-file.ts";
import { built, type Fate, type More, planOf, steady } from "./built.fake.ts";
import { collect } from "./collect.ts";
import {
	editJson,
	editLines,
	firstRun,
	fixture,
	fixtureCopy,
	runFoldersOf,
} from "./fixture.fake.ts";
import { setOf, writeLedger } from "./ledger.fake.ts";

const copyOf = (name: string) => firstRun(fixtureCopy(name));
const file = (run: string, name: string) => join(run, name);
const ofTwo = (type: string, of: (client: number) => object) => {
	const folder = runFoldersOf(fixtureCopy("repeats"))[1] as string;
	for (const i of [0, 1])
		editLines(file(folder, `client-${i}.jsonl`), (lines) =>
			lines.map((l) => (l.type === type ? { ...l, ...of(i) } : l)),
		);
	return collect(folder);
};

describe("a run folder", () => {
	test("of a run that ended is complete", () => {
		const run = collect(firstRun(fixture("healthy")));
		expect(run).toMatchObject({ state: "complete", problem: null });
		expect(run.seconds.map((s) => s.second)).toEqual([-1, 0, 1, 2, 3, 4]);
		expect(run.counters.window?.received).toBe(5000);
		expect(run.counters.warmup?.received).toBe(1000);
		expect(run.counters.window?.acked).toBeNull();
		expect(run.logs).toHaveLength(1);
	});

	test("of two clients is their sum; what no client has stays null", () => {
		const folder = runFoldersOf(fixture("repeats"))[1] as string;
		const run = collect(folder);
		expect(run.clients.map((c) => c.index)).toEqual([0, 1]);
		expect(run.logs).toHaveLength(2);
		expect(run.counters.window).toMatchObject({ intended: 2000, acked: 2000, reordered: null });
		const read = (i: number) =>
			readFileSync(join(folder, `client-${i}.jsonl`), "utf8")
				.split("\n")
				.find((l) => l.includes('"second":2'));
		const [a, b] = [0, 1].map((i) => JSON.parse(read(i) ?? "").metrics.response);
		expect(run.seconds.find((s) => s.second === 2)?.metrics.response).toEqual({
			count: a.count + b.count,
			sum: a.sum + b.sum,
			min: Math.min(a.min, b.min),
			max: Math.max(a.max, b.max),
			clamped: 0,
			negative: 0,
		});
		expect(run.seconds[2]?.limits[0]?.count).toEqual(Array(10).fill(50));
		expect(run.totals?.sentInWindow).toBe(2000);
		// The latest claim, not a sum.
		expect(run.totals?.firstClaimNs).toBe(-100_000_000);
		expect(run.ticks[1]).toMatchObject({ at: 2, sent: 500 });
	});

	test("of two clients spans from the first that sent to the last that was answered", () => {
		const times = [
			{ firstSendNs: 5, lastAckNs: 90, firstReceiveNs: null, reconnects: 1 },
			{ firstSendNs: 3, lastAckNs: 80, firstReceiveNs: 7, reconnects: 2 },
		];
		expect(ofTwo("totals", (i) => times[i] ?? {}).totals).toMatchObject({
			firstSendNs: 3,
			lastAckNs: 90,
			firstReceiveNs: 7,
			lastReceiveNs: null,
			reconnects: 3,
		});
	});

	test("puts a last tick that comes soon after the one before to its second", () => {
		const run = copyOf("healthy");
		editLines(file(run, "client-0.jsonl"), (lines) => [
			...lines,
			{ ...lines.find((l) => l.at === 6), at: 6.002, sent: 5, inFlight: 1 },
		]);
		const last = collect(run).ticks.filter((t) => t.at === 6);
		expect(last).toHaveLength(1);
		expect(last[0]).toMatchObject({ sent: 1005, inFlight: 1 });
	});

	test("adds several lines of one second: stragglers are written later", () => {
		const run = copyOf("healthy");
		editLines(file(run, "client-0.jsonl"), (lines) => {
			const second = lines.find((l) => l.second === 1);
			return [...lines, { ...second, metrics: {}, limits: second.limits }];
		});
		const seconds = collect(run).seconds.filter((s) => s.second === 1);
		expect(seconds).toHaveLength(1);
		expect(seconds[0]?.limits[0]?.count).toEqual(Array(10).fill(200));
		expect(seconds[0]?.metrics.response?.count).toBe(1000);
	});

	test("adds the samples of the queue of all clients, and leaves out those that one of them has not taken", () => {
		const samples = [
			[1, 2, 3],
			[10, 20],
		];
		expect(ofTwo("tick", (i) => ({ backlog: samples[i] })).ticks[1]?.backlog).toEqual([11, 22]);
	});

	test.each([
		["adds what waits in the client libraries", [1, 2], [10, 20], [11, 22]],
		["does not know it where one client does not", [1, 2], null, null],
		["has nothing of it where one client did not look", [1, 2], undefined],
	])("%s", (_, first, second, sum = undefined) => {
		const held = [first, second];
		expect(ofTwo("tick", (i) => ({ held: held[i] })).ticks[1]?.held).toEqual(sum);
	});

	test("takes the earliest offender and the slowest messages of all clients, whose clocks may be behind", () => {
		const message = (i: number, ns: number) => ({
			producer: i,
			sequence: 1,
			intendedNs: 100,
			topic: 0,
			partition: null,
			responseNs: ns,
			queuedNs: 0,
			lagNs: 0,
			serviceNs: ns,
		});
		const { offenders } = ofTwo("offenders", (i) => ({
			first: { lost: { producer: i, sequence: 1, intendedNs: 100 - i } },
		}));
		expect(offenders).toEqual({ lost: { producer: 1, sequence: 1, intendedNs: 99 } });
		// Some arrive before they are sent, because a receiver's T0 is late.
		const run = ofTwo("slowest", (i) => ({
			messages: Array.from({ length: 15 }, (_, k) => message(i, 10 - 2 * k - i)),
		}));
		expect(run).toMatchObject({ state: "complete", problem: null });
		expect(run.slowest.map((m) => m.responseNs)).toEqual(
			Array.from({ length: 20 }, (_, k) => 10 - k),
		);
	});

	test("knows what all clients gave up as unknown only when all have told", () => {
		const told = (first?: number) =>
			ofTwo("totals", (i) => ({ unanswered: i === 0 ? first : 3 })).totals;
		expect(told()).not.toHaveProperty("unanswered");
		expect(told(4)?.unanswered).toBe(7);
	});

	test("has the resources up to a line that breaks off; without the file none", () => {
		const run = copyOf("healthy");
		const path = file(run, "resources.jsonl");
		const lines = readFileSync(path, "utf8").trimEnd().split("\n");
		expect(collect(run).resources).toHaveLength(lines.length);
		writeFileSync(path, `${lines.slice(0, 3).join("\n")}\n{"unixMs":17`);
		expect(collect(run).resources).toHaveLength(3);
		rmSync(path);
		expect(collect(run).resources).toEqual([]);
	});

	test("puts the errors of all clients together, the commonest first", () => {
		const errors = (i: number) => [
			{ message: "a", count: 3, firstNs: 50 - i },
			{ message: `only ${i}`, count: 4 + i, firstNs: null },
		];
		expect(ofTwo("totals", (i) => ({ errors: errors(i) })).totals?.errors).toEqual([
			{ message: "a", count: 6, firstNs: 49 },
			{ message: "only 1", count: 5, firstNs: null },
			{ message: "only 0", count: 4, firstNs: null },
		]);
	});
});

describe("a run that did not end as it should", () => {
	const FILES = ["client-0.hlog", "client-0.jsonl"];
	const remove = (run: string) => {
		for (const name of FILES) rmSync(file(run, name));
	};
	const breakOff = (run: string) => {
		for (const name of FILES) {
			const text = readFileSync(file(run, name), "utf8");
			writeFileSync(file(run, `${name}.part`), text.slice(0, text.length / 2));
		}
		remove(run);
	};
	const say = (of: object) => (run: string) =>
		editJson(file(run, "run.json"), (f) => Object.assign(f, of));

	test.each<[string, string, ((run: string) => void)[], string, string]>([
		["was never made", "healthy", [remove], "never", "the run was not made"],
		[
			"could not be made",
			"healthy",
			[remove, say({ error: "the broker did not start within 30s" })],
			"never",
			"the broker did not start within 30s",
		],
		[
			"was stopped by the user",
			"healthy",
			[breakOff, say({ interruptedBy: "SIGTERM" })],
			"interrupted",
			"stopped by SIGTERM",
		],
		[
			"was stopped by mqbench",
			"interrupted",
			[say({ interruptedBy: null, abortedBy: "p99 < 20ms" })],
			"aborted",
			"stopped: p99 < 20ms could not pass any more",
		],
		[
			"crashed after that",
			"interrupted",
			[
				say({ interruptedBy: null, abortedBy: "p99 < 20ms" }),
				(run) => rmSync(file(run, "client-0.hlog")),
			],
			"crashed",
			"client 0 ended before its result was complete; its figures until then are shown",
		],
		[
			"was stopped, by its trailer",
			"interrupted",
			[(run) => rmSync(file(run, "run.json"))],
			"interrupted",
			"k6 was stopped before the run was over",
		],
	])("%s", (_, name, changes, state, problem) => {
		const run = copyOf(name);
		for (const change of changes) change(run);
		expect(collect(run)).toMatchObject({ state, problem });
	});

	test("crashed: .part files are read up to where they break off", () => {
		const run = copyOf("healthy");
		breakOff(run);
		const found = collect(run);
		expect(found.state).toBe("crashed");
		expect(found.problem).toContain("ended before its result was complete");
		expect(found.seconds.length).toBeGreaterThan(1);
		expect(found.counters.window).toBeNull();
	});
});

describe("a file that was changed is found", () => {
	const withoutLine = (at: number) => (text: string) =>
		`${text.trimEnd().split("\n").toSpliced(at, 1).join("\n")}\n`;

	test.each<[string, string, (text: string) => string, RegExp]>([
		...["client-0.jsonl", "client-0.hlog"].flatMap(
			(name): [string, string, (text: string) => string, RegExp][] => [
				["a byte", name, (text) => text.replace(/1000|1\.000/, "2000"), /was changed/],
				["a line", name, withoutLine(5), /has \d+ lines where its trailer says \d+/],
				["the trailer", name, withoutLine(-1), /has no trailer: its end is missing/],
				["all", name, () => "", /has no trailer/],
			],
		),
		[
			"the run",
			"client-0.hlog",
			() => readFileSync(file(firstRun(fixture("lost")), "client-0.hlog"), "utf8"),
			/client-0.hlog and client-0.jsonl are not of the same run/,
		],
	])("%s of %s", (_, name, change, problem) => {
		const run = copyOf("healthy");
		const path = file(run, name);
		writeFileSync(path, change(readFileSync(path, "utf8")));
		const found = collect(run);
		expect(found.state).toBe("crashed");
		expect(found.problem).toMatch(problem);
		expect(found.problem).toContain(name);
	});

	test("a line that this version does not know is named", () => {
		const run = copyOf("healthy");
		editLines(file(run, "client-0.jsonl"), (lines) => [...lines, { type: "news" }]);
		expect(collect(run).problem).toMatch(/client-0.jsonl cannot be read at line \d+/);
	});
});

test("a plan that cannot be read is an error that names it", () => {
	const run = copyOf("healthy");
	editJson(file(run, "plan.json"), (plan) => {
		plan.rate = 5;
	});
	expect(() => collect(run)).toThrow(/plan\.json: cannot be read/);
});

describe("messages that cross from client to client", () => {
	/** 30 messages of 3 producers on 3 clients, 10 of them warm-up, shared by consumers on 2 clients. All arrive, except for `fates`. */
	const crossing = (fates: Readonly<Record<number, Fate>> = {}, more: More = {}) => {
		const plan = planOf({
			pattern: "work-queue",
			acks: true,
			producers: 3,
			connections: 3,
			consumers: 2,
			consumerConnections: 2,
			client: { index: 0, count: 3 },
			schedule: steady(10, 1, 2),
		});
		const all = Array.from({ length: 30 }, (_, i): Fate => {
			const at = i * 1e8 + 2e6;
			return fates[i] ?? { ackedNs: at, receivedNs: [at], receivedBy: [i % 2] };
		});
		return firstRun(built(plan, all, more));
	};

	test("are counted by all ledgers together: no client alone knows what was lost", () => {
		const found = collect(
			crossing({
				// In the warm-up, acknowledged but never received.
				4: { ackedNs: 5e8, receivedNs: [null] },
				// Received without an acknowledgement, and received after a failure.
				11: { ackedNs: null, receivedNs: [2e9], receivedBy: [1] },
				12: { ackedNs: null, failed: true, receivedNs: [2e9], receivedBy: [0] },
				20: { ackedNs: 2.1e9, receivedNs: [2.1e9], receivedBy: [0], againBy: [1] },
				25: { ackedNs: 2.6e9, receivedNs: [null] },
			}),
		);
		expect(found).toMatchObject({ state: "complete", closed: true });
		expect(found.counters.warmup).toMatchObject({
			intended: 10,
			sent: 10,
			acked: 10,
			received: 9,
			delivered: 9,
			lost: 1,
			duplicated: 0,
		});
		expect(found.counters.window).toMatchObject({
			intended: 20,
			sent: 20,
			acked: 18,
			failed: 1,
			unknown: 1,
			received: 19,
			delivered: 17,
			lost: 1,
			failedReceived: 1,
			unackedReceived: 1,
			duplicated: 1,
			reordered: null,
		});
		expect(found.offenders).toEqual({
			lost: { producer: 1, sequence: 1, intendedNs: 4e8 },
			duplicated: { producer: 2, sequence: 6, intendedNs: 2e9 },
		});
		// Each client has its own part of the schedule.
		expect(found.parts.map((p) => p.counters.window?.intended)).toEqual([6, 7, 7]);
	});

	test("wait as long as all have sent more than all have received, not until they are acknowledged", () => {
		const found = collect(
			crossing({
				10: { ackedNs: 1e9 + 1e6, receivedNs: [1.75e9], receivedBy: [1] },
				12: { ackedNs: 1.2e9 + 1e6, receivedNs: [null] },
			}),
		);
		const second = found.ticks.find((t) => t.at === 2);
		expect(second?.backlog).toEqual([1, 1, 2, 2, 2, 2, 2, 1, 1, 1]);
		expect(second?.inFlight).toBe(1);
		expect(second).not.toHaveProperty("outstanding");
	});

	test.each([
		["is missing", (path: string) => rmSync(path), /ledger is missing/],
		[
			"was changed",
			(path: string) =>
				writeFileSync(path, readFileSync(path, "utf8").replace('"count":', '"count":1')),
			/client-1.ledger was changed/,
		],
		[
			"holds a set that it does not have",
			(path: string) => writeLedger(path, [{ ...setOf("tried", 1, [1, 2]), count: 3 }]),
			/client-1.ledger set "tried" of producer 1 has 2 members/,
		],
	])("are not counted when a ledger %s", (_, spoil, problem) => {
		const run = crossing();
		spoil(join(run, "client-1.ledger"));
		const found = collect(run);
		expect(found).toMatchObject({ state: "crashed", closed: false });
		expect(found.problem).toMatch(problem);
		expect(found.parts.map((p) => p.problem === null)).toEqual([true, false, true]);
		expect(found.counters.window).toMatchObject({ sent: 20, received: null });
	});
});

describe("several clients", () => {
	const clock = { beforeNs: 5e9, afterNs: 5e9 + 1000, boundNs: 200_000, readNs: null } as const;
	const end = (index: number, more: Partial<ClientEnd> = {}): ClientEnd => ({
		index,
		name: index === 0 ? "this machine" : `bench@10.0.0.${index}`,
		kind: index === 0 ? "local" : "ssh",
		machine: "linux amd64, 6.1.0, 8 cores",
		k6Exit: 0,
		k6Signal: null,
		firstClaimNs: -1e8,
		clock: index === 0 ? null : { ...clock, source: "probes", probedNs: null },
		error: null,
		...more,
	});
	const pause = { atNs: 2e9, forNs: 1e8, node: null, delayNs: null, count: null };
	const roundTrip = (more: More = {}) => {
		const plan = planOf({
			producers: 2,
			connections: 2,
			client: { index: 0, count: 2 },
			schedule: steady(100, 1, 2),
			// Completions are read only with faults.
			faults: [{ ...pause, action: "pause", of: "brokers" }],
		});
		const fates = Array.from({ length: 300 }, (_, i): Fate => {
			// Those of client 1 are answered 3 ms later.
			return { receivedNs: [i * 1e7 + 1e6 + (i % 2) * 3e6] };
		});
		return firstRun(built(plan, fates, more));
	};

	test("have completions of each 10 ms since T0, added up", () => {
		const run = roundTrip();
		const found = collect(run);
		expect(found.completions).toHaveLength(300);
		expect(found.completions?.every((n) => n === 1)).toBe(true);
		// An older generator lacks it, and a sum over the others would be wrong.
		editLines(join(run, "client-1.jsonl"), (lines) =>
			lines.filter((l) => l.type !== "completions"),
		);
		expect(collect(run).completions).toBeNull();
	});

	test("of one of which nothing completed have those of the others", () => {
		const run = roundTrip();
		editLines(join(run, "client-1.jsonl"), (lines) =>
			lines
				.filter((l) => l.type !== "completions")
				.map((l) => (l.type === "tick" ? { ...l, received: 0 } : l)),
		);
		expect([...(collect(run).completions ?? [])].slice(0, 4)).toEqual([1, 0, 1, 0]);
	});

	test("have their names and ends, and T0 by this machine's clock", () => {
		const found = collect(roundTrip({ run: { clients: [end(0), end(1)] }, clockNs: [0, 5e9] }));
		expect(found.parts.map((p) => [p.name, p.end?.kind, p.problem])).toEqual([
			["this machine", "local", null],
			["bench@10.0.0.1", "ssh", null],
		]);
		expect(found.t0Ms).toBe(1_767_225_600_000);
		const elsewhere = collect(
			roundTrip({
				run: { clients: [end(0, { clock: end(1).clock }), end(1)] },
				clockNs: [5e9, 5e9],
			}),
		);
		expect(elsewhere.t0Ms).toBe(1_767_225_600_000);
	});

	test.each([
		[{ clients: [end(0), end(1)] }, "client 1 (bench@10.0.0.1) has left no files"],
		[
			{ clients: [end(0), end(1, { error: "the connection was lost" })] },
			"client 1 (bench@10.0.0.1): the connection was lost",
		],
		[{}, "client 1 has left no files"],
	])("of which one is missing name it", (run, problem) => {
		const found = collect(roundTrip({ run, missing: [1] }));
		expect(found).toMatchObject({ state: "crashed", problem });
		expect(found.counters.window).toBeNull();
		expect(found.completions).toBeNull();
	});

	test("of which none has left anything were never there", () => {
		const found = collect(
			roundTrip({ run: { clients: [end(0), end(1, { error: "no k6 there" })] }, missing: [0, 1] }),
		);
		expect(found).toMatchObject({
			state: "never",
			problem: "client 1 (bench@10.0.0.1): no k6 there",
		});
	});

	test("have what was sampled on their machines", () => {
		const run = roundTrip({ run: { clients: [end(0), end(1)] } });
		const line = {
			unixMs: 1,
			generator: null,
			broker: null,
			network: { rxBytes: 1, txBytes: 2 },
			machine: { cpuNs: 1, idleNs: 1, stealNs: 0, throttled: 0 },
		};
		writeFileSync(join(run, "resources-1.jsonl"), `${JSON.stringify(line)}\n`);
		writeFileSync(join(run, "resources-7.jsonl"), "");
		const { hosts } = collect(run);
		expect(hosts.map((h) => [h.client?.name, h.samples.length])).toEqual([["bench@10.0.0.1", 1]]);
	});
});

test("a window that opened before the plan's latest time has its own messages only", () => {
	const plan = planOf({ schedule: { ...steady(100, 6, 3), steady: { fromNs: 2e9, toNs: 6e9 } } });
	// Opens after 4 s: 400 slow messages before, 300 fast ones after.
	const fates = Array.from({ length: 700 }, (_, i): Fate => {
		const dueNs = i * 1e7;
		return { sentNs: dueNs, receivedNs: [dueNs + (i < 400 ? 9e6 : 1e6)] };
	});
	const run = collect(firstRun(built(plan, fates, { windowStartNs: 4e9 })));
	expect(run).toMatchObject({ state: "complete", problem: null });
	expect(run.plan.schedule).toMatchObject({
		warmupNs: 4e9,
		durationNs: 3e9,
		warmupMessages: 400,
		messages: 700,
		steady: { fromNs: 2e9, toNs: 6e9 },
	});
	expect(run.counters.warmup?.intended).toBe(400);
	expect(run.counters.window?.intended).toBe(300);
	expect(run.seconds.map((s) => s.second)).toEqual([-4, -3, -2, -1, 0, 1, 2]);
	const merged = mergeLines(readLogs(run.logs), run.plan.schedule.warmupNs);
	const response = merged.get("response");
	expect(response?.whole.count).toBe(300);
	expect([...(response?.seconds.keys() ?? [])]).toEqual([0, 1, 2]);
	for (const { metrics, second } of run.seconds)
		expect(metrics.response?.max).toBe(second < 0 ? 9e6 : 1e6);
});
