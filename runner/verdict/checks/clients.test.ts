import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { built, type Fate, type More, planOf, steady } from "../../evidence/built.fake.ts";
import { collect } from "../../evidence/collect.ts";
import { editLines, firstRun } from "../../evidence/fixture.fake.ts";
import type { Plan } from "../../model/plan.ts";
import type { ClientEnd } from "../../model/run-file.ts";
import { parseSla } from "../../scenario/sla.ts";
import { factsOf, hasMetric, UNKNOWN } from "../facts.ts";
import { clientEnd } from "../judged.fake.ts";
import { judgeRun } from "../run.ts";
import { startSkewNs } from "./run.ts";

const MS = 1e6;
const S = 1e9;

const clock = (beforeNs: number, afterNs: number | null, boundNs: number): ClientEnd["clock"] => ({
	beforeNs,
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
		clock: clock(0, 0, 200_000),
		...more,
	});
const two = [client(0), client(1)];

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
		schedule: steady(400, 1, 5),
		sla: lines,
		limits: [{ metric: "response", limitNs: 20 * MS }],
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

const judged = (folder: string) =>
	judgeRun(factsOf(collect(folder), { ...UNKNOWN, clockSource: "tsc" }));
const check = (folder: string, name: string) => judged(folder).checks.find((c) => c.check === name);

describe("a machine that makes load and was suspended", () => {
	test("makes the run INVALID, and is named with how long it slept", () => {
		const folder = run({ suspendedNs: [0, 90 * S] });
		expect(judged(folder)).toMatchObject({
			verdict: "invalid",
			why: "bench@10.0.0.1 was suspended for 1.5min during the run, as when a laptop's lid is closed; in that time nothing was sent or timed",
		});
		expect(check(folder, "suspended")).toMatchObject({
			remedy: "keep the machine awake (systemd-inhibit npx mqbench ...), and measure again",
		});
	});

	test("is told from one whose two clocks are read a moment apart", () => {
		expect(check(run({ suspendedNs: [-3000, 20 * MS] }), "suspended")).toMatchObject({
			status: "ok",
		});
	});

	test("is not known where the system does not tell: then nothing is said", () => {
		expect(check(run(), "suspended")).toBeUndefined();
	});
});

describe("every one of several clients has to do its part", () => {
	test("and says so", () => {
		const folder = run();
		expect(judged(folder)).toMatchObject({ verdict: "pass", why: null });
		expect(check(folder, "clients")).toMatchObject({
			status: "ok",
			detail: "all 2 clients finished",
		});
	});

	test.each([
		[
			{ missing: [1] },
			"1 of 2 clients did not finish: client 1 (bench@10.0.0.1) has left no files",
		],
		[
			{ missing: [1], clients: [client(0), client(1, { error: "the connection was lost" })] },
			"1 of 2 clients did not finish: client 1 (bench@10.0.0.1): the connection was lost",
		],
		// All files are there, and still it broke off.
		[
			{ clients: [client(0, { error: "k6 was killed" }), client(1)] },
			"1 of 2 clients did not finish: client 0 (bench@10.0.0.0): k6 was killed",
		],
	])("one that is missing makes the run INVALID, and is named", (more, why) => {
		const found = judged(run(more));
		expect(found).toMatchObject({ verdict: "invalid", why });
		for (const j of found.judgements)
			expect(j).toMatchObject({ verdict: "invalid", n: null, over: null });
	});

	test("one whose file was changed too", () => {
		const folder = run();
		const path = join(folder, "client-0.jsonl");
		writeFileSync(path, readFileSync(path, "utf8").replace('"count":200', '"count":201'));
		expect(judged(folder)).toMatchObject({
			verdict: "invalid",
			why: "1 of 2 clients did not finish: client 0 (bench@10.0.0.0): client-0.jsonl was changed: it does not match the sum in its trailer",
		});
	});

	test("one that was stopped alone too", () => {
		const folder = run();
		const path = join(folder, "client-1.jsonl");
		writeFileSync(
			path,
			readFileSync(path, "utf8").replace(
				/("type":"trailer","state":)"complete"/,
				'$1"interrupted"',
			),
		);
		expect(judged(folder)).toMatchObject({
			verdict: "invalid",
			why: "1 of 2 clients did not finish: client 1 (bench@10.0.0.1) was stopped before the run was over",
		});
	});

	test("none at all is an error, as is what the runner itself met", () => {
		expect(judged(run({ missing: [0, 1] }))).toMatchObject({ verdict: "error" });
		expect(judged(run({ missing: [1], run: { error: "the broker died" } }))).toMatchObject({
			verdict: "error",
			why: "the broker died",
		});
	});

	test("the check is not made of a single client", () => {
		const folder = run({ clients: [], plan: { client: { index: 0, count: 1 } } });
		expect(check(folder, "clients")).toBeUndefined();
		expect(check(folder, "claim")).toBeUndefined();
		expect(check(folder, "clock")).toBeUndefined();
	});
});

describe("all begin before T0", () => {
	test("the one that came late is named", () => {
		const folder = run({ firstClaimNs: [-40 * MS, 3 * MS] });
		expect(judged(folder)).toMatchObject({
			verdict: "invalid",
			why: "client 1 (bench@10.0.0.1) began to send 3ms after the common start",
		});
		expect(startSkewNs(collect(folder))).toBe(43 * MS);
	});

	test("the one that was nearest decides", () => {
		expect(check(run({ firstClaimNs: [-40 * MS, -90 * MS] }), "claim")).toMatchObject({
			status: "ok",
			detail: "every client was ready before the common start, the last one 40ms ahead",
		});
	});

	test("the skew is not known while one of them is missing", () => {
		const silent = client(1, { firstClaimNs: null });
		expect(startSkewNs(collect(run({ missing: [1], clients: [client(0), silent] })))).toBeNull();
	});
});

describe("k6 that ended oddly", () => {
	test("is named with its client", () => {
		const clients = [client(0), client(1, { k6Exit: 3 })];
		expect(check(run({ clients }), "complete")).toMatchObject({
			status: "warn",
			detail: "all results are there, but k6 ended with exit code 3 on client 1 (bench@10.0.0.1)",
		});
	});
});

describe("each client is looked at by itself", () => {
	test("lag of one of them does not vanish among the messages of the other", () => {
		// One in 60 messages of client 1 is late: less than 1 % of all, more than 1 % of its own.
		const folder = run({ fate: (i, due) => (i % 120 === 1 ? { sentNs: due + 4 * MS } : {}) });
		expect(check(folder, "lag")).toMatchObject({
			status: "warn",
			detail: expect.stringMatching(
				/^client 1 \(bench@10\.0\.0\.1\): lag p50 0s, p99 4ms: more than 10 % of the tightest limit$/,
			),
		});
	});

	test("and without a latency SLA it decides", () => {
		const folder = run({
			sla: ["lost == 0"],
			fate: (i, due) => (i % 120 === 1 ? { sentNs: due + 40 * MS } : {}),
		});
		const found = judged(folder);
		expect(found.verdict).toBe("invalid");
		expect(found.why).toMatch(/^client 1 \(bench@10\.0\.0\.1\): lag p50/);
	});

	test("of the same machine clients share its cores, others have their own", () => {
		const busy = (folder: string) => {
			for (const i of [0, 1])
				editLines(join(folder, `client-${i}.jsonl`), (lines) => {
					for (const l of lines) if (l.type === "tick") l.cpuNs = 0.9 * S;
					return undefined;
				});
			return check(folder, "ownCpu");
		};
		expect(busy(run())).toMatchObject({ status: "ok", figure: "0.9 of 2 cores" });
		const here = two.map((c) => ({ ...c, kind: "local" as const, clock: null }));
		expect(busy(run({ clients: here }))).toMatchObject({
			status: "warn",
			detail: "the generator itself used 1.8 of 2 cores, 2 clients on this machine",
		});
	});

	test("the pauses of its garbage collector", () => {
		const folder = run();
		editLines(join(folder, "client-1.jsonl"), (lines) => {
			for (const l of lines) if (l.type === "tick") l.gcPauseNs = 15 * MS;
			return undefined;
		});
		expect(check(folder, "gcPause")).toMatchObject({
			status: "warn",
			detail:
				"garbage collection stopped the generator for 75ms of the window, on client 1 (bench@10.0.0.1)",
		});
	});

	/** What was sampled in a second of the run, of 8 cores: what each of these used, and how often the quota held it back. */
	interface Used {
		readonly broker?: number;
		readonly idle?: number;
		readonly stolen?: number;
		readonly held?: number;
	}
	const write = (folder: string, name: string, used: Used) => {
		const { broker = 1, idle = 7, stolen = 0, held = 0 } = used;
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
		const lines = [0, 1, 6, 11, 12].map((s) => `${JSON.stringify(line(s))}\n`);
		writeFileSync(join(folder, `resources${name}.jsonl`), lines.join(""));
	};

	test("its machine's quota and hypervisor", () => {
		const folder = run();
		write(folder, "-0", {});
		// What is sampled on this machine is none of theirs.
		write(folder, "", { held: 9, stolen: 4 });
		expect(check(folder, "cpuQuota")).toMatchObject({
			status: "unknown",
			detail: "client 1 (bench@10.0.0.1): whether a CPU quota slowed mqbench down cannot be read",
		});
		write(folder, "-1", { held: 2, stolen: 1 });
		for (const [name, detail] of [
			["cpuQuota", "a CPU quota held mqbench back in 10 periods of the window"],
			["steal", "the hypervisor took 13 % of the CPU time"],
		] as const)
			expect(check(folder, name)).toMatchObject({
				status: "warn",
				detail: `client 1 (bench@10.0.0.1): ${detail}`,
			});
		write(folder, "-1", {});
		expect(check(folder, "cpuQuota")).toMatchObject({ status: "ok" });
	});

	describe("hosts of the broker's nodes", () => {
		const onHosts = (of: Used, sameHost = false) => {
			const folder = run({ run: { sameHost }, plan: { target: "aws" } });
			for (const client of ["-0", "-1"]) write(folder, client, {});
			write(folder, "-broker-1", {});
			write(folder, "-broker-2", of);
			return folder;
		};

		test("that are quiet are no news", () => {
			const folder = onHosts({});
			for (const name of ["cpuQuota", "steal", "others", "cores"])
				expect(check(folder, name), name).toMatchObject({ status: "ok" });
			expect(check(folder, "others")?.detail).toBe(
				"other processes used 0 % of the CPU time on the broker's host, the broker 13 %",
			);
		});

		test.each([
			[{ held: 2 }, "cpuQuota", "a CPU quota held the broker back in 10 periods of the window"],
			[{ stolen: 1, idle: 6 }, "steal", "the hypervisor took 13 % of the CPU time"],
			[
				{ idle: 0.25 },
				"cores",
				"no core was free in 100 % of the window (3.1 % of the CPU time was idle)",
			],
			[
				{ idle: 3 },
				"others",
				"other processes used 50 % of the CPU time on the broker's host, the broker 13 %",
			],
		])("%j: the worst of them is named by %s", (used, name, sentence) => {
			expect(check(onHosts(used), name)).toMatchObject({
				status: "warn",
				detail: `the host of the broker's node 2: ${sentence}`,
			});
		});

		test("of which nothing is there are not known, never quiet", () => {
			const folder = onHosts({});
			writeFileSync(join(folder, "resources-broker-2.jsonl"), "");
			for (const name of ["cpuQuota", "steal", "others", "cores"])
				expect(check(folder, name)).toMatchObject({
					status: "unknown",
					detail: expect.stringContaining("the host of the broker's node 2: "),
				});
		});

		test("that generators run on as well say nothing of other processes", () => {
			expect(check(onHosts({ idle: 3 }, true), "others")).toBeUndefined();
			// Where the broker has none the same.
			expect(check(run({ plan: { target: "aws" } }), "others")).toBeUndefined();
		});
	});

	test("a pause of one of them is a burst for all", () => {
		// Client 1 stands still for 300 ms at 4 s and sends all of it at once, which takes the system 100 ms.
		const folder = run({
			fate: (i, due) =>
				i % 2 === 1 && due >= 5 * S && due < 5.3 * S
					? { sentNs: 5.3 * S, receivedNs: [5.4 * S] }
					: due >= 5.3 * S && due < 5.4 * S
						? { receivedNs: [5.4 * S + 30 * MS] }
						: {},
		});
		expect(judged(folder).judgements[0]).toMatchObject({
			verdict: "invalid",
			code: "late-by-burst",
		});
	});
});

describe("clocks of several machines", () => {
	const clocks = (...bounds: (number | null)[]) =>
		bounds.map((ns, i) => client(i, { clock: ns === null ? null : clock(1000, 41_000, ns) }));
	const crossing = (more: Parameters<typeof run>[0]) => run({ pattern: "work-queue", ...more });

	test("that are one clock need no check", () => {
		expect(check(crossing({ clients: clocks(null, null) }), "clock")).toBe(undefined);
	});

	test("where no message crosses only the start is shared", () => {
		expect(check(run({ clients: clocks(150_000, 400_000) }), "clock")).toMatchObject({
			status: "ok",
			detail: "clients share their start to \u00b1400us",
		});
	});

	test("across them a time is as exact as both together", () => {
		const folder = crossing({ clients: clocks(150_000, 400_000) });
		expect(check(folder, "clock")).toMatchObject({ status: "ok", figure: "\u00b1550us" });
	});

	test.each([
		["work-queue", "invalid"],
		["round-trip", "warn"],
	] as const)("one that was not compared again after a %s: %s", (pattern, status) => {
		const clients = [client(0), client(1, { clock: clock(0, null, 1000) })];
		const folder = run({ pattern, clients });
		expect(check(folder, "clock")).toMatchObject({
			status,
			detail: expect.stringContaining("client 1 (bench@10.0.0.1)"),
		});
		expect(judged(folder).verdict).toBe(status === "warn" ? "pass" : "invalid");
	});

	test("a message received before it was sent, by more than their bound, was timed by wrong clocks", () => {
		const early = (ns: number) =>
			crossing({
				clients: clocks(150_000, 400_000),
				fate: (i, due) => (i === 1600 ? { receivedNs: [due - ns] } : {}),
			});
		expect(judged(early(550_000))).toMatchObject({ verdict: "pass" });
		expect(judged(early(550_001))).toMatchObject({
			verdict: "invalid",
			why: "1 message arrived up to 550us before being sent: the clocks are further apart than \u00b1550us",
		});
		// In the warm-up too.
		const folder = crossing({
			clients: clocks(150_000, 400_000),
			fate: (i, due) => (i === 40 ? { receivedNs: [due - MS] } : {}),
		});
		expect(judged(folder).verdict).toBe("invalid");
	});

	test.each([
		// What was measured, bound of both clocks together: 5 ms and more, limit 20 ms.
		[5, 1, "pass"],
		[19.5, 0.2, "pass"],
		[19.5, 0.8, "inconclusive"],
		[20.5, 0.2, "fail"],
		[20.5, 0.8, "inconclusive"],
		[40, 1, "fail"],
	])("%f ms with clocks to %f ms: %s", (ms, boundMs, verdict) => {
		const bound = (boundMs * MS) / 2;
		const folder = crossing({
			clients: clocks(bound, bound),
			fate: (_, due) => ({ receivedNs: [due + ms * MS] }),
		});
		const [gate] = judged(folder).judgements;
		expect(gate?.verdict).toBe(verdict);
		if (verdict === "inconclusive")
			expect(gate?.why).toMatch(/; but within the clocks' bound of \u00b1800us$/);
	});

	test("a maximum is judged by them too, but for messages that never came", () => {
		const max = (ms: number | null) =>
			judged(
				crossing({
					sla: ["max < 20ms"],
					clients: clocks(500_000, 500_000),
					fate: (i, due) =>
						i === 1500 ? { receivedNs: [ms === null ? null : due + ms * MS] } : {},
				}),
			).judgements[0]?.verdict;
		expect(max(18)).toBe("pass");
		expect(max(19.5)).toBe("inconclusive");
		expect(max(20.5)).toBe("inconclusive");
		expect(max(22)).toBe("fail");
		expect(max(null)).toBe("fail");
	});

	test("a stall that spends the budget many times over fails, whatever they say", () => {
		const folder = crossing({
			clients: clocks(500_000, 500_000),
			fate: (_, due) => (due >= 5 * S && due < 5.5 * S ? { receivedNs: [5.5 * S + MS] } : {}),
		});
		expect(judged(folder).judgements[0]?.verdict).toBe("fail");
	});

	test("an acknowledgement is timed by one of them", () => {
		const folder = crossing({
			sla: ["ack p99 < 20ms"],
			plan: { limits: [{ metric: "ack", limitNs: 20 * MS }] },
			clients: clocks(10 * MS, 10 * MS),
			fate: (_, due) => ({ ackedNs: due + 19.5 * MS }),
		});
		expect(judged(folder).judgements[0]?.verdict).toBe("pass");
	});
});

describe("ledgers", () => {
	test("that do not say what counters say are a bug of ours", () => {
		const folder = run({ pattern: "work-queue" });
		editLines(join(folder, "client-0.jsonl"), (lines) => {
			const window = lines.find((l) => l.type === "counters" && l.scope === "window");
			Object.assign(window, { sent: window.sent - 1, acked: window.acked - 1, notOffered: 1 });
			return undefined;
		});
		expect(judged(folder)).toMatchObject({
			verdict: "error",
			why: expect.stringContaining("window sent in counters and ledgers: 1999 and 2000"),
		});
	});

	test("name what was lost between clients: the gate counts it", () => {
		const folder = run({
			pattern: "work-queue",
			fate: (i) => (i === 1500 ? { receivedNs: [null] } : {}),
		});
		expect(judged(folder).judgements[1]).toMatchObject({
			sla: "lost == 0",
			verdict: "fail",
			measured: "1",
		});
	});
});

describe("messages that cross", () => {
	test("grow a queue that no client sees alone", () => {
		// Acknowledged at once; consumers fall behind by 40 ms a second.
		const slow = (_: number, due: number): Fate => ({
			ackedNs: due + MS,
			receivedNs: [due + 5 * MS + Math.round(due * 0.04)],
		});
		expect(check(run({ pattern: "work-queue", fate: slow }), "backlog")).toMatchObject({
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
