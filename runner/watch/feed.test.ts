import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Plan } from "../model/plan.ts";
import type { FaultDone } from "../model/run-file.ts";
import { caseFigures } from "../report/charts/rate-figure.ts";
import { fixtureResult } from "../report/stored.fake.ts";
import { intervalText, percentileValue } from "../report/words.ts";
import { fixture, fixtureCopy, runFoldersOf } from "../run/fixture.fake.ts";
import { runPath } from "../run/folder.ts";
import type { Tick } from "../run/live-figures.ts";
import { type LiveRun, liveRows } from "../run/live-lines.ts";
import { makeProgress } from "../run/progress.ts";
import { fakeWorld } from "../world.fake.ts";
import { makeFeed } from "./feed.ts";
import { after, emptyState, type WatchEvent } from "./state.ts";

function plansOf(folder: string): Plan[] {
	return runFoldersOf(folder).map((run) =>
		Plan.parse(JSON.parse(readFileSync(join(run, "plan.json"), "utf8"))),
	);
}

const [healthy] = plansOf(fixture("healthy"));
const [failover] = plansOf(fixture("failover"));
if (!healthy || !failover) throw new Error("no plans");

/** A feed, all that it has published, and the state that a page which was there from the start has by now. */
function fed({
	secrets = [],
	stop = new AbortController().signal,
}: {
	secrets?: string[];
	stop?: AbortSignal;
} = {}) {
	const of = { scenario: "orders", folder: "reports/1" };
	const events: WatchEvent[] = [];
	const world = fakeWorld({ stop });
	const feed = makeFeed({ ...of, secrets, publish: (event) => void events.push(event) }, world);
	const page = () => events.reduce(after, emptyState(of));
	return { feed, events, page, world };
}

const tick: Tick = {
	mqbench: "tick",
	at: 3,
	sent: 1000,
	received: 990,
	acked: null,
	inFlight: 4,
	held: 2,
	failed: 0,
	duplicated: 0,
	over: [],
	p50: 60_000,
	p99: 1_500_000,
	lagP99: null,
	windowLagP99: null,
};

const live = (plan: Plan, parts: Partial<LiveRun> = {}): LiveRun => ({
	plan,
	several: false,
	tick,
	p99s: [],
	sent: 3000,
	following: { runs: 0, ns: 0 },
	stopping: false,
	use: null,
	...parts,
});

describe("a second", () => {
	test("is shown with the numbers and the words of the terminal", () => {
		const { feed } = fed();
		feed.begin(healthy, "a title");
		const use = {
			generator: { cores: 0.4 },
			broker: null,
			machine: { busyCores: 1.25, stealCores: 0 },
		} as LiveRun["use"];
		const second = live(healthy, { use });
		feed.second(second);
		const { current } = feed.state();
		expect(current?.rows).toEqual(liveRows(second));
		expect(current?.seconds).toEqual([
			{
				at: 3,
				p50: 60_000,
				p99: 1_500_000,
				whose: "",
				rates: [
					["offered", 1000],
					["sent", 1000],
					["received", 990],
				],
				inFlight: 4,
				held: 2,
				cores: [
					["generator", 0.4],
					["machine", 1.25],
				],
			},
		]);
		const { warmupNs, durationNs } = healthy.schedule;
		expect(current?.done).toBe(3e9 / (warmupNs + durationNs));
	});

	test("of several clients says whose percentiles it has", () => {
		const { feed } = fed();
		feed.begin(healthy, "a title");
		const merged = { clients: 3, silent: [], fewest: 10 };
		feed.second(live(healthy, { tick: { ...tick, merged } }));
		expect(feed.state().current?.seconds[0]?.whose).toBe(" (worst of 3 clients)");
	});
});

describe("a run", () => {
	test("waits, is under way, and has verdict and figures of the report when it is over", () => {
		const folder = fixture("stall");
		const [plan] = plansOf(folder);
		const [run] = fixtureResult("stall").runs;
		if (!plan || !run) throw new Error("another fixture");
		const { feed } = fed();
		feed.expect(folder, [plan]);
		expect(feed.state().runs).toMatchObject([{ is: "waiting", judged: null }]);
		feed.begin(plan, "a title");
		expect(feed.state().runs).toMatchObject([{ is: "running", judged: null }]);
		feed.made(plan);
		const at = (p: number) => {
			const one = run.metrics.response?.percentiles.find((x) => x.p === p);
			if (!one) throw new Error("no percentile");
			return { value: percentileValue(one, run), interval: intervalText(one) };
		};
		expect(at(50)).toEqual({ value: "207us", interval: "[198us, 217us]" });
		expect(at(99).interval).toMatch(/^\[196ms, /);
		expect(feed.state().runs).toMatchObject([
			{
				is: "done",
				judged: {
					verdict: "fail",
					metric: "response",
					p50: at(50),
					p99: at(99),
					why: expect.stringContaining("p99 < "),
				},
			},
		]);
	});

	test.each(["healthy", "stall", "lag", "lost", "interrupted", "no-data", "clients"])(
		"of %s has the verdict of the report, and why",
		(name) => {
			const folder = fixture(name);
			const { feed } = fed();
			const plans = plansOf(folder);
			feed.expect(folder, plans);
			for (const plan of plans) feed.made(plan);
			expect(feed.state().runs.map(({ judged }) => judged?.verdict)).toEqual(
				fixtureResult(name).runs.map(({ verdict }) => verdict),
			);
			for (const { judged } of feed.state().runs)
				expect(judged?.why === null).toBe(judged?.verdict === "pass");
		},
	);

	test("whose files cannot be read is over without figures, and ends nothing", () => {
		const folder = fixtureCopy("healthy");
		const { feed } = fed();
		feed.expect(join(folder, "nowhere"), [healthy]);
		feed.made(healthy);
		expect(feed.state().runs).toMatchObject([{ is: "done", judged: null }]);
	});

	test("that searches or confirms is added as it comes, and a floor is none", () => {
		const { feed } = fed();
		const start = { ...healthy, index: 9, search: { role: "start", of: "x" } };
		feed.expect("", [healthy, Plan.parse(start)]);
		expect(feed.state().runs.map(({ index }) => index)).toEqual([healthy.index]);
		const probe = { ...start, index: 10, search: { role: "probe", of: "x" } };
		feed.begin(Plan.parse(probe), "a probe");
		expect(feed.state().current?.index).toBe(10);
		// It is numbered as the first run is.
		feed.begin({ ...healthy }, "the floor");
		expect(feed.state().current).toMatchObject({ index: null, title: "the floor", seconds: [] });
		expect(feed.state().runs.map(({ index, is }) => [index, is])).toEqual([
			[healthy.index, "waiting"],
			[10, "running"],
		]);
	});
});

test("pictures of cases are those of the report, of the runs that are over", () => {
	const folder = fixture("repeats");
	const plans = plansOf(folder);
	const { feed } = fed();
	feed.expect(folder, plans);
	const result = fixtureResult("repeats");
	for (const [i, plan] of plans.entries()) {
		feed.made(plan);
		const runs = result.runs.slice(0, i + 1);
		expect(feed.state().figures.map(({ lines }) => lines)).toEqual(
			caseFigures({ ...result, runs }).map(({ lines }) => lines),
		);
	}
});

test("the curve of a search grows with its probes, and is the report's when it has one", () => {
	const folder = fixtureCopy("healthy");
	const [first] = plansOf(folder);
	if (!first) throw new Error("no plan");
	const { feed } = fed();
	feed.expect(folder, []);
	const step = (role: "probe" | "curve", rate: number, index: number) => {
		const plan: Plan = {
			...first,
			index,
			search: { role, of: first.case },
			schedule: { ...first.schedule, rate: { messages: rate, perNs: 1e9 } },
		};
		cpSync(runFoldersOf(folder)[0] ?? "", runPath(folder, plan), { recursive: true });
		writeFileSync(join(runPath(folder, plan), "plan.json"), JSON.stringify(plan));
		feed.begin(plan, "a step");
		feed.made(plan);
		const [figure, ...others] = feed.state().figures;
		expect(others).toEqual([]);
		return figure?.lines[0]?.points.map(({ x }) => x);
	};
	// Of one rate there is no curve. Rates are close to the one that was measured, so that they pass.
	expect(step("probe", 1002, 11)).toBeUndefined();
	expect(step("probe", 1004, 12)).toEqual([1002, 1004]);
	expect(step("probe", 1003, 13)).toEqual([1002, 1003, 1004]);
	expect(step("curve", 1000, 14)).toEqual([1000, 1002, 1003, 1004]);
	const verdicts = feed.state().runs.map(({ judged }) => judged?.verdict);
	expect(verdicts).toEqual(["pass", "pass", "pass", "pass"]);
	// Of runs below the answer alone: probes may have failed by accident.
	expect(step("curve", 1001, 15)).toEqual([1000, 1001]);
});

test("faults are drawn as they are planned, then as they are done, and are in the log", () => {
	const { feed } = fed();
	const startS = failover.schedule.warmupNs / 1e9;
	const [planned] = failover.faults;
	if (!planned || planned.forNs === null) throw new Error("another fixture");
	const plan = { ...failover, faults: [planned] };
	feed.begin(plan, "a title");
	const marks = () =>
		feed.state().current?.frame.marks.filter(({ from, to }) => to > from && from >= 0);
	expect(marks()).toEqual([
		{
			from: planned.atNs / 1e9 - startS,
			to: (planned.atNs + planned.forNs) / 1e9 - startS,
			text: expect.stringMatching(/ \(planned\)$/),
		},
	]);
	const fault: FaultDone = {
		action: "kill",
		node: 2,
		leader: true,
		calledNs: 14e9,
		beganNs: 14e9,
		endedNs: null,
		delayNs: null,
		error: null,
		runOver: false,
	};
	feed.fault(plan, 0, fault);
	expect(marks()?.[0]?.from).toBe(14 - startS);
	feed.fault(plan, 0, { ...fault, endedNs: 16.5e9 });
	expect(marks()).toEqual([
		{ from: 14 - startS, to: 16.5 - startS, text: "kill of node 2 (the leader) for 2.5s" },
	]);
	expect(feed.state().log.map(({ text }) => text)).toEqual([
		"Fault: kill of node 2 (the leader) is in effect",
		`Fault: node 2 (the leader) was killed ${14 - startS}s into the measured part, and was ready again 2.5s later`,
	]);
	feed.fault(plan, 0, { ...fault, error: "nobody leads" });
	expect(marks()).toEqual([]);
	expect(feed.state().log.at(-1)?.text).toContain("went wrong: nobody leads");
});

test("a warm-up until steady ends when that is said, for the axis of the picture too", () => {
	const { feed } = fed();
	const steady = { minNs: 5e9, maxNs: 30e9 };
	const schedule = { ...healthy.schedule, warmupNs: 30e9, steady };
	feed.begin({ ...healthy, schedule } as unknown as Plan, "a title");
	expect(feed.state().current?.frame).toMatchObject({ startS: 30, from: -30 });
	feed.opens(9e9);
	expect(feed.state().current?.frame).toMatchObject({ startS: 9, from: -9 });
});

describe("what the page is told", () => {
	test("holds no password, wherever it came from", () => {
		const { feed, events } = fed({ secrets: ["hunter2-of-orders"] });
		const url = "nats://me:swordfish@10.0.0.1";
		feed.say(`cannot reach ${url}: hunter2-of-orders is wrong`);
		feed.begin(
			{ ...healthy, case: url, sla: [{ ...healthy.sla[0], text: `p99 ${url}` }] } as Plan,
			`run ${url}`,
		);
		feed.second(live(healthy, { tick: { ...tick, error: `EIO ${url}` } }));
		feed.status(`building hunter2-of-orders`);
		feed.ended(`${url} is gone`);
		const all = JSON.stringify([events, feed.state()]);
		expect(all).not.toMatch(/swordfish|hunter2/);
		expect(all).toContain("cannot reach nats://***@10.0.0.1: *** is wrong");
		expect(all).toContain("CANNOT WRITE RESULTS: EIO nats://***@10.0.0.1");
	});

	test("is the same for who is there from the start and for who comes late", () => {
		const folder = fixture("repeats");
		const plans = plansOf(folder);
		const { feed, page, events } = fed();
		feed.status("packages 1/2");
		feed.status(null);
		feed.expect(folder, plans);
		for (const plan of plans.slice(0, 2)) {
			feed.begin(plan, `run ${plan.index}`);
			feed.say("a warning");
			for (const at of [1, 2, 3]) feed.second(live(plan, { tick: { ...tick, at } }));
			feed.made(plan);
		}
		expect(events.length).toBeGreaterThan(15);
		expect(page()).toEqual(feed.state());
		// As it is sent.
		expect(JSON.parse(JSON.stringify(feed.state()))).toEqual(page());
	});

	test("says that the command stops, whoever has stopped it", () => {
		const stop = new AbortController();
		const { feed, page } = fed({ stop: stop.signal });
		expect(feed.state().stopping).toBe(false);
		stop.abort("SIGTERM");
		expect(page().stopping).toBe(true);
		expect(fed({ stop: stop.signal }).feed.state().stopping).toBe(true);
	});

	test("is at most one event a second while a run goes on", () => {
		const { feed, events, world } = fed();
		const progress = makeProgress(world, true, feed);
		progress.expect([healthy]);
		progress.run(healthy, 1);
		const before = events.length;
		for (let at = 1; at <= 60; at++) progress.tick(healthy, { ...tick, at });
		expect(events.length - before).toBe(60);
	});
});

test("what is said to the terminal is said once, there and on the page", () => {
	const { feed, world } = fed();
	makeProgress(world, false, feed);
	feed.toTerminal("stopped from here");
	expect(world.err()).toBe("stopped from here\n");
	expect(feed.state().log.map(({ text }) => text)).toEqual(["stopped from here"]);
});
