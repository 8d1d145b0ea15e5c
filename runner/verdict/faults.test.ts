import { describe, expect, test } from "vitest";
import { buildResult } from "../compare/build.ts";
import { built, type Fate, inSteps, planOf, steady } from "../evidence/built.fake.ts";
import type { Collected } from "../evidence/collect.ts";
import type { Plan } from "../model/plan.ts";
import type { FaultDone } from "../model/run-file.ts";
import { parseSla } from "../scenario/sla.ts";
import { failoverOf } from "./faults.ts";
import { killed } from "./judged.fake.ts";

const MS = 1e6;
const S = 1e9;

// --- pieces of 10 ms, counted by hand ---

/** A run of 10 s after 1 s warm-up whose completions come once in every `gap` pieces, but for those "from-to" (since T0, in pieces). */
function bins(
	empty = "",
	more: {
		gap?: number;
		faults?: FaultDone[];
		plan?: Partial<Plan>;
		schedule?: object;
		completions?: Iterable<number> | null;
		state?: Collected["state"];
	} = {},
): Collected {
	const { gap = 1 } = more;
	const stretches = empty.split(" ").map((one) => one.split("-").map(Number));
	const completions = Array.from({ length: 1100 }, (_, i) =>
		i % gap === 0 && !stretches.some(([from = 0, to = 0]) => i >= from && i < to) ? 1 : 0,
	);
	return {
		plan: {
			pattern: "round-trip",
			sla: [],
			limits: [],
			faults: [],
			client: { index: 0, count: 1 },
			schedule: {
				...steady(100 / gap, 1, 10),
				rate: { messages: 100, perNs: gap * S },
				...more.schedule,
			},
			...more.plan,
		},
		state: more.state ?? "complete",
		run: { faults: more.faults ?? [killed()] },
		completions:
			more.completions === null ? null : Float64Array.from(more.completions ?? completions),
		ticks: [],
		seconds: [],
		members: [],
		counters: { warmup: null, window: null },
	} as unknown as Collected;
}

const first = (collected: Collected) => failoverOf(collected)[0];
type More = Parameters<typeof bins>[1];
const at = (beganS: number, calledS: number | null = null, more: Partial<FaultDone> = {}) =>
	killed({
		beganNs: Math.round(beganS * S),
		calledNs: calledS === null ? null : Math.round(calledS * S),
		...more,
	});
const completions = (empty: string, gap = 1, ...late: number[]) => [
	...(bins(empty, { gap }).completions ?? []),
	...late,
];
const zeros = (n: number): number[] => Array(n).fill(0);
// 100/s for 5 s, then a message every 2 s.
const { schedule: pausing } = inSteps(1, [
	{ perSecond: 100, seconds: 5 },
	{ perSecond: 1, seconds: 5 },
]);

describe("time without completions", () => {
	type Row = [string, empty: string, ms: number | null, from: number | null, More?, boolean?];
	/** What, which pieces are empty, ms, from which ms, and how the load and the fault differ: "gap=10", "fault=<began>,<called> s". */
	const counted =
		`is the longest run of empty pieces of 10 ms from the fault on | 402-430 440-520 600-610 | 800 | 4400
may have begun before the fault was known to have taken effect | 385-470 | 850 | 3850
between call and effect is the fault's | 410-460 470-490 | 500 | 4100 | fault=4.65,4
before the call has to go on for as long after it | 370-403 | 0 | | fault=4,4
before the call, and for as long after it | 370-405 | 350 | 3700 | fault=4,4
that led into the fault has to be that of ten messages | 110-214 | 0 | | fault=2.05,2.05
that led into it, and is | 110-215 | 1050 | 1100 | fault=2.05,2.05
before the fault is none of its doing | 300-320 400-500 | 0 |
five times as long as before it is | 300-320 400-501 | 1010 | 4000
of less than 50 ms is not told | 400-404 | 0 |
of 50 ms is | 400-405 | 50 | 4000
has to be five times what the load leaves empty | 401-431 | 0 | | gap=10
that is five times that | 401-441 | 490 | 4010 | gap=10
soon after the window's start has to be that of ten messages | 151-170 | 0 | | gap=2 fault=1.5
soon after it, and is | 151-172 | 210 | 1510 | gap=2 fault=1.5`
			.split("\n")
			.map((row): Row => {
				const [what = "", empty = "", ms, from, more = ""] = row
					.split("|")
					.map((one) => one.trim());
				const [, gap = 1] = /gap=(\d+)/.exec(more) ?? [];
				const [, began, called] = /fault=([\d.]+)(?:,(\S+))?/.exec(more) ?? [];
				const fault = began ? at(Number(began), called ? Number(called) : null) : killed();
				const load = { gap: Number(gap), faults: [fault] };
				return [what, empty, Number(ms), from ? Number(from) : null, load];
			});
	test.each<Row>([
		...counted,
		...[4, 4.02, 4.25, 4.5, 4.99].flatMap((s): Row[] => [
			[`is as long, known after ${s} s`, "400-500", 1000, 4000, { faults: [at(s, 3.99)] }],
			// Of an older mqbench, which has not written down when it sent the command.
			[`is as long, not told when, after ${s} s`, "400-500", 1000, 4000, { faults: [at(s)] }],
		]),
		[
			"goes on in the drain",
			"",
			800,
			10_500,
			{ completions: completions("1050-1100", 1, ...zeros(30), 1, ...zeros(69)) },
		],
		...[1, 2].flatMap((gap): Row[] => {
			// All completes, but for one message 3 s after the window.
			const with_ = (empty: string) => completions(empty, gap, ...zeros(300), 1);
			const more = (gap - 1) * 10;
			return [
				[
					`with a straggler is within the window (${gap})`,
					"",
					400 + more,
					4000 - more,
					{ gap, completions: with_("400-440") },
				],
				[`of a straggler alone is none (${gap})`, "", 0, null, { gap, completions: with_("") }],
			];
		}),
		["that never ends is told up to the window's end", "500-1100", 6000, 5000, {}, true],
		[
			"without any line of it too",
			"",
			6000,
			5000,
			{ completions: completions("500-1100").slice(0, 500) },
			true,
		],
		[
			"is no failure where the load itself is meant to pause",
			"",
			0,
			null,
			{
				plan: { schedule: pausing } as unknown as Partial<Plan>,
				completions: Array.from({ length: 1100 }, (_, i) => (i < 600 || i % 100 === 0 ? 1 : 0)),
			},
		],
		[
			"is not known where older generators have not counted it",
			"400-500",
			null,
			null,
			{ completions: null },
		],
		["is not known where the run was stopped", "400-500", null, null, { state: "aborted" }],
		[
			"is not known where the fault was not carried out",
			"400-500",
			null,
			null,
			{ faults: [killed({ error: "no" })] },
		],
	])("%s", (_, empty, ms, fromMs, more, still = false) => {
		const found = first(bins(empty, more));
		expect(found).toMatchObject({
			unavailableNs: ms === null ? null : ms * MS,
			unavailableFromNs: fromMs === null ? null : fromMs * MS,
			unavailableStill: still,
		});
		expect(found?.noticedNs === null).toBe(ms === null);
	});

	test("belongs to the fault that it began with; what is left of it when the next one begins to that", () => {
		const faults = [killed(), at(6.3, 6, { endedNs: 6.5 * S, node: 2 })];
		expect(failoverOf(bins("410-450 560-660", { faults }))).toMatchObject([
			// Either of them is 0.4 s until then: the longer one may be longer.
			{ unavailableNs: 400 * MS, unavailableFromNs: 4100 * MS, unavailableStill: true },
			{ unavailableNs: 600 * MS, unavailableFromNs: 6 * S, unavailableStill: false },
		]);
		// Over, as the next one begins.
		expect(failoverOf(bins("560-600", { faults }))).toMatchObject([
			{ unavailableNs: 400 * MS, unavailableStill: false },
			{ unavailableNs: 0, unavailableStill: false },
		]);
	});
});

// --- whole runs, whose answer is known beforehand ---

/**
 * 1000/s for 9 s after 1 s warm-up, 1 ms each; the broker stands still from 5 s to 5 s + D after T0, and what was due from `early` before on comes at once then. Limit: 20 ms.
 */
function outage(
	heldNs: number,
	{
		lose = 0,
		acks = false,
		earlyNs = MS,
		faults = [killed({ beganNs: 5 * S, endedNs: 5 * S + heldNs })],
	}: { lose?: number; acks?: boolean; earlyNs?: number; faults?: FaultDone[] } = {},
) {
	const plan = planOf({
		acks,
		schedule: steady(1000, 1, 9),
		sla: ["lost <= 1000", "p99 < 20ms", "p50 < 1s"].map((text) => parseSla(text) as never),
		limits: [
			{ metric: "response", limitNs: 1e9 },
			{ metric: "response", limitNs: 20 * MS },
		],
		faults: [{ ...FAULT, of: "brokers", atNs: 5 * S, action: "kill", forNs: heldNs, node: 1 }],
	});
	const fates = Array.from({ length: plan.schedule.messages }, (_, i): Fate => {
		const due = i * MS;
		const held = due >= 5 * S - earlyNs && due < 5 * S + heldNs;
		const at = held ? 5 * S + heldNs : due + MS;
		// The first ones that the broker held never come.
		const gone = i >= 5000 && i < 5000 + lose;
		return { ackedNs: acks ? (gone ? null : at) : null, receivedNs: [gone ? null : at] };
	});
	const [run] = buildResult(built(plan, fates, { run: { faults } })).runs;
	if (run === undefined) throw new Error("no run");
	return run;
}

describe("an outage of D at a constant rate", () => {
	test.each([300, 700, 1500, 2000])(
		"of %i ms: nothing completes for D, and messages keep to a limit L again D - L after it",
		(ms) => {
			const [failover] = outage(ms * MS).failover;
			expect(failover?.unavailableNs).toBeGreaterThanOrEqual((ms - 20) * MS);
			expect(failover?.unavailableNs).toBeLessThanOrEqual((ms + 10) * MS);
			expect(failover?.unavailableFromNs).toBe(5 * S);
			expect(failover?.sla).toBe("p99 < 20ms");
			// The end of the piece of 100 ms that D - L lies in.
			expect(failover?.recoveredNs).toBe(Math.ceil((ms - 20) / 100) * 100 * MS);
			// The sample after the one in which they were still there.
			expect(failover?.drainedNs).toBe((Math.floor(ms / 100) + 1) * 100 * MS);
		},
	);

	test("says the same by acknowledgements", () => {
		const [failover] = outage(700 * MS, { acks: true }).failover;
		expect(failover).toMatchObject({
			unavailableNs: 700 * MS,
			recoveredNs: 700 * MS,
			drainedNs: 800 * MS,
		});
	});

	test("with messages that never come: they keep nothing from being drained, but are over the limit", () => {
		const run = outage(700 * MS, { lose: 40 });
		expect(run.lost).toBe(40);
		expect(run.failover).toMatchObject([{ recoveredNs: 700 * MS, drainedNs: 800 * MS }]);
	});

	test("delays messages that were due before it, which the fault before does not answer for", () => {
		const faults = [3, 5].map((s) => killed({ beganNs: s * S, endedNs: (s + 0.7) * S }));
		const { failover } = outage(700 * MS, { faults, earlyNs: 15 * MS });
		expect(failover).toMatchObject([{ recoveredNs: 0 }, { recoveredNs: 700 * MS }]);
		const over = outage(700 * MS, { faults, earlyNs: 150 * MS });
		// Already over the limit when the second one began.
		expect(over.failover).toMatchObject([{ recoveredNs: null }, { recoveredNs: 700 * MS }]);
	});

	test("is not told shorter where it took a while until it was known to have begun", () => {
		// Told just before 5 s, known 0.4 s later.
		const [failover] = outage(700 * MS, {
			faults: [killed({ calledNs: 5 * S, beganNs: 5.4 * S, endedNs: 5.7 * S })],
		}).failover;
		expect(failover).toMatchObject({
			unavailableNs: 700 * MS,
			unavailableFromNs: 5 * S,
			recoveredNs: 700 * MS,
			drainedNs: 800 * MS,
		});
	});
});

test("a latency that a line names has to be met again, before the first one of the SLA", () => {
	const again = parseSla("recovered(max < 500ms) < 1s");
	const collected = {
		...bins(),
		plan: { ...bins().plan, sla: [parseSla("p99 < 20ms"), again] },
	};
	// Neither was counted: the line is found by its name.
	collected.plan.limits = [{ metric: "response", limitNs: 500 * MS }];
	expect(first(collected)?.sla).toBe("max < 500ms");
});

test("a run to which nothing was done has none", () => {
	expect(outage(100 * MS, { faults: [] }).failover).toEqual([]);
});

// --- faults of consumers, by a synthetic stream ---

/** Messages come every 10 ms for 11 s. Two clients kill a member each, planned at 4 s, and let one pause at 8 s. */
function consumers(
	receipts: readonly { readonly dueMs: number; readonly atMs: readonly number[] }[],
	more: { lost?: number; changes?: Partial<Change> } = {},
) {
	const faults: Plan["faults"] = [
		{ ...FAULT, of: "consumers", atNs: 4 * S, action: "kill", count: 2, forNs: 2 * S },
		{ ...FAULT, of: "consumers", atNs: 8 * S, action: "pause", count: 1, forNs: S },
	];
	// By hand what the generator does: each client has every second message.
	const served = (client: number) =>
		faults.map(({ atNs }, fault) => {
			const due = receipts.filter((_, i) => i % 2 === client && dueBefore(receipts[i], atNs));
			const after = due.flatMap(({ atMs }) => atMs.slice(0, 1).filter((ms) => ms * MS > atNs));
			const again = due.flatMap(({ atMs }) => atMs.slice(1).filter((ms) => ms * MS > atNs));
			const received = due.filter(({ atMs }) => atMs.length > 0).length;
			return { fault, received, again: again.length, lastNs: Math.max(0, ...after) * MS };
		});
	const made = (fault: number, member: number, action: Change["action"], ms: number[]) => {
		const [beganNs, doneNs] = ms.map((one) => one * MS);
		return { fault, member, action, beganNs, doneNs };
	};
	const killed = { ...made(0, 3, "kill", [4001, 4003]), ...more.changes };
	const changes = [
		[killed, made(0, 3, "back", [6000, 6100])],
		[
			made(0, 2, "kill", [4002, 4002]),
			made(0, 2, "back", [6000, 6250]),
			made(1, 3, "pause", [8000, 9000]),
		],
	];
	const collected = bins("", { faults: [], plan: { faults, pattern: "work-queue" } });
	return {
		...collected,
		members: changes.map((own, client) => ({ changes: own, served: served(client) })),
		counters: { warmup: { lost: 0 }, window: { lost: more.lost ?? 0 } },
	} as unknown as Collected;
}

type Change = Collected["members"][number]["changes"][number];
const FAULT = { count: null, node: null, delayNs: null } as const;
const dueBefore = (one: { readonly dueMs: number } | undefined, atNs: number) =>
	one !== undefined && one.dueMs * MS < atNs;

describe("the share of consumers that are gone", () => {
	const stream = (atMs: (dueMs: number) => readonly number[]) =>
		Array.from({ length: 1100 }, (_, i) => ({ dueMs: i * 10, atMs: atMs(i * 10) }));
	const prompt = stream((due) => [due + 1]);
	// The killed ones had the messages of 100 ms: half of them come twice, the others after 3 s.
	const held = stream((due) =>
		due >= 3900 && due < 4000 ? (due % 20 === 0 ? [due + 1, due + 3000] : [due + 3000]) : [due + 1],
	);

	test("is served when the last message that was due before comes, whichever client gets it", () => {
		const [kill, pause] = failoverOf(consumers(held));
		expect(kill).toMatchObject({
			of: "consumers",
			action: "kill",
			count: 2,
			calledNs: 4001 * MS,
			beganNs: 4003 * MS,
			endedNs: 6250 * MS,
			error: null,
			// The message due at 3.99 s.
			servedNs: (6990 - 4001) * MS,
			servedStill: false,
			again: 5,
		});
		expect(pause).toMatchObject({ calledNs: 8000 * MS, beganNs: 8000 * MS, endedNs: 9000 * MS });
	});

	test("is served at once where all had been received, but for one on its way", () => {
		expect(failoverOf(consumers(stream((due) => [due])))[0]).toMatchObject({
			servedNs: 0,
			again: 0,
		});
		// Due at 7.99 s, received at 8.02 s.
		const late = stream((due) => [due === 7990 ? 8020 : due + 1]);
		expect(failoverOf(consumers(late))[1]).toMatchObject({ servedNs: 20 * MS });
	});

	test("is never served where a message that was due before is lost", () => {
		const lossy = stream((due) => (due === 3990 ? [] : [due + 1]));
		const [kill, pause] = failoverOf(consumers(lossy, { lost: 1 }));
		for (const fault of [kill, pause])
			expect(fault).toMatchObject({ servedNs: null, servedStill: true });
		// One that failed was never owed.
		expect(failoverOf(consumers(lossy))[0]).toMatchObject({ servedNs: 0, servedStill: false });
		// Nor does one that was lost later matter to the first fault.
		const later = stream((due) => (due === 5000 ? [] : [due + 1]));
		const [early, then] = failoverOf(consumers(later, { lost: 1 }));
		expect([early?.servedStill, then?.servedStill]).toEqual([false, true]);
	});

	test.each([
		["a client's error", { doneNs: null, error: "no answer" }, "no answer"],
		["the end of the run", { doneNs: null }, "the run was over before it was done"],
	] as const)("is not known after %s", (_, changes, error) => {
		const [fault] = failoverOf(consumers(prompt, { changes }));
		expect(fault).toMatchObject({ error, servedNs: null, again: null });
	});
});
