import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { script, testFolder } from "../../infra/test-folder.fake.ts";
import { failure } from "../errors.ts";
import { type Plan, setUpMs } from "../model/plan.ts";
import { planOf, plansOf } from "../plan/plans.fake.ts";
import { fakeWorld } from "../world.fake.ts";
import type { Crossing } from "./arrival.ts";
import {
	endOf,
	type FakeClient,
	type FakeOptions,
	fakeClient,
	obedient,
	tickOf,
} from "./fleet.fake.ts";
import { Fleet, type ProgressEvent, runTogether } from "./fleet.ts";
import type { Tick } from "./progress-line.ts";

/** The runner's clock, Unix ms. */
const NOW = Date.UTC(2026, 0, 2);

const planOn = (workload: string, clients = 3) =>
	planOf(
		`rate: 300/s, duration: 2s, connections: 6, ${workload}`,
		`system: nats\nclients: ${clients}`,
	);

const roundTrip = planOn("pattern: round-trip");
const workQueue = planOn("pattern: work-queue, consumers: 3");

/** A load of these clients, in its own folder. */
function makeFleet(
	plan: Plan,
	clients: readonly FakeClient[],
	stop: AbortSignal,
	onProgress: (line: ProgressEvent) => string | null,
	gone = false,
) {
	const folder = testFolder();
	for (const name of ["plan.json", "script.js"]) writeFileSync(path.join(folder, name), "");
	const agent = script(path.join(folder, "agent"), `cat > "$2"`);
	const broker = { url: "nats://me:s3cr3t@10.0.0.1", pids: [77], gone };
	const ready = clients.map((client) => client.ready);
	const world = fakeWorld({ stop, clock: { nowMs: () => NOW, monotonicMs: () => 0 } });
	const options = { clients: ready, agent, folder, plan, k6Outs: [], broker, onProgress };
	return { folder, fleet: new Fleet(options, world) };
}

function fleet({
	plan = roundTrip,
	clients = [{}, {}, {}],
	hopeless = () => null,
	gone = false,
}: {
	plan?: Plan;
	clients?: readonly FakeOptions[];
	hopeless?: (line: ProgressEvent) => string | null;
	gone?: boolean;
} = {}) {
	const fakes = clients.map((options, i) => fakeClient(i, { generator: obedient, ...options }));
	const told: ProgressEvent[] = [];
	const stop = new AbortController();
	const own = { ...plan, client: { index: 0, count: clients.length } };
	const onProgress = (line: ProgressEvent) => {
		told.push(line);
		return hopeless(line);
	};
	const { fleet: running, folder } = makeFleet(own, fakes, stop.signal, onProgress, gone);
	const kinds = () => told.map(({ mqbench }) => mqbench);
	const ended = running.run();
	return { ended, leader: () => running.leader(), fakes, told, kinds, stop, folder };
}

const tick = (at: number, parts: Partial<Tick> = {}) => tickOf({ at, ...parts });

const begun = (fakes: readonly FakeClient[]) =>
	expect.poll(() => fakes.every(({ said }) => said.some((one) => "t0UnixNs" in one))).toBe(true);
const settleAll = (fakes: readonly FakeClient[]) => {
	for (const fake of fakes) fake.tell({ mqbench: "settled" });
};
const begunFleet = async (options: Parameters<typeof fleet>[0] = {}) => {
	const all = fleet(options);
	await begun(all.fakes);
	return all;
};
const wholeRun = async (options: Parameters<typeof fleet>[0] = {}) => {
	const all = await begunFleet(options);
	settleAll(all.fakes);
	return { ...all, result: await all.ended };
};
const settled = async ({ fakes, ended }: Pick<ReturnType<typeof fleet>, "fakes" | "ended">) => {
	settleAll(fakes);
	expect((await ended).error).toBeNull();
};
const ALL = { sent: 200, acked: null, failed: 0, unanswered: 0, received: 200, paced: true };
const counts = (parts: Partial<Crossing> = {}): Crossing => ({ ...ALL, ...parts });
const signals = ({ log }: FakeClient) => log.filter((line) => line === "SIGINT").length;

function fakeTimers(): void {
	vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
	onTestFinished(() => void vi.useRealTimers());
}
const turns = async (count = 20) => {
	for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
};

describe("clients of a system without a server", () => {
	const endpointOf = (index: number) => ({
		topic: "mqbench.test.1.0",
		group: "workers",
		address: `tcp://10.0.0.${index}:4000`,
	});
	const peer = (index: number, met: { error?: string } = {}): FakeOptions => ({
		generator: {
			...obedient,
			started: (self) => self.tell({ mqbench: "ready", endpoints: [endpointOf(index)] }),
			said(line, self) {
				if ("peers" in line) self.tell({ mqbench: "met", ...met });
				obedient.said(line, self);
			},
		},
	});

	test("are told where the subscriptions of the others are before T0, and where to listen", async () => {
		const plan = { ...workQueue, server: false };
		const { fakes, ended } = await begunFleet({
			plan,
			clients: [{ ...peer(0), address: "10.0.0.0" }, { ...peer(1), address: "10.0.0.1" }, peer(2)],
		});
		expect(fakes.map(({ said }) => said.slice(0, 2))).toEqual(
			[
				[1, 2],
				[0, 2],
				[0, 1],
			].map((others) => [{ peers: others.map(endpointOf) }, { t0UnixNs: expect.anything() }]),
		);
		expect(fakes.map((fake) => fake.command()?.env.MQBENCH_LISTEN)).toEqual([
			"10.0.0.0",
			"10.0.0.1",
			undefined,
		]);
		settleAll(fakes);
		expect(await ended).toMatchObject({ error: null });
	});

	test("do not begin if one cannot connect to another, and the reason is the run's", async () => {
		const { fakes, ended } = fleet({
			plan: { ...workQueue, server: false },
			clients: [peer(0), peer(1, { error: "no route to 10.0.0.0" }), peer(2)],
		});
		expect(await ended).toMatchObject({ error: "client 1 (process 1): no route to 10.0.0.0" });
		for (const { said } of fakes) expect(said.some((line) => "t0UnixNs" in line)).toBe(false);
	});
});

describe("several clients begin", () => {
	test("with client 0 alone, which makes the topics, and the others once it is ready", async () => {
		const { fakes, ended } = fleet({
			clients: [{ generator: { ...obedient, started() {} } }, {}, {}],
		});
		const [first, ...others] = fakes as [FakeClient, ...FakeClient[]];
		await expect.poll(() => first.log).toContain("start");
		await turns();
		for (const { log } of others) expect(log).not.toContain("start");
		first.tell({ mqbench: "ready" });
		await begun(fakes);
		await settled({ fakes, ended });
	});

	test("when all are ready, and not before", async () => {
		const { fakes, ended, kinds } = fleet({
			clients: [{}, {}, { generator: { ...obedient, started() {} } }],
		});
		const last = fakes[2] as FakeClient;
		await expect.poll(() => last.log).toContain("start");
		await turns();
		for (const { said } of fakes) expect(said).toEqual([]);
		expect(kinds()).toEqual([]);
		last.tell({ mqbench: "ready" });
		await begun(fakes);
		await settled({ fakes, ended });
	});

	test("all at one T0, a second ahead, and it is told once", async () => {
		const { fakes, told } = await wholeRun();
		const t0UnixNs = `${NOW + 1000}000000`;
		for (const { said } of fakes) expect(said[0]).toEqual({ t0UnixNs });
		expect(told.filter(({ mqbench }) => mqbench === "start")).toEqual([
			{ mqbench: "start", t0UnixNs },
		]);
	});

	test("with T0 in the past, if the run goes on: by what is over, less the warm-up that is sent again", async () => {
		const { warmupNs } = roundTrip.schedule;
		const segments = { checkpointNs: 60e9, resumeNs: 3600e9 + warmupNs };
		const { fakes } = await wholeRun({ plan: { ...roundTrip, segments } });
		const t0UnixNs = `${NOW + 1000 - 3_600_000}000000`;
		for (const { said } of fakes) expect(said[0]).toEqual({ t0UnixNs });
	});

	test("each at that moment of its own clock, whose bound is that of both readings and what it drifted", async () => {
		const first = { offsetNs: -7_000_000.4, boundNs: 40_000.2 };
		const { fakes, result } = await wholeRun({
			clients: [
				{},
				{ kind: "ssh", clock: [first, { offsetNs: -7_010_000, boundNs: 60_000 }] },
				{ kind: "ssh", clock: [{ offsetNs: 3_000_000_000, boundNs: 50_000 }] },
			],
		});
		const t0 = BigInt(NOW + 1000) * 1_000_000n;
		expect(fakes.map(({ said }) => said[0])).toEqual([
			{ t0UnixNs: String(t0) },
			{ t0UnixNs: String(t0 - 7_000_000n) },
			{ t0UnixNs: String(t0 + 3_000_000_000n) },
		]);
		expect(result.clients.map(({ clock }) => clock)).toMatchObject([
			null,
			{ beforeNs: -7_000_000, afterNs: -7_010_000, boundNs: 70_000, source: "probes" },
			{ beforeNs: 3e9, afterNs: 3e9, boundNs: 50_000, source: "probes" },
		]);
	});

	test("with the same files and their own part of the heartbeat, URL and word to wait by environment alone", async () => {
		const { fakes } = await wholeRun();
		for (const [i, { log, command }] of fakes.entries()) {
			expect(log.slice(0, 3)).toEqual(["put plan.json", "put script.js", "start"]);
			expect(command()?.env).toEqual({
				MQBENCH_URL: "nats://me:s3cr3t@10.0.0.1",
				MQBENCH_COORDINATED: "1",
				K6_OUT: `mqbench=client-${i}`,
				K6_AUTO_EXTENSION_RESOLUTION: "false",
			});
			const args = command()?.args.join(" ");
			expect(args).toContain("--execution-segment-sequence=0,1/3,2/3,1");
			expect(args).not.toContain("s3cr3t");
		}
	});
});

describe("one client", () => {
	test("on this machine begins by itself: nothing is said to it, and it is not waited for", async () => {
		const { fakes, ended, kinds } = fleet({
			clients: [{ generator: {} }],
			plan: planOn("pattern: round-trip", 1),
		});
		const [only] = fakes as [FakeClient];
		await expect.poll(() => only.log).toContain("start");
		only.tell({ mqbench: "start", t0UnixNs: "5", firstClaimNs: -1 });
		only.tell(tick(1));
		only.tell(endOf());
		only.end(0);
		const result = await ended;
		expect(result.error).toBeNull();
		expect(only.said).toEqual([]);
		expect(only.command()?.env).toMatchObject({ MQBENCH_CONTROL: "1" });
		expect(only.command()?.env).not.toHaveProperty("MQBENCH_COORDINATED");
		expect(only.command()?.args.join(" ")).not.toContain("segment");
		expect(kinds()).toEqual(["start", "tick", "end"]);
		expect(result.clients[0]?.firstClaimNs).toBe(-1);
	});

	test("elsewhere is told when, by its own clock, and when to finish", async () => {
		const { fakes, ended, told } = await begunFleet({
			clients: [{ kind: "ssh", clock: [{ offsetNs: 5, boundNs: 7 }] }],
			plan: planOn("pattern: round-trip", 1),
		});
		const [only] = fakes as [FakeClient];
		only.tell(tick(1));
		await settled({ fakes, ended });
		expect(only.said).toEqual([{ t0UnixNs: `${NOW + 1000}000005` }, { finish: true }]);
		expect(only.command()?.env).toMatchObject({ MQBENCH_COORDINATED: "1" });
		// T0 by our clock, other lines unchanged.
		expect(told).toEqual([{ mqbench: "start", t0UnixNs: `${NOW + 1000}000000` }, tick(1), endOf()]);
	});
});

describe("several clients end", () => {
	test("when all are settled: client 0 last, when the others have left the broker", async () => {
		const { fakes, ended } = await begunFleet({
			clients: [
				{},
				{ generator: { ...obedient, said() {} } },
				{ generator: { ...obedient, said() {} } },
			],
		});
		const [first, second, third] = fakes as [FakeClient, FakeClient, FakeClient];
		settleAll([first, second]);
		await turns();
		for (const { said } of fakes) expect(said).not.toContainEqual(FINISH);
		settleAll([third]);
		await turns();
		expect(second.said).toContainEqual(FINISH);
		expect(third.said).toContainEqual(FINISH);
		expect(first.said).not.toContainEqual(FINISH);
		second.end(0);
		await turns();
		expect(first.said).not.toContainEqual(FINISH);
		third.end(0);
		expect((await ended).error).toBeNull();
		expect(first.said).toContainEqual(FINISH);
	});

	test("client 0 after 10 s, though another one cannot leave", async () => {
		fakeTimers();
		const { fakes, ended } = fleet({ clients: [{}, { generator: { ...obedient, said() {} } }] });
		while (fakes.some(({ said }) => said.length === 0)) await turns(1);
		settleAll(fakes);
		await turns();
		const [first, second] = fakes as [FakeClient, FakeClient];
		vi.advanceTimersByTime(9_900);
		expect(first.said).not.toContainEqual(FINISH);
		vi.advanceTimersByTime(200);
		await turns();
		expect(first.said).toContainEqual(FINISH);
		second.end(0);
		expect((await ended).error).toBeNull();
	});

	test("one that waited in vain to be told ends by itself, and keeps the others from nothing", async () => {
		const { fakes, ended } = await begunFleet();
		settleAll(fakes.slice(0, 2));
		fakes[2]?.end(0);
		expect(await ended).toMatchObject({ error: null, ended: { code: 0, signal: null } });
	});

	test("leaving all of their files, those that a broken one had written as well", async () => {
		const files = [
			["client-0.hlog", "client-0.jsonl", "client-0.ledger"],
			["client-1.hlog.part", "client-1.jsonl.part"],
		];
		const clients = files.map((leaves) => ({ leaves }));
		const { fakes, ended, folder } = await begunFleet({ clients });
		fakes[1]?.end(null, "SIGKILL");
		await ended;
		for (const name of files.flat()) expect(existsSync(path.join(folder, name)), name).toBe(true);
		for (const { log } of fakes) expect(log.at(-1)).toBe("remove");
	});
});

const CLOSE = { close: true };
const FINISH = { finish: true };

function deafTo(word: string): typeof obedient.said {
	return (line, self) => {
		if (!(word in line)) obedient.said(line, self);
	};
}

describe("a broker that is gone", () => {
	const silent = { generator: { ...obedient, said: deafTo("close") } };
	const closed: Plan = { ...roundTrip, schedule: { ...roundTrip.schedule, kind: "closed" } };
	const endS = (roundTrip.schedule.warmupNs + roundTrip.schedule.durationNs) / 1e9;

	test.each([
		["is waited for until all messages are due", roundTrip, [1, endS], []],
		["is not waited for afterwards", roundTrip, [endS, endS + 1, endS + 2], [CLOSE]],
		["is not waited for where a closed load stands still", closed, [1], [CLOSE]],
	])("%s", async (_, plan, seconds, told) => {
		const { fakes, ended } = await begunFleet({
			plan,
			gone: true,
			clients: [silent, silent],
		});
		for (const at of seconds) for (const fake of fakes) fake.tell(tick(at, { sent: 0 }));
		await turns();
		for (const { said } of fakes) expect(said.slice(1)).toEqual(told);
		await settled({ fakes, ended });
	});
});

describe("messages that cross from client to client", () => {
	const second = (fakes: readonly FakeClient[], at: number, ...crossing: readonly Crossing[]) => {
		for (const [i, fake] of fakes.entries())
			fake.tell(tick(at, { crossing: crossing[i] ?? counts() }));
	};

	test("are all there when the receipts of all are as many as were sent, and stay so for a second", async () => {
		const { fakes, ended } = await begunFleet({ plan: workQueue });
		second(fakes, 1, counts({ received: 150 }), counts({ received: 249 }));
		second(fakes, 2, counts({ received: 150 }), counts({ received: 250 }));
		await turns();
		for (const { said } of fakes) {
			expect(said).not.toContainEqual(CLOSE);
			expect(said).not.toContainEqual(FINISH);
		}
		second(fakes, 3, counts({ received: 150 }), counts({ received: 250 }));
		expect((await ended).error).toBeNull();
		for (const { said } of fakes) expect(said.slice(1)).toEqual([CLOSE, FINISH]);
	});

	test("find all books closed before any client leaves: what it hands back counts nowhere", async () => {
		const { fakes, ended } = await begunFleet({
			plan: workQueue,
			clients: [
				{ generator: { ...obedient, said: deafTo("close") } },
				{},
				{ generator: { ...obedient, said: deafTo("close") } },
			],
		});
		for (const at of [1, 2, 3]) second(fakes, at);
		await turns();
		for (const { said } of fakes) expect(said.slice(1)).toEqual([CLOSE]);
		settleAll(fakes.slice(0, 1));
		await turns();
		for (const { said } of fakes) expect(said).not.toContainEqual(FINISH);
		settleAll(fakes.slice(2));
		expect((await ended).error).toBeNull();
		for (const { said } of fakes) expect(said.slice(1)).toEqual([CLOSE, FINISH]);
	});

	test("are not taken for all while a client is late: its counts are of another moment", async () => {
		const { fakes, ended } = await begunFleet({ plan: workQueue });
		second(fakes, 1);
		// The third client never reports these seconds.
		fakeTimers();
		second(fakes.slice(0, 2), 2);
		vi.advanceTimersByTime(1100);
		second(fakes.slice(0, 2), 3);
		vi.advanceTimersByTime(1100);
		await turns();
		for (const { said } of fakes) expect(said).not.toContainEqual(FINISH);
		await settled({ fakes, ended });
	});

	test("are waited for while one is missing, until every client's drain is over", async () => {
		const { fakes, ended } = await begunFleet({ plan: workQueue });
		for (let at = 1; at < 9; at++) second(fakes, at, counts({ received: 199 }));
		await turns();
		for (const { said } of fakes) expect(said).not.toContainEqual(FINISH);
		await settled({ fakes, ended });
	});
});

describe("a client that breaks off", () => {
	test("in mid-run is named, the others get one signal, and all that there is is kept", async () => {
		const { fakes, ended } = await begunFleet({
			clients: [{}, {}, { kind: "ssh", name: "bench@10.0.0.12" }],
		});
		const [first, second, third] = fakes as [FakeClient, FakeClient, FakeClient];
		third.complain("cannot reach nats://me:s3cr3t@10.0.0.1");
		third.end(107);
		const result = await ended;
		const why = "k6 ended with exit code 107: cannot reach nats://***@10.0.0.1";
		expect(result).toMatchObject({ error: null, brokeOff: `client 2 (bench@10.0.0.12): ${why}` });
		expect(result.ended).toEqual({ code: 107, signal: null });
		expect([first, second, third].map(signals)).toEqual([1, 1, 0]);
		expect(result.clients.map(({ k6Exit, error }) => ({ k6Exit, error }))).toEqual([
			{ k6Exit: 105, error: null },
			{ k6Exit: 105, error: null },
			{ k6Exit: 107, error: why },
		]);
		for (const fake of fakes)
			expect(fake.log).toContain(`fetch client-${fakes.indexOf(fake)}.hlog`);
	});

	test.each([
		["by a signal", "SIGKILL", "k6 ended with SIGKILL: it said nothing"],
		["as its connection is lost", undefined, "the connection to it was lost"],
	])("%s and takes the others with it is the one that is named", async (_, signal, why) => {
		const { fakes, ended } = await begunFleet();
		fakes[1]?.end(null, signal);
		fakes[0]?.end(1);
		expect((await ended).brokeOff).toBe(`client 1 (process 1): ${why}`);
	});

	test("before it is ready says why, and the others do not begin", async () => {
		const started = (self: FakeClient) => {
			self.complain("open nats: connection refused");
			self.end(107);
		};
		const { fakes, ended, kinds } = fleet({ clients: [{ generator: { started } }, {}] });
		const result = await ended;
		expect(result.error).toBe(
			"client 0 (process 0): k6 ended with exit code 107: open nats: connection refused",
		);
		expect(result.brokeOff).toBeNull();
		expect(fakes[1]?.log).not.toContain("start");
		expect(result.clients[1]).toMatchObject({ k6Exit: null, error: null });
		expect(kinds()).toEqual([]);
	});

	test("with 0 before T0 was handed out has failed all the same", async () => {
		const { ended } = fleet({ clients: [{ generator: { started: (self) => self.end(0) } }, {}] });
		expect((await ended).error).toBe("client 0 (process 0): k6 ended before the run had begun");
	});

	test("never, but is never ready either, is waited for while it may set up, and 30 s more, and named", async () => {
		fakeTimers();
		const silent = {
			interrupted: obedient.interrupted,
			started: (self: FakeClient) => self.complain("looking for the broker"),
		};
		const { fakes, ended } = fleet({ clients: [{}, { generator: silent }, {}] });
		const last = fakes[2] as FakeClient;
		while (!last.log.includes("start")) await turns(1);
		await turns();
		const readyMs = setUpMs(roundTrip) + 30_000;
		vi.advanceTimersByTime(readyMs - 100);
		await turns();
		expect(fakes.map(signals)).toEqual([0, 0, 0]);
		vi.advanceTimersByTime(200);
		const { error } = await ended;
		expect(error).toBe(
			`client 1 (process 1): it was not ready within ${readyMs / 1000}s: looking for the broker`,
		);
		expect(fakes.map(signals)).toEqual([1, 1, 1]);
	});

	test.each([
		[new Error("no space left there"), "no space left there"],
		// Its message begins with the name, which is printed once.
		[
			failure("client-unreachable", {
				client: "bench@far",
				reason: "it is lost",
				remedy: "Is it up?",
			}),
			"it is lost. Is it up?",
		],
	])("as its files cannot be brought there keeps all from starting", async (error, why) => {
		const { fakes, ended } = fleet({
			clients: [{}, { kind: "ssh", name: "bench@far", fails: { "put script": error } }],
		});
		expect((await ended).error).toBe(`client 1 (bench@far): ${why}`);
		for (const { log } of fakes) expect(log).not.toContain("start");
	});

	test("in the end, as its results cannot be fetched, is named as well", async () => {
		const fails = { "fetch client-1.jsonl": new Error("connection reset") };
		const { result } = await wholeRun({ clients: [{}, { kind: "ssh", name: "bench@far", fails }] });
		expect(result.brokeOff).toBe(
			"client 1 (bench@far): its results could not be fetched: connection reset",
		);
	});

	test("that cannot write its results is named", async () => {
		const { fakes, ended } = await begunFleet();
		for (const fake of fakes)
			fake.tell(tick(1, fake === fakes[1] ? { error: "no space left on device" } : {}));
		settleAll(fakes);
		expect((await ended).error).toBe(
			"client 1 (process 1): the results could not be written: no space left on device",
		);
	});

	test("without ever ending is ended, and named", async () => {
		fakeTimers();
		const { fakes, ended } = fleet({ clients: [{}, { generator: { started: obedient.started } }] });
		while (fakes.some(({ said }) => said.length === 0)) await turns(1);
		fakes[0]?.end(0);
		await turns();
		vi.advanceTimersByTime(24 * 3_600_000);
		const result = await ended;
		expect(result.brokeOff).toMatch(
			/^client 1 \(process 1\): k6 did not end within \d+s and was killed$/,
		);
		expect(fakes[1]?.log.filter((line) => !/fetch|put|remove/.test(line)).slice(0, 5)).toEqual([
			"start",
			expect.stringContaining("t0UnixNs"),
			"SIGINT",
			"abandon",
			"kill",
		]);
	});

	test("as nobody can have its CPUs leaves no other one running, and the command fails with that", async () => {
		const pin = failure("pin-impossible", { cpus: "9", reason: "no such CPU" });
		const { fakes, ended } = fleet({ clients: [{}, { fails: { start: pin } }, {}] });
		await expect(ended).rejects.toThrow(pin.message);
		expect(fakes.map(signals)).toEqual([1, 0, 0]);
	});
});

describe("Ctrl-C", () => {
	test("in mid-run gives each client one signal, keeps what all have, and is no error", async () => {
		const { fakes, ended, stop } = await begunFleet({
			clients: [{ leaves: ["client-0.hlog"] }, {}, {}],
		});
		for (const fake of fakes) fake.tell(tick(1));
		stop.abort("SIGINT");
		const result = await ended;
		expect(result).toMatchObject({ error: null, abortedBy: null });
		expect(fakes.map(signals)).toEqual([1, 1, 1]);
		for (const { log } of fakes) expect(log.join()).toMatch(/fetch client-\d\.hlog/);
	});

	test("while clients come up starts no more of them, and T0 is never handed out", async () => {
		const { fakes, ended, stop, kinds } = fleet({
			clients: [{ generator: { interrupted: obedient.interrupted } }, {}],
		});
		const [first, second] = fakes as [FakeClient, FakeClient];
		await expect.poll(() => first.log).toContain("start");
		stop.abort("SIGTERM");
		expect((await ended).error).toBeNull();
		expect(signals(first)).toBe(1);
		expect(second.log).not.toContain("start");
		expect(first.said).toEqual([]);
		expect(kinds()).toEqual([]);
	});

	test("ends a client that does not listen", async () => {
		fakeTimers();
		const { fakes, ended, stop } = fleet({
			clients: [{}, { generator: { started: obedient.started } }],
		});
		while (fakes.some(({ said }) => said.length === 0)) await turns(1);
		stop.abort("SIGINT");
		await turns();
		vi.advanceTimersByTime(29_900);
		expect(fakes[1]?.log).not.toContain("abandon");
		vi.advanceTimersByTime(200);
		expect(fakes[1]?.log).toContain("abandon");
		vi.advanceTimersByTime(20_000);
		expect((await ended).error).toBeNull();
	});
});

test("an SLA is judged by the counts of all clients together, and stops each with one signal", async () => {
	const { fakes, ended } = await begunFleet({
		hopeless: (line) => (line.mqbench === "tick" && line.failed > 5 ? "failed == 0" : null),
	});
	for (const fake of fakes) fake.tell(tick(1, { failed: 1 }));
	await turns();
	expect(fakes.map(signals)).toEqual([0, 0, 0]);
	for (const fake of fakes) fake.tell(tick(2, { failed: 2 }));
	expect(await ended).toMatchObject({ error: null, abortedBy: "failed == 0" });
	expect(fakes.map(signals)).toEqual([1, 1, 1]);
});

describe("the leader", () => {
	const answering = (answer: object): Partial<FakeOptions> => ({
		generator: {
			...obedient,
			said(line, self) {
				obedient.said(line, self);
				if ("ask" in line) self.tell({ mqbench: "leader", id: line.id, node: null, ...answer });
			},
		},
	});

	test("is asked of one client that runs", async () => {
		const { fakes, ended, leader } = await begunFleet({
			clients: [answering({ node: "mqbench-2" }), {}, {}],
		});
		expect(await leader()).toBe("mqbench-2");
		expect(await leader()).toBe("mqbench-2");
		expect(fakes.map(({ said }) => said.filter((one) => "ask" in one))).toEqual([
			[
				{ ask: "leader", id: 1 },
				{ ask: "leader", id: 2 },
			],
			[],
			[],
		]);
		settleAll(fakes);
		await ended;
		await expect(leader()).rejects.toThrow("no client is there");
	});

	test("that the broker does not tell is null; why it cannot be told is an error without the password", async () => {
		const { leader, ended, stop } = await begunFleet({ clients: [answering({}), {}] });
		expect(await leader()).toBeNull();
		stop.abort();
		await ended;
		const other = fleet({ clients: [answering({ error: "no answer of nats://a:b@host" }), {}] });
		await begun(other.fakes);
		await expect(other.leader()).rejects.toThrow("no answer of nats://***@host");
		other.stop.abort();
		await other.ended;
	});
});

describe("a payload file", () => {
	test("is brought to clients elsewhere under a name of its own, and does not stay", async () => {
		const file = path.join(testFolder(), "bodies.bin");
		writeFileSync(file, "text");
		const plan = {
			...roundTrip,
			message: { ...roundTrip.message, payload: "file" as const, file },
		};
		const { fakes, ended, folder } = await begunFleet({
			plan,
			clients: [{}, { kind: "ssh", name: "far" }],
		});
		expect(readFileSync(path.join(folder, "payload"), "utf8")).toBe("text");
		const [here, far] = fakes as [FakeClient, FakeClient];
		expect(here.log).not.toContain("put payload");
		expect(here.command()?.env).not.toHaveProperty("MQBENCH_PAYLOAD_FILE");
		expect(far.log).toContain("put payload");
		expect(far.command()?.env).toMatchObject({ MQBENCH_PAYLOAD_FILE: "payload" });
		settleAll(fakes);
		await ended;
		expect(existsSync(path.join(folder, "payload"))).toBe(false);
	});

	test("that is gone is an error of those that should have had it", async () => {
		const plan = {
			...roundTrip,
			message: { ...roundTrip.message, payload: "file" as const, file: "/nowhere/bodies.bin" },
		};
		const { fakes, ended } = fleet({ plan, clients: [{}, { kind: "ssh", name: "far" }] });
		expect((await ended).error).toBe("client 1 (far): /nowhere/bodies.bin: there is no such file");
		for (const { log } of fakes) expect(log).not.toContain("start");
	});
});

test("what processes here use is sampled for all clients, or for none", async () => {
	const generators = async (clients: readonly FakeOptions[]) => {
		const { folder } = await wholeRun({ clients });
		const asked = readFileSync(path.join(folder, "resources.jsonl"), "utf8").trim().split("\n");
		return new Set(asked.map((line) => JSON.parse(line).generator.length));
	};
	// Subtle: the first sample is taken before the second client starts.
	expect(await generators([{}, {}])).toEqual(new Set([1, 2]));
	expect(await generators([{}, { kind: "ssh" }])).toEqual(new Set([0]));
});

describe("a warm-up until steady", () => {
	const until = planOn("pattern: round-trip, warmup: steady", 1);
	const alone = { plan: until, clients: [{}] };

	test("ends when the coordinator names a second ahead, once, and tells it", async () => {
		const { fakes, told } = fleet(alone);
		const [one] = fakes as [FakeClient];
		await expect.poll(() => one.log.includes("start")).toBe(true);
		for (let at = 1; at <= 11; at++) one.tell(tick(at, { p50: 1e6 }));
		expect(one.said).toEqual([]);
		for (let at = 12; at <= 20; at++) one.tell(tick(at, { p50: 1e6 }));
		expect(one.said).toEqual([{ openNs: 14e9 }]);
		expect(told.filter(({ mqbench }) => mqbench === "opens")).toEqual([
			{ mqbench: "opens", startNs: 14e9 },
		]);
		one.end(0);
	});

	test("is left to the plan where latency has a trend", async () => {
		const { fakes } = fleet(alone);
		const [one] = fakes as [FakeClient];
		await expect.poll(() => one.log.includes("start")).toBe(true);
		for (let at = 1; at <= 60; at++) one.tell(tick(at, { p50: 1e6 * 0.9 ** at }));
		expect(one.said).toEqual([]);
		one.end(0);
	});
});

/** Runs loads at the same time. */
function together(
	made: readonly (readonly [Plan, readonly FakeClient[]])[],
	stop = new AbortController().signal,
	onProgress: (line: ProgressEvent) => string | null = () => null,
) {
	const all = made.map(([plan, clients]) => makeFleet(plan, clients, stop, onProgress));
	const ended = runTogether(all.map(({ fleet }) => fleet));
	return { folders: all.map(({ folder }) => folder), ended };
}

describe("several loads of one run", () => {
	const [main, bulk] = plansOf(`system: nats
workload: { rate: 300/s, message: 256B, duration: 5s, warmup: 1s }
background: { bulk: { rate: 10/s, message: 1KiB, start: 2s } }
`) as [Plan, Plan];

	function loads(
		options: readonly FakeOptions[] = [{}, {}],
		hopeless: (line: ProgressEvent) => string | null = () => null,
	) {
		const stop = new AbortController();
		const fakes = options.map((one, i) => fakeClient(i, { generator: obedient, ...one }));
		const [a, b] = fakes as [FakeClient, FakeClient];
		const made = [[main, [a]] as const, [bulk, [b]] as const];
		return { fakes: [a, b] as const, stop, ...together(made, stop.signal, hopeless) };
	}
	const saidTo = ({ said }: FakeClient, key: string) => said.filter((line) => key in line);

	test("get one T0 when all are ready; one that starts later gets it so much later", async () => {
		const { fakes, ended } = loads([{}, { generator: { ...obedient, started() {} } }]);
		const [first, second] = fakes;
		await expect.poll(() => second.log).toContain("start");
		await turns();
		expect(saidTo(first, "t0UnixNs")).toEqual([]);
		second.tell({ mqbench: "ready" });
		await begun(fakes);
		const [t0] = saidTo(first, "t0UnixNs") as [{ t0UnixNs: string }];
		expect(saidTo(second, "t0UnixNs")).toEqual([
			{ t0UnixNs: String(BigInt(t0.t0UnixNs) + 3_000_000_000n) },
		]);
		settleAll(fakes);
		for (const { error, brokeOff } of await ended)
			expect({ error, brokeOff }).toEqual({ error: null, brokeOff: null });
	});

	test("leave when all are settled, the main load last, and have their files in their own folders", async () => {
		const leaves = ["client-0.hlog", "client-0.jsonl"];
		const { fakes, folders, ended } = loads([{ leaves }, { leaves }]);
		const [first, second] = fakes;
		await begun(fakes);
		second.tell({ mqbench: "settled" });
		await turns();
		expect(fakes.map((fake) => saidTo(fake, "finish"))).toEqual([[], []]);
		first.tell({ mqbench: "settled" });
		await expect.poll(() => saidTo(second, "finish")).toHaveLength(1);
		await ended;
		expect(saidTo(first, "finish")).toHaveLength(1);
		for (const folder of folders)
			for (const name of leaves) expect(existsSync(path.join(folder, name))).toBe(true);
	});

	test("start once the main load is ready, which makes what others may read", async () => {
		const { fakes, ended } = loads([{ generator: { ...obedient, started() {} } }, {}]);
		const [first, second] = fakes;
		await expect.poll(() => first.log).toContain("start");
		await turns();
		expect(second.log).not.toContain("start");
		first.tell({ mqbench: "ready" });
		await begun(fakes);
		settleAll(fakes);
		await ended;
	});

	test.each([
		[0, "the main load"],
		[1, "the load bulk"],
	])("end together when load %i breaks off, and each says why", async (broken, name) => {
		const { fakes, ended } = loads();
		await begun(fakes);
		fakes[broken]?.end(1);
		const results = await ended;
		const why = `client 0 (process ${broken}): k6 ended with exit code 1: it said nothing`;
		expect(results[broken]?.error).toBe(why);
		expect(results[1 - broken]?.error).toBe(`${name} beside it broke off: ${why}`);
		expect(signals(fakes[1 - broken] as FakeClient)).toBe(1);
	});

	test("end together before T0 when one cannot be made", async () => {
		const { fakes, ended } = loads([{}, { fails: { put: new Error("no space") } }]);
		const results = await ended;
		expect(results.map(({ error }) => error)).toEqual([
			"the load bulk beside it broke off: client 0 (process 1): no space",
			"client 0 (process 1): no space",
		]);
		expect(saidTo(fakes[0], "t0UnixNs")).toEqual([]);
	});

	test("are all stopped by an SLA line of one that cannot be met any more", async () => {
		const { fakes, ended } = loads([{}, {}], (line) =>
			line.mqbench === "tick" ? "p99 < 1ms" : null,
		);
		await begun(fakes);
		fakes[1].tell(tick(1));
		for (const { abortedBy, error } of await ended)
			expect({ abortedBy, error }).toEqual({ abortedBy: "p99 < 1ms", error: null });
	});

	test("are all stopped by Ctrl-C", async () => {
		const { fakes, ended, stop } = loads();
		await begun(fakes);
		stop.abort("SIGINT");
		for (const { error } of await ended) expect(error).toBeNull();
		expect(fakes.map(signals)).toEqual([1, 1]);
	});

	test("count as generators in each other's samples", async () => {
		const { fakes, folders, ended } = loads();
		await begun(fakes);
		settleAll(fakes);
		await ended;
		for (const folder of folders)
			expect(readFileSync(path.join(folder, "resources.jsonl"), "utf8")).toContain(
				'{"generator":[1000000,1000001],"broker":[77]}',
			);
	});
});

test("a catch-up has the main load's T0, one client, and closes when it has what the main load's clients have sent", async () => {
	const [main, replay] = plansOf(`system: { broker: nats, mode: jetstream }
clients: 2
workload: { rate: 300/s, message: 256B, duration: 5s, warmup: 1s, connections: 2 }
background: { replay: { pattern: catch-up, start: 2s } }
`) as [Plan, Plan];
	const fakes = [0, 1, 0].map((index) => fakeClient(index, { generator: obedient }));
	const [a, b, reader] = fakes as [FakeClient, FakeClient, FakeClient];
	const { ended } = together([
		[main, [a, b]],
		// Those of the main load, of which it takes the first.
		[replay, [reader, b]],
	]);
	await begun(fakes);
	const t0 = fakes.map(({ said }) => said.find((line) => "t0UnixNs" in line));
	expect(t0[2]).toEqual(t0[0]);
	expect(b.log.filter((line) => line === "start")).toHaveLength(1);
	const second = (at: number, read: number) => {
		a.tell(tick(at, { crossing: counts({ sent: 900, acked: 900, received: 900 }) }));
		b.tell(tick(at, { crossing: counts({ sent: 900, acked: 899, failed: 1, received: 899 }) }));
		reader.tell(tick(at, { crossing: counts({ sent: 0, acked: 0, received: read }) }));
	};
	const closes = ({ said }: FakeClient) => said.filter((line) => "close" in line).length;
	second(7, 1500);
	second(8, 1500);
	expect(fakes.map(closes)).toEqual([0, 0, 0]);
	second(9, 1799);
	second(10, 1799);
	expect(fakes.map(closes)).toEqual([0, 0, 1]);
	settleAll([a, b]);
	for (const { error } of await ended) expect(error).toBeNull();
});
