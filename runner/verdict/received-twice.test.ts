import { describe, expect, test } from "vitest";
import { built, type Fate, planOf, steady } from "../evidence/built.fake.ts";
import { type Collected, collect } from "../evidence/collect.ts";
import { firstRun } from "../evidence/fixture.fake.ts";
import { parseSla } from "../scenario/sla.ts";
import { brokenIdentities } from "./checks/messages.ts";
import { factsOf, sampleOf, UNKNOWN, withoutSmallest } from "./facts.ts";
import { limitIntervals } from "./intervals.ts";
import { clientEnd } from "./judged.fake.ts";
import { neverCompleted } from "./queue.ts";
import { ratesOf } from "./rates.ts";
import { judgeRun } from "./run.ts";

const MS = 1e6;

/** A work queue of two clients: 400/s for 5 s after 1 s, 4 ms each. What `fates` names is otherwise. */
function queue(
	fates: Readonly<Record<number, (at: number) => Fate>>,
	sla: readonly string[] = ["p99 < 20ms", "max < 20ms", "lost == 0"],
): Collected {
	const plan = planOf({
		pattern: "work-queue",
		producers: 2,
		connections: 2,
		consumers: 2,
		consumerConnections: 2,
		acks: true,
		client: { index: 0, count: 2 },
		schedule: steady(400, 1, 5),
		sla: sla.map((text) => parseSla(text) as never),
		limits: [{ metric: "response", limitNs: 20 * MS }],
	});
	const all = Array.from({ length: 2400 }, (_, i): Fate => {
		const at = i * 2.5 * MS + 4 * MS;
		const usual = { ackedNs: at, receivedNs: [at], receivedBy: [0] };
		return { ...usual, ...fates[i]?.(at) };
	});
	return collect(firstRun(built(plan, all, { run: { clients: [clientEnd(0), clientEnd(1)] } })));
}

const facts = (collected: Collected) => factsOf(collected, { ...UNKNOWN, clockSource: "tsc" });
const verdictOf = (collected: Collected) => {
	const { verdict, why, judgements } = judgeRun(facts(collected));
	return { verdict, why, by: judgements.map((j) => j.verdict), judgements };
};

const twice = (at: number): Fate => ({ againBy: [1], againNs: at });
const twiceLater = (at: number): Fate => ({ againBy: [1], againNs: at + 200 * MS });
const lost = (): Fate => ({ receivedNs: [null] });

describe("a message that two clients have received", () => {
	test("is no bug of mqbench, and one message everywhere", () => {
		const run = queue({ 1000: twice, 1040: twice });
		expect(run.counters.window?.duplicated).toBe(2);
		expect(brokenIdentities(facts(run))).toEqual([]);
		expect(verdictOf(run)).toMatchObject({ verdict: "pass", why: null });
		const { n, distribution } = sampleOf(facts(run), "response");
		expect([n, distribution.count]).toEqual([2000, 2000]);
		expect(ratesOf(run).received).toBe(2000 / 5);
	});

	test("does not stand for one that was lost in the same 100 ms", () => {
		const run = queue({ 1000: twice, 1001: lost });
		expect(run.totals?.receivedInWindow).toBe(2000);
		expect(brokenIdentities(facts(run))).toEqual([]);
		const { by, judgements } = verdictOf(run);
		expect(by).toEqual(["pass", "fail", "fail"]);
		expect(judgements[0]).toMatchObject({ n: 2000, over: 1, censored: 1 });
		expect(judgements[1]?.why).toBe(
			"none of 2 000 may take longer than 20ms; 1 did (1 never completed)",
		);
		expect(ratesOf(run).received).toBe(1999 / 5);
	});

	test("does not stand for as many as make a percentile fail", () => {
		const run = queue(
			Object.fromEntries([
				...Array.from({ length: 40 }, (_, i) => [440 + i * 40, twice]),
				...Array.from({ length: 40 }, (_, i) => [441 + i * 40, lost]),
			]),
		);
		const { judgements } = verdictOf(run);
		expect(judgements[0]).toMatchObject({ verdict: "fail", n: 2000, over: 40, censored: 40 });
		const { n, distribution } = sampleOf(facts(run), "response");
		expect(n - distribution.count).toBe(40);
	});

	test("is not blamed for the time of its second receipt", () => {
		const { by, judgements } = verdictOf(queue({ 1000: twiceLater }));
		expect(by).toEqual(["pass", "inconclusive", "pass"]);
		expect(judgements[1]?.why).toBe(
			"none of 2 000 may take longer than 20ms; 1 did; but maybe 1 of them is a second receipt by another client",
		);
		const many = queue(
			Object.fromEntries(Array.from({ length: 60 }, (_, i) => [440 + i * 30, twiceLater])),
		);
		expect(verdictOf(many).by).toEqual(["inconclusive", "inconclusive", "pass"]);
	});

	test("that no ledger has is a bug still", () => {
		const run = queue({ 1000: twice });
		const { ledgers } = run;
		const unknown = {
			...run,
			ledgers: ledgers && { ...ledgers, window: { ...ledgers.window, duplicated: 0 } },
		};
		expect(brokenIdentities(facts(unknown))).toEqual([
			"more response than intended messages in 100 ms",
			"more response than the window's messages can have",
			"more service than the window's messages can have",
		]);
	});
});

test("what second receipts hide is put where most were over the limit already", () => {
	const run = queue({ 1000: twice, 1001: lost, 1900: lost });
	const found = limitIntervals(run, 0);
	expect(found.reduce((sum, i) => sum + i.n, 0)).toBe(2000);
	// Message 1900 is due 3.75 s after the window opened, 1000 and 1001 after 1.5 s.
	expect(found[37]).toMatchObject({ n: 40, over: 2, censored: 2 });
	expect(found[15]).toMatchObject({ n: 40, over: 0, censored: 0 });
});

test("of samples the smallest are left out", () => {
	const all = { count: 9, low: [1, 5, 7], high: [1, 5, 7], upTo: [2, 5, 9] };
	expect(withoutSmallest(all, 0)).toBe(all);
	expect(withoutSmallest(all, 1)).toEqual({ ...all, count: 8, upTo: [1, 4, 8] });
	expect(withoutSmallest(all, 3)).toEqual({ count: 6, low: [5, 7], high: [5, 7], upTo: [2, 6] });
	expect(withoutSmallest(all, 9).count).toBe(0);
});

describe("what stays in flight for ever", () => {
	const silent = (): Fate => ({ ackedNs: null, receivedNs: [null] });
	const unanswered = (): Fate => ({ ...silent(), unanswered: true });

	test("is what was lost or never answered, not what was given up", () => {
		const run = queue({ 700: lost, 800: silent, 900: unanswered });
		expect(run.totals?.unanswered).toBe(1);
		expect(run.counters.window?.unknown).toBe(2);
		expect(neverCompleted(run)).toBe(2);
		expect(run.ticks.at(-1)?.inFlight).toBe(2);
	});

	test("less what two clients received: the count of what is under way lacks it", () => {
		const run = queue({ 700: lost, 701: lost, 900: twice });
		expect(run.ticks.at(-1)?.inFlight).toBe(1);
		expect(neverCompleted(run)).toBe(1);
		expect(neverCompleted(queue({ 900: twice }))).toBe(0);
	});

	test("of files that do not tell them apart has none that are unknown", () => {
		const run = queue({ 700: lost, 800: silent });
		const { unanswered: _, ...totals } = run.totals ?? {};
		expect(neverCompleted({ ...run, totals: totals as never })).toBe(1);
	});

	test("does not hide a queue that stays, though many sends ended without an answer", () => {
		const part = {
			seconds: [],
			plan: { pattern: "round-trip", client: { count: 1 }, subscriptions: 1 },
			counters: { warmup: null, window: { lost: 0, unknown: 200 } },
		};
		const run = (unanswered: number) =>
			neverCompleted({ ...part, totals: { unanswered } } as never);
		expect([run(200), run(150)]).toEqual([0, 50]);
	});
});
