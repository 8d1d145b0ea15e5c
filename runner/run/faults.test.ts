import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { Disturbance } from "../../infra/rig.ts";
import type { Plan } from "../model/plan.ts";
import { FaultDone } from "../model/run-file.ts";
import { faultsOf, sinceT0 } from "./faults.ts";

type Planned = Plan["faults"][number];
const fault = (parts: Partial<Planned>): Planned => ({
	atNs: 0,
	of: "brokers",
	count: null,
	action: "pause",
	forNs: null,
	node: null,
	delayNs: null,
	...parts,
});
const pause = (atNs: number, forNs: number, node: Planned["node"] = null) =>
	fault({ atNs, forNs, node });

const REAL = { nowMs: Date.now, monotonicMs: () => performance.now() };

function begun(disturb: Parameters<typeof faultsOf>[1]["disturb"], ...faults: Planned[]) {
	const running = faultsOf({ faults }, { disturb, nodeOf: () => null }, REAL, nobodyAsks);
	running.begin(Date.now());
	return running;
}

type Ask = Parameters<typeof faultsOf>[3];
const nobodyAsks: Ask = async () => {
	throw new Error("nobody was to ask for the leader");
};

/** A broker of three nodes that records what is done to it; `refuse`: actions that it cannot do. */
function recording(refuse: (what: string) => string | null = () => null, leader = nobodyAsks) {
	const done: string[] = [];
	const act = async (what: string) => {
		const why = refuse(what);
		if (why !== null) throw new Error(why);
		done.push(what);
	};
	return {
		done,
		start(...faults: Planned[]) {
			const running = faultsOf(
				{ faults },
				{
					async disturb({ action, node }: Disturbance) {
						const whom = `${action} ${node ?? "all"}`;
						await act(whom);
						return () => act(`${whom} back`);
					},
					nodeOf: (name) => Number(/^mqbench-([123])$/.exec(name)?.[1]) || null,
				},
				REAL,
				leader,
			);
			running.begin(Date.now());
			return running;
		},
	};
}

async function carriedOut(
	faults: Planned[],
	{ done, start }: ReturnType<typeof recording>,
	things: number,
): Promise<FaultDone[]> {
	const running = start(...faults);
	await expect.poll(() => done.length).toBe(things);
	// The last thing is recorded just after it happens.
	await sleep(5);
	return (await running.end()).map((one) => FaultDone.parse(one));
}

test("a broker is paused and goes on again, and when is measured", async () => {
	const broker = recording();
	const [one, ...rest] = await carriedOut([pause(20e6, 30e6)], broker, 2);
	expect(broker.done).toEqual(["pause all", "pause all back"]);
	expect(rest).toEqual([]);
	expect(one).toMatchObject({
		action: "pause",
		node: null,
		leader: false,
		delayNs: null,
		error: null,
	});
	// Timers are late, never early by more than the clock's own millisecond.
	expect(one?.calledNs).toBeGreaterThanOrEqual(18e6);
	expect(one?.beganNs).toBeGreaterThanOrEqual(one?.calledNs ?? 0);
	// Counted from the call: carrying it out is part of it.
	expect((one?.endedNs ?? 0) - (one?.calledNs ?? 0)).toBeGreaterThanOrEqual(25e6);
});

test("faults are told in the order of time", async () => {
	const broker = recording();
	const told = await carriedOut([pause(40e6, 10e6, 2), pause(0, 10e6, 1)], broker, 4);
	expect(told.map(({ node }) => node)).toEqual([1, 2]);
});

describe("the time of a fault", () => {
	/** Each slow disturb and return moves the clock on by 100 ms; the wall clock is set to `wallMs` in between. */
	async function slow(action: Planned["action"], wallMs = 0) {
		let ms = 7000;
		let wall = 0;
		const done: string[] = [];
		const running = faultsOf(
			{ faults: [fault({ action, forNs: 0 })] },
			{
				async disturb() {
					ms += 100;
					wall = wallMs;
					return async () => {
						ms += 100;
						done.push("back");
					};
				},
				nodeOf: () => null,
			},
			{ nowMs: () => 1000 + ms - 7000 + wall, monotonicMs: () => ms },
			nobodyAsks,
		);
		running.begin(1000);
		await expect.poll(() => done).toEqual(["back"]);
		await sleep(5);
		return (await running.end())[0];
	}

	test.each(["pause", "partition", "latency"] as const)(
		"of %s is when it has taken effect",
		async (action) => {
			expect(await slow(action)).toMatchObject({ calledNs: 0, beganNs: 100e6, endedNs: 200e6 });
		},
	);

	test("is not moved by who sets the wall clock during the run", async () => {
		expect(await slow("pause", 3_600_000)).toMatchObject({
			calledNs: 0,
			beganNs: 100e6,
			endedNs: 200e6,
		});
	});

	test.each(["kill", "restart"] as const)(
		"of %s is when the process was told: all that follows is its fault's",
		async (action) => {
			expect(await slow(action)).toMatchObject({ calledNs: 0, beganNs: 0, endedNs: 200e6 });
		},
	);
});

test("a kill without an end is never taken back", async () => {
	const broker = recording();
	const [one] = await carriedOut([fault({ action: "kill", node: 2, forNs: null })], broker, 1);
	expect(broker.done).toEqual(["kill 2"]);
	expect(one).toMatchObject({ node: 2, endedNs: null, error: null });
});

describe("the leader", () => {
	const leader = (ask: Ask) => recording(undefined, ask);
	const kill = fault({ action: "kill", node: "leader", forNs: 1e6 });

	test("is asked for at that moment, and is a node of ours", async () => {
		const names = ["mqbench-3", "mqbench-1"];
		const broker = leader(async () => names.shift() ?? null);
		const told = await carriedOut([kill, { ...kill, atNs: 500e6 }], broker, 4);
		expect(broker.done).toEqual(["kill 3", "kill 3 back", "kill 1", "kill 1 back"]);
		expect(told).toMatchObject([
			{ node: 3, leader: true, error: null },
			{ node: 1, leader: true, error: null },
		]);
	});

	test.each<[string, Ask, RegExp]>([
		["that nobody names", async () => null, /does not say which node leads the first topic/],
		["that is none of ours", async () => "kafka-9", /led by kafka-9, which is none of the nodes/],
		[
			"that cannot be asked for",
			async () => {
				throw new Error("no route to nats://me:secret@host:4222");
			},
			/^no route to nats:\/\/(?!.*secret)/,
		],
	])("%s is not touched, and why is told", async (_, ask, why) => {
		const broker = leader(ask);
		const running = broker.start(kill);
		await sleep(30);
		const untouched = { leader: true, node: null, calledNs: null, runOver: false };
		const error = expect.stringMatching(why);
		expect(await running.end()).toMatchObject([{ ...untouched, error }]);
		expect(broker.done).toEqual([]);
	});

	test("that is never answered does not hold up the end of the run", async () => {
		const broker = leader(() => new Promise(() => {}));
		const running = broker.start(kill);
		await sleep(20);
		const untouched = { action: "kill", leader: true, node: null, calledNs: null, runOver: true };
		const error = "the run was over before it was done";
		expect(await running.end()).toMatchObject([{ ...untouched, error }]);
	});
});

describe("what goes wrong is told", () => {
	test("when it cannot be done", async () => {
		const broker = recording((what) => (what === "pause 2" ? "node 2 is down already" : null));
		const running = broker.start(pause(0, 1e6, 2));
		await sleep(30);
		expect(await running.end()).toMatchObject([
			{ node: 2, endedNs: null, error: "node 2 is down already" },
		]);
	});

	test("when it cannot be taken back", async () => {
		const asked: string[] = [];
		const broker = recording((what) => {
			asked.push(what);
			return what === "kill 2 back" ? "node 2 was started again and ended" : null;
		});
		const running = broker.start(fault({ action: "kill", node: 2, forNs: 1e6 }));
		await expect.poll(() => asked).toContain("kill 2 back");
		expect(await running.end()).toMatchObject([
			{ node: 2, endedNs: null, error: "node 2 was started again and ended" },
		]);
	});
});

describe("a run that ends early", () => {
	test("leaves no broker paused: the pause lasted to its end", async () => {
		const broker = recording();
		const running = broker.start(pause(0, 60e9));
		await expect.poll(() => broker.done).toEqual(["pause all"]);
		expect(await running.end()).toMatchObject([{ endedNs: null, error: null }]);
		expect(broker.done).toEqual(["pause all", "pause all back"]);
	});

	test("leaves a node down that goes with its broker", async () => {
		const broker = recording();
		const running = broker.start(fault({ action: "kill", node: 1, forNs: 60e9 }));
		await expect.poll(() => broker.done).toEqual(["kill 1"]);
		expect(await running.end()).toMatchObject([{ endedNs: null, error: null }]);
		expect(broker.done).toEqual(["kill 1"]);
	});

	test("does not wait for a node that comes up again, and makes no failure of it", async () => {
		let end = (_: Error) => {};
		const back = () =>
			new Promise<void>((_, reject) => {
				end = reject;
			});
		const running = begun(async () => back, fault({ action: "kill", node: 1, forNs: 0 }));
		await sleep(20);
		expect(await running.end()).toMatchObject([{ endedNs: null, error: null }]);
		end(new Error("the run is over"));
	});

	test("tells of what failed after its end, too: it was not done", async () => {
		let fail = (_: Error) => {};
		const never = () =>
			new Promise<never>((_, reject) => {
				fail = reject;
			});
		const running = begun(never, pause(0, 1e6, 2));
		await sleep(20);
		const ended = running.end();
		fail(new Error("there is no such container"));
		expect(await ended).toMatchObject([
			{
				action: "pause",
				node: 2,
				endedNs: null,
				error: "the run was over before it was done: there is no such container",
				runOver: true,
			},
		]);
	});

	test("has no fault whose time did not come", async () => {
		const broker = recording();
		const running = broker.start(pause(60e9, 1e9));
		expect(await running.end()).toEqual([]);
		expect(broker.done).toEqual([]);
	});

	test("before T0 has no fault at all", async () => {
		const broker = { disturb: nobodyAsks, nodeOf: () => null } as never;
		const running = faultsOf({ faults: [pause(0, 1e6)] }, broker, REAL, nobodyAsks);
		expect(await running.end()).toEqual([]);
	});
});

test("T0 is told by the wall clock, which is read once: who sets it later moves nothing", () => {
	const now = { wallMs: 1_800_000_000_250, monotonicMs: 7000 };
	const since = sinceT0(1_800_000_000_000, {
		nowMs: () => now.wallMs,
		monotonicMs: () => now.monotonicMs,
	});
	expect(since()).toBe(250);
	now.monotonicMs += 100;
	now.wallMs -= 3_600_000;
	expect(since()).toBe(350);
});
