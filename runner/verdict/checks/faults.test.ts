import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { built, type Fate, planOf, steady } from "../../evidence/built.fake.ts";
import { collect } from "../../evidence/collect.ts";
import { firstRun } from "../../evidence/fixture.fake.ts";
import type { Plan } from "../../model/plan.ts";
import type { FaultDone, RunFileInput } from "../../model/run-file.ts";
import { parseSla } from "../../scenario/sla.ts";
import { factsOf, UNKNOWN } from "../facts.ts";
import { faultName } from "../faults.ts";
import { killed as fault } from "../judged.fake.ts";
import { judgeRun } from "../run.ts";
import { faults } from "./run.ts";

const MS = 1e6;
const S = 1e9;

const planned: Plan["faults"] = [
	{ atNs: 6 * S, action: "kill", forNs: 2 * S, node: "leader", delayNs: null },
	{ atNs: 9 * S, action: "pause", forNs: S, node: null, delayNs: null },
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
function judged(
	run: Partial<RunFileInput>,
	{
		fate = () => ({}),
		faults = planned,
		reconnects = 0,
	}: { fate?: (dueNs: number) => Fate; faults?: Plan["faults"]; reconnects?: number } = {},
) {
	const plan = planOf({
		faults,
		schedule: steady(200, 1, 11),
		sla: [parseSla("p50 < 1s"), parseSla("lost == 0")] as never,
		limits: [{ metric: "response", limitNs: S }],
	});
	const fates = Array.from({ length: plan.schedule.messages }, (_, i): Fate => {
		const due = i * 5 * MS;
		return { receivedNs: [due + MS], ...fate(due) };
	});
	const folder = built(plan, fates, { run, reconnects });
	return judgeRun(factsOf(collect(firstRun(folder)), { ...UNKNOWN, clockSource: "tsc" }));
}
const check = (name: string, ...of: Parameters<typeof judged>) =>
	judged(...of).checks.find((c) => c.check === name);

describe("faults", () => {
	test("that were carried out decide nothing themselves", () => {
		const found = judged({ faults: [killed, paused] });
		expect(found.verdict).toBe("pass");
		expect(found.checks.find((c) => c.check === "faults")).toMatchObject({
			status: "ok",
			detail: "kill of node 2 (the leader), pause: carried out",
			figure: "2 of 2",
		});
	});

	test("that could not be carried out make the run INVALID: which one, and why", () => {
		expect(
			judged({ faults: [killed, { ...paused, endedNs: null, error: "the broker had ended" }] }),
		).toMatchObject({
			verdict: "invalid",
			why: "pause was not carried out as planned: the broker had ended",
		});
	});

	test.each([
		[[killed], "1 of 2 faults did not happen"],
		[[], "2 of 2 faults did not happen"],
		[undefined, "2 of 2 faults did not happen"],
	])("that never came to happen do, too (%#)", (faults, why) => {
		expect(judged(faults ? { faults } : {})).toMatchObject({ verdict: "invalid", why });
	});

	test("that the end of a run was faster than were not carried out, unless somebody stopped it", () => {
		const late = {
			...killed,
			node: null,
			endedNs: null,
			error: "the run was over before it was done",
			runOver: true,
		};
		const run = { faults: [late, paused] };
		expect(judged(run).why).toBe(
			"kill of the leader was not carried out as planned: the run was over before it was done",
		);
		expect(check("faults", { ...run, abortedBy: "lost == 0" })).toMatchObject({
			status: "ok",
			detail: "pause: carried out",
			figure: "1 of 2",
		});
	});

	test("of a run that was stopped need not have happened", () => {
		const of = (faults: FaultDone[]) => check("faults", { faults, abortedBy: "lost == 0" });
		expect(of([killed])?.status).toBe("ok");
		expect(of([])).toMatchObject({
			status: "ok",
			detail: "the run was stopped before the first fault",
		});
	});

	test("of a run without run.json are not known", () => {
		const plan = planOf({ faults: planned, schedule: steady(200, 1, 11) });
		const folder = firstRun(built(plan, []));
		rmSync(join(folder, "run.json"));
		const found = faults.judge(factsOf(collect(folder), { ...UNKNOWN, clockSource: "tsc" }), []);
		expect(found.status).toBe("unknown");
	});

	test("that nobody asked for are not looked for", () => {
		expect(check("faults", {}, { faults: [] })).toBeUndefined();
	});

	test("make connections anew: that is no reason to look twice", () => {
		const faults = [killed, paused];
		expect(check("reconnects", { faults }, { reconnects: 3 })).toMatchObject({
			status: "ok",
			detail: "clients reconnected 3 times, in a run with faults",
		});
		expect(check("reconnects", {}, { reconnects: 3, faults: [] })?.status).toBe("warn");
	});

	test.each([
		[killed, "kill of node 2 (the leader)"],
		[paused, "pause"],
		[{ ...killed, leader: false }, "kill of node 2"],
		[{ ...killed, node: null }, "kill of the leader"],
		[
			{ ...killed, action: "latency", delayNs: 50 * MS, leader: false } as const,
			"latency of 50ms of node 2",
		],
	])("have a name (%#)", (fault, name) => {
		expect(faultName(fault)).toBe(name);
	});
});

describe("a queue that grew", () => {
	// From 8 s on messages wait until 12.5 s, after the window: the last third is full of them.
	const held = (due: number): Fate => (due >= 8 * S ? { receivedNs: [12.5 * S] } : {});

	test("fails a run to which nothing was done", () => {
		expect(check("backlog", {}, { fate: held, faults: [] })?.status).toBe("fail");
	});

	test("in a fault alone does not: the rate is carried without it", () => {
		const at = { ...killed, beganNs: 8 * S, endedNs: 12 * S };
		// Known to have taken effect four seconds after the broker was told: what piled up meanwhile is the fault's.
		const late = { ...at, calledNs: 8 * S, beganNs: 11.9 * S };
		for (const fault of [at, late]) {
			const found = check("backlog", { faults: [fault] }, { fate: held });
			expect(found?.status).toBe("ok");
			expect(found?.detail).toMatch(
				/^outside of faults and stops of the load generator the queue did not grow/,
			);
		}
	});

	test("outside of it, too, does", () => {
		// It grows all the time, by a message every 20 ms, and more in the fault.
		const slow = (due: number): Fate => ({
			receivedNs: [
				due + MS + Math.round(Math.max(0, due - S) * 0.3) + (due >= 6 * S && due < 7 * S ? S : 0),
			],
		});
		const at = { ...killed, beganNs: 6 * S, endedNs: 6.5 * S };
		expect(check("backlog", { faults: [at] }, { fate: slow })?.status).toBe("fail");
	});
});
