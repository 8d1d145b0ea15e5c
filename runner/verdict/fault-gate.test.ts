import { describe, expect, test } from "vitest";
import { built, type Fate, planOf, steady } from "../evidence/built.fake.ts";
import { collect } from "../evidence/collect.ts";
import { firstRun } from "../evidence/fixture.fake.ts";
import type { FaultDone } from "../model/run-file.ts";
import { limits } from "../plan/expand.ts";
import { parseSla } from "../scenario/sla.ts";
import { killed as fault } from "./judged.fake.ts";
import { judgeTally } from "./tally.ts";

const MS = 1e6;
const S = 1e9;

const killed = (atS: number, node: number) =>
	fault({ node, leader: false, calledNs: atS * S, beganNs: atS * S, endedNs: atS * S + 100 * MS });

const holdsIn = (text: string) =>
	text.split(" ").flatMap((one) => {
		const [from, to] = one.split("-").map(Number);
		return to === undefined ? [] : [[from ?? 0, to] as const];
	});

/** 200/s for 9 s after 1 s of warm-up, 1 ms each but for what the broker holds. */
function run(
	/** Seconds since T0, "from-to", in which the broker stands still; it then has everything at once. */
	text: string,
	{
		faults = holdsIn(text).map(([from], i) => killed(from, i + 1)),
		acks = true,
		sla = ["recovered(p99 < 20ms) < 1s"],
	}: { faults?: FaultDone[]; acks?: boolean; sla?: string[] } = {},
) {
	const lines = sla.map(parseSla);
	const plan = planOf({
		acks,
		schedule: steady(200, 1, 9),
		sla: lines,
		limits: limits(lines),
		faults: faults.map(({ beganNs }) => ({
			atNs: beganNs,
			action: "kill",
			forNs: 100 * MS,
			node: 1,
			delayNs: null,
		})),
	});
	const fates = Array.from({ length: plan.schedule.messages }, (_, i): Fate => {
		const due = i * 5 * MS;
		const hold = holdsIn(text).find(([from, to]) => due >= from * S - MS && due < to * S);
		const at = hold ? hold[1] * S : due + MS;
		return { ackedNs: acks ? at : null, receivedNs: [at] };
	});
	return collect(firstRun(built(plan, fates, { run: { faults } })));
}

type Collected = ReturnType<typeof collect>;

function judge(collected: Collected, text: string) {
	const until = text.startsWith("recovered") && !text.includes("(");
	const sla = parseSla(until ? text.replace("recovered", "recovered(p99 < 20ms)") : text);
	if (sla.kind !== "tally") throw new Error(text);
	return judgeTally(sla, collected);
}

describe("an outage of 700 ms at a constant rate, with a limit of 20 ms", () => {
	const outage = () => run("5-5.7");

	// Nothing completes for 0.70 s, by pieces of 10 ms; the last message over 20 ms is due after 0.68 s, by pieces of 100 ms; the queue is
	// seen to be as before at 0.8 s, and was not at 0.7 s.
	test.each([
		["unavailable < 800ms", "pass"],
		["unavailable <= 720ms", "pass"],
		["unavailable < 710ms", "inconclusive"],
		["unavailable < 650ms", "fail"],
		["recovered <= 700ms", "pass"],
		["recovered < 680ms", "inconclusive"],
		["recovered < 600ms", "fail"],
		["drained <= 800ms", "pass"],
		["drained < 750ms", "inconclusive"],
		["drained < 700ms", "fail"],
	])("%s is %s", (sla, verdict) => {
		expect(judge(outage(), sla).verdict).toBe(verdict);
	});

	test.each([
		["unavailable < 650ms", "700ms", 700 * MS, "unavailable for 700ms"],
		["recovered < 600ms", "700ms", 700 * MS, "recovered (p99 < 20ms) after 700ms"],
		["drained < 700ms", "800ms", 800 * MS, "drained after 800ms"],
	])("%s says what was measured, and of which fault", (sla, measured, value, text) => {
		const limitNs = parseSla(sla);
		const judged = judge(outage(), sla);
		expect(judged).toMatchObject({
			verdict: "fail",
			measured,
			beyondNs: null,
			tally: { value, limit: "limit" in limitNs ? limitNs.limit : null, unit: "ns" },
		});
		expect(judged.why).toContain(
			`kill of node 1 4s after the window opened: ${text}; the SLA asks for less than`,
		);
	});

	test("is told by receipts where nothing is acknowledged", () => {
		expect(judge(run("5-5.7", { acks: false }), "unavailable < 1s").why).toBe(
			"kill of node 1 4s after the window opened: unavailable for 700ms",
		);
	});

	test("breaks a latency for as long as that is above its limit", () => {
		const slack = run("5-5.7", { sla: ["recovered(max < 500ms) < 1s"] });
		// Messages due in the first 0.2 s took longer than 0.5 s.
		expect(judge(slack, "recovered(max < 500ms) <= 200ms")).toMatchObject({
			verdict: "pass",
			measured: "200ms",
		});
	});
});

describe("a fault that nobody notices", () => {
	const calm = () => run("", { faults: [killed(5, 1)] });

	test.each([
		["unavailable < 100ms", "never unavailable for 50ms or longer"],
		["recovered < 100ms", "recovered (p99 < 20ms) at once"],
		["drained < 100ms", "drained at once"],
	])("passes %s", (sla, text) => {
		const judged = judge(calm(), sla);
		expect(judged).toMatchObject({ verdict: "pass", measured: "0s" });
		expect(judged.tally?.value).toBe(0);
		expect(judged.why).toContain(text);
	});

	test("passes no limit below what would have been noticed", () => {
		// Standing for 0.2 s before the fault: only five times that would be the fault's.
		const rough = run("3-3.2 5-5.9", { faults: [killed(5, 1)] });
		const judged = judge(rough, "unavailable < 900ms");
		expect(judged).toMatchObject({ verdict: "inconclusive", measured: "0s" });
		expect(judged.why).toContain(
			"never unavailable for 1.01s or longer; whether that keeps the limit of 900ms is open",
		);
		expect(judge(rough, "unavailable < 2s").verdict).toBe("pass");
	});
});

describe("what has not ended when the window closes", () => {
	// From 5 s on, of a window until 10 s.
	const open = () => run("5-60");

	test.each([
		["recovered < 5s", "fail"],
		["recovered <= 5s", "fail"],
		["recovered < 6s", "inconclusive"],
		["drained < 4s", "fail"],
		["drained < 6s", "inconclusive"],
	])("%s is %s, with how long that was at least", (sla, verdict) => {
		const judged = judge(open(), sla);
		expect(judged).toMatchObject({ verdict, measured: "> 5s", beyondNs: 5 * S });
		expect(judged.tally?.value).toBeNull();
		expect(judged.why).toContain("within 5s; ");
	});
});

describe("of several faults", () => {
	const two = () => run("3-3.3 6-6.9");

	test.each([
		["unavailable < 500ms", "fail", "900ms"],
		["unavailable < 2s", "pass", "900ms"],
		["recovered < 500ms", "fail", "900ms"],
		["drained < 2s", "pass", "1s"],
	])("the worst one decides, and is named: %s is %s", (sla, verdict, measured) => {
		const judged = judge(two(), sla);
		expect(judged).toMatchObject({ verdict, measured });
		expect(judged.why).toContain(
			"kill of node 2 5s after the window opened, the worst of 2 faults: ",
		);
	});

	test("it is the first one where that lasted longer", () => {
		expect(judge(run("3-3.9 6-6.3"), "unavailable < 2s").why).toContain(
			"kill of node 1 2s after the window opened, the worst of 2 faults",
		);
	});

	test("one that the next cut short leaves the line open, however well that went", () => {
		// Told at 5 s, and 2 s later the other one; it is over 1.5 s after that.
		const cut = run("5-8.5", { faults: [killed(5, 1), killed(7, 2)] });
		const judged = judge(cut, "recovered < 3s");
		expect(judged).toMatchObject({ verdict: "inconclusive", measured: "> 2s" });
		expect(judged.why).toContain("within 2s, when the next fault began");
		// Where the limit had passed by then, it is broken.
		expect(judge(cut, "recovered < 1800ms").verdict).toBe("fail");
		// Nothing was acknowledged for 3.5 s.
		const silent = judge(cut, "unavailable < 2500ms");
		expect(silent).toMatchObject({ verdict: "inconclusive", measured: "> 2s", beyondNs: 2 * S });
		expect(silent.why).toContain("unavailable for at least 2s, when the next fault began");
		expect(judge(cut, "unavailable < 1800ms").verdict).toBe("fail");
	});

	test("a gap that the next one cuts may be longer than one that had ended", () => {
		// 0.6 s, then 1.7 s of which 0.3 s come before the second fault, and 1.4 s behind it.
		const holds = "4-4.6 6.7-8.4";
		const faults = [killed(4, 1), killed(7, 2)];
		const judged = judge(run(holds, { faults }), "unavailable < 1600ms");
		expect(judged).toMatchObject({ verdict: "inconclusive", measured: "> 600ms" });
	});

	test("a breach comes before what is open for longer", () => {
		// 4.1 s until the window's end are open; the first one took 2 s.
		const both = run("2-4 5.9-60");
		const judged = judge(both, "recovered < 5s");
		expect(judged).toMatchObject({ verdict: "inconclusive", measured: "> 4.1s" });
		const strict = run("1.5-5.4 7-60");
		// 3.9 s are over the limit, and 3 s until the end are not.
		expect(judge(strict, "recovered < 3500ms")).toMatchObject({
			verdict: "fail",
			measured: "3.9s",
		});
	});
});

test("a fault before the first sample of the queue has nothing to compare with, and breaks no limit", () => {
	const early = run("0.05-0.3");
	expect(judge(early, "drained < 5s")).toMatchObject({
		verdict: "error",
		measured: "n/a",
		beyondNs: null,
		why: "drained was not measured",
	});
});

test.each([
	["nobody counted completions", { completions: null }, "unavailable < 5s", "error"],
	["nobody counted what is in flight", { ticks: [] }, "drained < 5s", "error"],
	["the run was stopped", { state: "aborted" as const }, "unavailable < 5s", "inconclusive"],
	["the run was stopped", { state: "aborted" as const }, "drained < 5s", "inconclusive"],
])("without figures, as %s, nothing passes", (_, change, sla, verdict) => {
	const known = run("5-5.7");
	expect(judge({ ...known, ...change }, sla)).toMatchObject({
		verdict,
		measured: "n/a",
		why: `${sla.split(" ")[0]} was not measured`,
	});
});
