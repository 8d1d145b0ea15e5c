import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Block, heading, plain } from "../document/blocks.ts";
import { clients, phases } from "../document/tables.ts";
import { built, type Fate, inSteps, planOf, steady } from "../evidence/built.fake.ts";
import { collect } from "../evidence/collect.ts";
import { figuresOf } from "../figures/figures.ts";
import { seeded } from "../histogram/random.fake.ts";
import type { Plan } from "../model/plan.ts";
import type { Run } from "../model/result.ts";
import { offsetNs } from "../plan/offset.ts";
import { factsOf, UNKNOWN } from "../verdict/facts.ts";
import { made, once, shown, tally } from "./made.fake.ts";
import { phasesOf } from "./phases.ts";

/** The words of the table among them. */
const rowsOf = (blocks: readonly Block[]): string[][] =>
	blocks.flatMap((one) =>
		one.kind === "table" ? one.rows.map(({ cells }) => cells.map(plain)) : [],
	);
const phasesAsBlocks = (run: Run) => phases(run, heading(""));

const MS = 1e6;

const dueOf = (plan: Plan) =>
	Array.from({ length: plan.schedule.messages }, (_, i) => offsetNs(plan.schedule, i));

describe("steps of 500/s, 1000/s and 2000/s", () => {
	const plan = planOf(
		inSteps(2, [
			{ perSecond: 500, seconds: 10 },
			{ perSecond: 1000, seconds: 10 },
			{ perSecond: 2000, seconds: 12 },
		]),
	);
	const due = dueOf(plan);
	const random = seeded(5);
	// Response grows with the step; 7 of the last one are lost.
	const stepOf = (ns: number) => (ns < 12e9 ? 0 : ns < 22e9 ? 1 : 2);
	const took = due.map((ns) => Math.round((1 + stepOf(ns)) * (0.5 + random()) * MS));
	const lost = (i: number) => stepOf(due[i] as number) === 2 && i % 4000 === 1;
	const fates = due.map(
		(ns, i): Fate => ({ receivedNs: [lost(i) ? null : ns + (took[i] as number)] }),
	);

	const steps = once(() => shown(plan, fates));

	test("each has its rate, its own sorted samples, and what went through in it", () => {
		const { run } = steps();
		expect(run.phases.map((p) => [p.name, p.rate, p.intended])).toEqual([
			["500/s", 500, 5000],
			["1000/s", 1000, 10_000],
			["2000/s", 2000, 24_000],
		]);
		for (const [step, phase] of run.phases.entries()) {
			const mine = took
				.filter((_, i) => {
					const ns = due[i] as number;
					return ns >= 2e9 && stepOf(ns) === step && !lost(i);
				})
				.sort((a, b) => a - b);
			expect(phase.metric).toBe("response");
			expect(phase.latency).toMatchObject({
				count: mine.length,
				n: phase.intended,
				censored: phase.intended - mine.length,
				min: mine[0],
				max: mine.at(-1),
			});
			expect(phase.latency?.mean).toBeCloseTo(mine.reduce((a, b) => a + b, 0) / mine.length, 3);
			for (const p of [50, 99]) {
				const exact = mine[Math.ceil((phase.intended * p) / 100 - 1e-9) - 1] as number;
				const found = phase.latency?.percentiles.find((x) => x.p === p);
				expect(found?.value).toBeGreaterThanOrEqual(exact);
				expect(found?.value).toBeLessThanOrEqual(exact * 1.001);
				expect(found?.support).toBe("ok");
				expect(found?.low).not.toBeNull();
			}
			expect(phase.throughput.sent).toBe(phase.rate);
			expect(phase.throughput.received).toBeCloseTo(phase.rate, -1);
		}
		expect(run.phases[2]?.latency?.censored).toBeGreaterThan(0);
	});

	test("the last one has all that the window's totals have, also without a tick of its last second", () => {
		const two = [1, 2].map(() => ({ perSecond: 100, seconds: 2 }));
		const plan = planOf(inSteps(2, two));
		const fates = dueOf(plan).map((ns) => ({ receivedNs: [ns + MS] }));
		const run = join(
			built(plan, fates),
			"runs",
			`${String(plan.index).padStart(2, "0")}-${plan.system}`,
		);
		const whole = factsOf(collect(run), UNKNOWN);
		const { ticks, totals } = whole.collected;
		const sent = (of: typeof ticks) =>
			phasesOf({ ...whole, collected: { ...whole.collected, ticks: of } }).at(-1)?.throughput.sent;
		expect(sent(ticks)).toBe(100);
		expect(totals?.sentInWindow).toBe(400);
		expect(sent(ticks.slice(0, -1))).toBe(100);
	});

	test("a rate that rises is no queue that grows, nor a drift", () => {
		const { run } = steps();
		expect(run.validity.find((c) => c.check === "backlog")?.status).toBe("ok");
		expect(run.validity.some((c) => c.check === "steady")).toBe(false);
	});

	test("a step that is not carried fails, though the steps before it were", () => {
		const last = due.findIndex((ns) => ns >= 22e9);
		const slow = due.map(
			(ns, i): Fate => ({
				// 1500/s at most: in the last step the queue grows by 500 a second.
				receivedNs: [
					stepOf(ns) === 2 ? 22e9 + ((i - last) * 1e9) / 1500 : ns + (took[i] as number),
				].map(Math.round),
			}),
		);
		const { result, run } = made(plan, slow);
		expect(result.verdict).toBe("fail");
		expect(run.why).toContain("at 2000/s the queue grew");
	});
});

describe("an idle step between two others", () => {
	const plan = planOf(
		inSteps(2, [
			{ perSecond: 500, seconds: 5 },
			{ perSecond: 0, seconds: 5 },
			{ perSecond: 1000, seconds: 5 },
		]),
	);
	const idle = once(() =>
		shown(
			plan,
			dueOf(plan).map((ns): Fate => ({ receivedNs: [ns + MS] })),
		),
	);

	test("has a rate and no figures, and the others have theirs", () => {
		const { run } = idle();
		expect(run.phases.map(({ rate }) => rate)).toEqual([500, 0, 1000]);
		expect(run.phases[1]).toMatchObject({
			intended: 0,
			latency: null,
			lagP99: null,
			throughput: { sent: null, acked: null, received: null },
		});
		expect(run.phases.map((p) => p.latency?.count)).toEqual([2500, undefined, 5000]);
		expect(rowsOf(phasesAsBlocks(run))[1]).toEqual([
			"0/s",
			"0/s",
			"n/a",
			"n/a",
			"n/a",
			"n/a",
			"n/a",
			"n/a",
		]);
	});

	test("makes nothing of the run doubtful, and is no point of latency over rate", () => {
		const { result, run } = idle();
		expect(run.verdict).toBe("pass");
		expect(run.validity.filter(({ status }) => status !== "ok" && status !== "unknown")).toEqual(
			[],
		);
		expect([run.notOffered, run.lost]).toEqual([0, 0]);
		const chart = figuresOf(result).find(({ id }) => id.endsWith("-steps"));
		expect(chart?.panels[0]?.series[0]?.data.map(({ x }) => x)).toEqual([500, 1000]);
	});
});

describe("stages without steps", () => {
	test("ramp up and down: nothing but the load grows", () => {
		const rate = (messages: number) => ({ messages, perNs: 1e9 });
		const pieces = [
			{ durationNs: 1e9, from: rate(100), to: rate(100) },
			{ durationNs: 10e9, from: rate(100), to: rate(4000) },
			{ durationNs: 5e9, from: rate(4000), to: rate(4000) },
		];
		const base = planOf({
			schedule: {
				kind: "stages",
				rate: rate(4000),
				pieces,
				warmupNs: 1e9,
				durationNs: 15e9,
				warmupMessages: 100,
				messages: 100 + 20_500 + 20_000,
			},
		});
		// 50 ms each: in flight go from 5 to 200.
		const fates = dueOf(base).map((ns) => ({ receivedNs: [ns + 50 * MS] }));
		const { run, text, html } = shown(base, fates);
		expect(run.validity.find((c) => c.check === "identities")?.detail).toBe("all counts add up");
		expect(run.validity.find((c) => c.check === "backlog")?.status).toBe("ok");
		expect(run.phases).toEqual([]);
		expect(text).toContain("stages up to 4000/s");
		// 368 888 messages at 40 500 in 15 s.
		expect(/needs N &#62;= 368\s88\d; [^<]*/.exec(html)?.[0]).toMatch(
			/; 2min 17s at this mean rate$/,
		);
	});
});

describe("a backlog of 20 000 messages", () => {
	const schedule = steady(2000, 1, 30);
	const phases = [
		{ name: "before", fromNs: 0, toNs: 5e9 },
		{ name: "build", fromNs: 5e9, toNs: 15e9 },
		{ name: "drain", fromNs: 15e9, toNs: 30e9 },
	];
	const [pauseNs, resumeNs] = [6e9, 16e9];
	const plan = planOf({
		pattern: "backlog",
		consumers: 1,
		consumerConnections: 1,
		acks: true,
		schedule,
		phases,
		backlog: { pauseNs, resumeNs, messages: 20_000 },
		sla: [tally("drainTime", "<", 10e9), tally("drainRate", ">=", 4000)],
	});
	/** From the end of the pause on so many a second are received, in order; acknowledgements take longer meanwhile. */
	const drainedAt = (perSecond: number) => {
		let free = resumeNs;
		return Array.from({ length: schedule.messages }, (_, i): Fate => {
			const ns = i * 500_000;
			const ackMs = ns < pauseNs ? 1 : ns < resumeNs ? 2 : 4;
			const ackedNs = ns + ackMs * MS;
			if (ns + MS < pauseNs) return { ackedNs, receivedNs: [ns + MS] };
			free = Math.max(free + 1e9 / perSecond, ns + MS);
			return { ackedNs, receivedNs: [Math.round(free)] };
		});
	};

	const drained = once(() => shown(plan, drainedAt(6000)));

	test("is drained when at most 1000 wait: 6000/s against 2000/s take 19 000 / 4000 = 4.75 s", () => {
		const { run, result, text, out } = drained();
		expect(run.drain?.peak).toBeGreaterThan(19_990);
		expect(run.drain?.peak).toBeLessThan(20_010);
		expect(run.drain?.drainedAt).toBe(1000);
		expect(run.drain?.drainNs).toBe(4.8e9);
		// Received meanwhile: 4.8 s x 6000/s.
		expect(run.drain?.perSecond).toBeGreaterThan(5990);
		expect(run.drain?.perSecond).toBeLessThan(6010);
		expect(result.verdict).toBe("pass");
		expect(result.gates.map((g) => g.measured)).toEqual(["4.8s", "6 000/s"]);
		for (const one of out) expect(one).toMatch(/was drained in 4\.8s/);
		expect(text).toContain("until at most 1 000 waited");
	});

	test("has no response, and ack by phase", () => {
		const { run, text } = drained();
		expect(run.metrics.response).toBeNull();
		expect(run.metrics.service).toBeNull();
		expect(run).toMatchObject({ received: 60_000, lost: 0 });
		expect(run.phases.map(({ name, metric, latency }) => [name, metric, latency?.max])).toEqual([
			["before", "ack", 1 * MS],
			["build", "ack", 2 * MS],
			["drain", "ack", 4 * MS],
		]);
		expect(run.phases[1]?.throughput.received).toBe(0);
		expect(run.phases[1]?.throughput.sent).toBe(2000);
		expect(text).toContain("Ack by phase");
	});

	test("grows by design: no queue is found to grow without end", () => {
		const { run } = drained();
		expect(run.validity.some((c) => c.check === "backlog")).toBe(false);
	});

	test("that is not drained by the end of the window has no time, and says how many still waited", () => {
		const { run, result, text } = shown(plan, drainedAt(2500));
		expect(run.drain).toMatchObject({ drainNs: null, perSecond: null });
		// 20 000 - 15 s x 500/s.
		expect(run.drain?.problem).toMatch(/12 50\d of 20 00\d messages still waited/);
		expect(text).toContain("was not drained by the end of the window");
		// It certainly took more than 10 s, but its rate is not known.
		expect(result.gates.map((g) => g.verdict)).toEqual(["fail", "inconclusive"]);
	});

	test("of fewer messages than count as drained says nothing", () => {
		const small = planOf({ ...plan, backlog: { pauseNs: 6e9, resumeNs: 6.4e9, messages: 800 } });
		const fates = Array.from({ length: schedule.messages }, (_, i): Fate => {
			const ns = i * 500_000;
			const waits = ns + MS >= 6e9 && ns < 6.4e9;
			return { ackedNs: ns + MS, receivedNs: [waits ? 6.4e9 + MS : ns + MS] };
		});
		const { run, result } = made(small, fates);
		expect(run.drain?.problem).toContain("build a larger one");
		expect(result.gates[0]?.verdict).toBe("inconclusive");
	});
});

describe("p99 of lag", () => {
	const marked = (plan: Plan) => {
		const fates = dueOf(plan).map((ns): Fate => ({ receivedNs: [ns + MS] }));
		return shown(plan, fates);
	};

	test("of a phase is marked where nobody knows how its samples cluster", () => {
		const steps = [10, 2].map((seconds) => ({ perSecond: 500, seconds }));
		const { run, text } = marked(planOf(inSteps(1, steps)));
		expect(run.phases.map((p) => p.lagP99Weak)).toEqual([false, true]);
		expect(rowsOf(phasesAsBlocks(run)).map((row) => row.at(-1))).toEqual(["0s", "~0s"]);
		expect(text).toContain("~, n/a: too few samples");
	});

	test.each([
		[10, false, "0s"],
		[2, true, "~0s"],
	])("of a client: %d s", (seconds, weak, text) => {
		const plan = planOf({
			client: { index: 0, count: 2 },
			producers: 2,
			connections: 2,
			topics: ["t0", "t1"],
			schedule: steady(500, 1, seconds),
		});
		const { run } = marked(plan);
		expect(run.clients.map((c) => c.lagP99Weak)).toEqual([weak, weak]);
		expect(rowsOf(clients(run)).map((row) => row[4])).toEqual([text, text]);
	});
});
