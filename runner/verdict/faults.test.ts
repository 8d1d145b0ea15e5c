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
		counters: { warmup: null, window: null },
	} as unknown as Collected;
}

const first = (collected: Collected) => failoverOf(collected)[0];

describe("time without completions", () => {
	test("is the longest run of empty pieces of 10 ms from the fault on", () => {
		expect(first(bins("402-430 440-520 600-610"))).toMatchObject({
			unavailableNs: 800 * MS,
			unavailableFromNs: 4400 * MS,
			unavailableStill: false,
		});
	});

	test("may have begun before it was known that the fault had taken effect", () => {
		expect(first(bins("385-470"))).toMatchObject({
			unavailableNs: 850 * MS,
			unavailableFromNs: 3850 * MS,
		});
	});

	test.each([4, 4.02, 4.25, 4.5, 4.99])(
		"is as long as it was, whenever the fault was known to have taken effect (%f s)",
		(began) => {
			const whole = { unavailableNs: 1 * S, unavailableFromNs: 4 * S };
			const of = (calledNs: number | null) =>
				first(bins("400-500", { faults: [killed({ calledNs, beganNs: began * S })] }));
			expect(of(3.99 * S)).toMatchObject(whole);
			// Of an older mqbench, which has not written down when it told the broker.
			expect(of(null)).toMatchObject(whole);
		},
	);

	test("between the call and the effect is the fault's, and nothing to compare others with", () => {
		// Told at 4 s; standing from 4.1 s to 4.6 s, once more after it was known, for less.
		expect(
			first(bins("410-460 470-490", { faults: [killed({ calledNs: 4 * S, beganNs: 4.65 * S })] })),
		).toMatchObject({ unavailableNs: 500 * MS, unavailableFromNs: 4100 * MS });
	});

	test("that began before the broker was told has to go on for as long after it", () => {
		const of = (to: number) => first(bins(`370-${to}`, { faults: [killed({ calledNs: 4 * S })] }));
		expect(of(403)).toMatchObject({ unavailableNs: 0 });
		expect(of(405)).toMatchObject({ unavailableNs: 350 * MS, unavailableFromNs: 3700 * MS });
	});

	test("where what came before says little, as it led into the fault, has to be that of ten messages", () => {
		// 100/s: of the 1.05 s of window before the fault 0.1 s had completions.
		const faults = [killed({ calledNs: 2050 * MS, beganNs: 2050 * MS })];
		const of = (to: number) => first(bins(`110-${to}`, { faults }));
		expect(of(214)).toMatchObject({ unavailableNs: 0 });
		expect(of(215)).toMatchObject({ unavailableNs: 1050 * MS });
	});

	test("before the fault is none of its doing", () => {
		// Its longest run of empty pieces before are 20: a hundred are needed.
		expect(first(bins("300-320 400-500"))).toMatchObject({
			unavailableNs: 0,
			unavailableFromNs: null,
		});
		expect(first(bins("300-320 400-501"))).toMatchObject({ unavailableNs: 1010 * MS });
	});

	test.each([
		[404, 0],
		[405, 50 * MS],
	])("of less than 50 ms is not told (to piece %i)", (to, expected) => {
		expect(first(bins(`400-${to}`))).toMatchObject({
			unavailableNs: expected,
			noticedNs: 50 * MS,
		});
	});

	test("has to be longer than five times what the load leaves empty itself", () => {
		// Every tenth piece: nine are empty always. 45 and fewer say nothing.
		expect(first(bins("401-431", { gap: 10 }))).toMatchObject({ unavailableNs: 0 });
		expect(first(bins("401-441", { gap: 10 }))).toMatchObject({
			unavailableNs: 490 * MS,
			unavailableFromNs: 4010 * MS,
		});
	});

	test("soon after the window's start has to be that of ten messages", () => {
		const early = [killed({ beganNs: 1.5 * S })];
		const of = (to: number) => first(bins(`151-${to}`, { gap: 2, faults: early }));
		// 50/s: ten messages are 200 ms apart.
		expect(of(170)).toMatchObject({ unavailableNs: 0 });
		expect(of(172)).toMatchObject({ unavailableNs: 210 * MS });
	});

	test("goes on until something completes, in the drain too", () => {
		const completions = bins("1050-1100").completions ?? [];
		expect(
			first(
				bins("", { completions: [...completions, ...Array(30).fill(0), 1, ...Array(69).fill(0)] }),
			),
		).toMatchObject({
			unavailableNs: 800 * MS,
			unavailableFromNs: 10.5 * S,
			unavailableStill: false,
		});
	});

	test.each([1, 2])(
		"with a straggler long after the last message was due is the one within the window (a completion in %i pieces)",
		(gap) => {
			// Standing for 0.4 s; all else completes, but for one message 3 s after the window.
			const completions = bins("400-440", { gap }).completions ?? [];
			const late = [...completions, ...Array(300).fill(0), 1];
			expect(first(bins("", { gap, completions: late }))).toMatchObject({
				unavailableNs: 400 * MS + (gap - 1) * 10 * MS,
				unavailableFromNs: 4 * S - (gap - 1) * 10 * MS,
				unavailableStill: false,
			});
			// And without any standing: none.
			const calm = bins("", { gap }).completions ?? [];
			expect(
				first(bins("", { gap, completions: [...calm, ...Array(300).fill(0), 1] })),
			).toMatchObject({ unavailableNs: 0, unavailableFromNs: null });
		},
	);

	test("that never ends is told up to the window's end, and that it did not", () => {
		expect(first(bins("500-1100"))).toMatchObject({
			unavailableNs: 6 * S,
			unavailableFromNs: 5 * S,
			unavailableStill: true,
		});
		// Without any line for the seconds in which nothing completed.
		const cut = bins("500-1100").completions?.slice(0, 500);
		expect(first(bins("", { completions: cut ?? null }))).toMatchObject({
			unavailableNs: 6 * S,
			unavailableStill: true,
		});
	});

	test("belongs to the fault that it began with; what is left of it when the next one begins to that", () => {
		const faults = [
			killed(),
			killed({ calledNs: 6 * S, beganNs: 6.3 * S, endedNs: 6.5 * S, node: 2 }),
		];
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

	test("is no failure where the load itself is meant to pause", () => {
		// 100/s for 5 s, then a message every 2 s.
		const { schedule } = inSteps(1, [
			{ perSecond: 100, seconds: 5 },
			{ perSecond: 1, seconds: 5 },
		]);
		const quiet = Array.from({ length: 1100 }, (_, i) => (i < 600 || i % 100 === 0 ? 1 : 0));
		expect(
			first(bins("", { plan: { schedule } as unknown as Partial<Plan>, completions: quiet })),
		).toMatchObject({ unavailableNs: 0 });
	});

	test.each([
		["older generators have not counted it", { completions: null }],
		["the run was stopped", { state: "aborted" as const }],
		["the fault was not carried out", { faults: [killed({ error: "no" })] }],
	])("is not known where %s", (_, more) => {
		expect(first(bins("400-500", more))).toMatchObject({
			noticedNs: null,
			unavailableNs: null,
			unavailableFromNs: null,
			unavailableStill: false,
		});
	});
});

// --- whole runs, whose answer is known beforehand ---

/**
 * 1000/s for 9 s after 1 s warm-up, 1 ms each; the broker stands still from 5 s to 5 s + D after T0 and then has everything at once. Limit: 20 ms.
 */
function outage(
	heldNs: number,
	{
		lose = 0,
		acks = false,
		faults = [killed({ beganNs: 5 * S, endedNs: 5 * S + heldNs })],
	}: { lose?: number; acks?: boolean; faults?: FaultDone[] } = {},
) {
	const plan = planOf({
		acks,
		schedule: steady(1000, 1, 9),
		sla: ["lost <= 1000", "p99 < 20ms", "p50 < 1s"].map((text) => parseSla(text) as never),
		limits: [
			{ metric: "response", limitNs: 1e9 },
			{ metric: "response", limitNs: 20 * MS },
		],
		faults: [{ atNs: 5 * S, action: "kill", forNs: heldNs, node: 1, delayNs: null }],
	});
	const fates = Array.from({ length: plan.schedule.messages }, (_, i): Fate => {
		const due = i * MS;
		const held = due >= 5 * S - MS && due < 5 * S + heldNs;
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
	// Nobody has counted either: the line is told by its name.
	collected.plan.limits = [{ metric: "response", limitNs: 500 * MS }];
	expect(first(collected)?.sla).toBe("max < 500ms");
});

test("a run to which nothing was done has none", () => {
	expect(outage(100 * MS, { faults: [] }).failover).toEqual([]);
});
