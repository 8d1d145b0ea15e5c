import { describe, expect, test } from "vitest";
import { built, type Fate, planOf, steady } from "../evidence/built.fake.ts";
import { collect } from "../evidence/collect.ts";
import { firstRun } from "../evidence/fixture.fake.ts";
import { limits } from "../plan/expand.ts";
import { parseSla } from "../scenario/sla.ts";
import { killed as fault } from "./judged.fake.ts";
import { judgeTally } from "./tally.ts";

const MS = 1e6;
const S = 1e9;

const killed = (atS: number, node: number) =>
	fault({ node, leader: false, calledNs: atS * S, beganNs: atS * S, endedNs: atS * S + 100 * MS });

/** "5-5.7", in seconds since T0: the broker stands still, and then has everything at once. */
const holdsIn = (text: string) =>
	text
		.split(" ")
		.map((one) => one.split("-").map(Number))
		.filter(([, to]) => to !== undefined) as [number, number][];

/** 200/s for 9 s after 1 s of warm-up, 1 ms each but for what the broker holds; it was killed then, or `killedS` after T0. */
function run(
	text: string,
	{
		killedS = holdsIn(text).map(([from]) => from),
		acks = true,
		sla = "recovered(p99 < 20ms) < 1s",
	} = {},
) {
	const lines = [parseSla(sla)];
	const plan = planOf({
		acks,
		schedule: steady(200, 1, 9),
		sla: lines,
		limits: limits(lines),
		faults: killedS.map((atS) => ({
			atNs: atS * S,
			of: "brokers",
			count: null,
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
	const faults = killedS.map((atS, i) => killed(atS, i + 1));
	return collect(firstRun(built(plan, fates, { run: { faults } })));
}

function judge(collected: ReturnType<typeof collect>, text: string) {
	const until = text.startsWith("recovered") && !text.includes("(");
	const sla = parseSla(until ? text.replace("recovered", "recovered(p99 < 20ms)") : text);
	if (sla.kind !== "tally") throw new Error(text);
	return judgeTally(sla, collected);
}

const changed = (change: object) => ({ ...run("5-5.7"), ...change });
const RUNS: Readonly<Record<string, () => ReturnType<typeof run>>> = {
	// An outage of 700 ms at a constant rate, with a limit of 20 ms: nothing completes for 0.70 s, by pieces of 10 ms; the last message over
	// 20 ms is due after 0.68 s, by pieces of 100 ms; the queue is seen to be as before at 0.8 s, and was not at 0.7 s.
	one: () => run("5-5.7"),
	// By receipts, where nothing is acknowledged.
	received: () => run("5-5.7", { acks: false }),
	// Messages due in the first 0.2 s took longer than 0.5 s.
	max: () => run("5-5.7", { sla: "recovered(max < 500ms) < 1s" }),
	// A fault that nothing shows; one after the broker had stood still for 0.2 s: only five times that would be the fault's.
	calm: () => run("", { killedS: [5] }),
	rough: () => run("3-3.2 5-5.9", { killedS: [5] }),
	// From 5 s on, of a window until 10 s.
	open: () => run("5-60"),
	two: () => run("3-3.3 6-6.9"),
	long: () => run("3-3.9 6-6.3"),
	// The second fault comes 2 s after the first, and it is over 1.5 s after that.
	cut: () => run("5-8.5", { killedS: [5, 7] }),
	// 0.6 s, then 1.7 s of which 0.3 s come before the second fault, and 1.4 s behind it.
	before: () => run("4-4.6 6.7-8.4", { killedS: [4, 7] }),
	// 4.1 s until the window's end are open; the first one took 2 s. A breach comes before what is open for longer.
	late: () => run("2-4 5.9-60"),
	breach: () => run("1.5-5.4 7-60"),
	// Before the first sample of the queue there is nothing to compare with: it breaks no limit.
	early: () => run("0.05-0.3"),
	uncounted: () => changed({ completions: null }),
	unsampled: () => changed({ ticks: [] }),
	aborted: () => changed({ state: "aborted" }),
};

describe("what a fault does", () => {
	test.each(
		`one | unavailable < 800ms | pass | 700ms
one | unavailable <= 720ms | pass | 700ms
one | unavailable < 710ms | inconclusive | 700ms
one | unavailable < 650ms | fail | 700ms | 4s after the window opened: unavailable for 700ms; the SLA asks for less than 650ms
one | recovered <= 700ms | pass | 700ms
one | recovered < 680ms | inconclusive | 700ms
one | recovered < 600ms | fail | 700ms | recovered (p99 < 20ms) after 700ms; the SLA asks for
one | drained <= 800ms | pass | 800ms
one | drained < 750ms | inconclusive | 800ms
one | drained < 700ms | fail | 800ms | drained after 800ms; the SLA asks for less than 700ms
received | unavailable < 1s | pass | 700ms
max | recovered(max < 500ms) <= 200ms | pass | 200ms
calm | unavailable < 100ms | pass | 0s | never unavailable for 50ms or longer
calm | recovered < 100ms | pass | 0s | recovered (p99 < 20ms) at once
calm | drained < 100ms | pass | 0s | drained at once
rough | unavailable < 2s | pass | 0s
rough | unavailable < 900ms | inconclusive | 0s | never unavailable for 1.01s or longer; whether that keeps the limit of 900ms is open
open | recovered < 5s | fail | > 5s | within 5s;
open | recovered <= 5s | fail | > 5s
open | recovered < 6s | inconclusive | > 5s | within 5s;
open | drained < 4s | fail | > 5s
open | drained < 6s | inconclusive | > 5s | within 5s;
two | unavailable < 500ms | fail | 900ms | kill of node 2 5s after the window opened, the worst of 2 faults:
two | unavailable < 2s | pass | 900ms
two | recovered < 500ms | fail | 900ms
two | drained < 2s | pass | 1s
long | unavailable < 2s | pass | 900ms | kill of node 1 2s after the window opened, the worst of 2
cut | recovered < 3s | inconclusive | > 2s | within 2s, when the next fault began
cut | recovered < 1800ms | fail | > 2s
cut | unavailable < 2500ms | inconclusive | > 2s | unavailable for at least 2s, when the next fault began
cut | unavailable < 1800ms | fail | > 2s
before | unavailable < 1600ms | inconclusive | > 600ms
late | recovered < 5s | inconclusive | > 4.1s
breach | recovered < 3500ms | fail | 3.9s
early | drained < 5s | error | n/a | drained was not measured
uncounted | unavailable < 5s | error | n/a | unavailable was not measured
unsampled | drained < 5s | error | n/a | drained was not measured
aborted | unavailable < 5s | inconclusive | n/a | unavailable was not measured
aborted | drained < 5s | inconclusive | n/a | drained was not measured`
			.split("\n")
			.map((row) => row.split(" | ")),
	)("%s: %s is %s", (of, sla, verdict, measured, why = "") => {
		const found = judge(RUNS[of]?.() as ReturnType<typeof run>, sla);
		expect(found).toMatchObject({ verdict, measured });
		expect(found.why).toContain(why);
		// What had not ended has no value, but is known to have been at least so long.
		expect(found.tally?.value === null).toBe(/^(>|n\/a)/.test(measured));
		expect(found.beyondNs !== null).toBe(measured.startsWith(">"));
	});

	test("has its value and its limit in ns", () => {
		expect(judge(run("5-5.7"), "drained < 700ms").tally).toEqual({
			name: "drained",
			value: 800 * MS,
			limit: 700 * MS,
			unit: "ns",
		});
		expect(judge(run("5-60"), "drained < 4s").beyondNs).toBe(5 * S);
	});
});
