import { readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { buildResult } from "../compare/build.ts";
import { seeded } from "../histogram/random.fake.ts";
import { CATCH_UP } from "../model/load.ts";
import type { Plan } from "../model/plan.ts";
import { offsetNs } from "../plan/offset.ts";
import { meanwhileText } from "../result/words.ts";
import { addRun, built, type Fate, planOf, steady } from "./built.fake.ts";
import { collect } from "./collect.ts";

const [WARMUP, SECONDS, RATE] = [1, 10, 200];
const STARTS = 5e9;

const main = (clients: number, perSecond = RATE): Plan =>
	planOf({
		acks: true,
		case: "256B",
		producers: 4,
		connections: 4,
		topics: ["a", "b", "c", "d"],
		loads: 2,
		ledger: true,
		client: { index: 0, count: clients },
		schedule: steady(perSecond, WARMUP, SECONDS),
	});
const reader = (plan: Plan): Plan => ({
	...plan,
	index: 2,
	case: "256B, replay",
	pattern: CATCH_UP,
	beside: { index: 1, load: "replay", startNs: STARTS },
	ledger: false,
	consumerConnections: 1,
	client: { index: 0, count: 1 },
});

/** Messages that are refused, not offered, never acknowledged, and lost by the log; one in `every` of each. */
function fates(plan: Plan, every: number) {
	const random = seeded(7);
	const happens = () => random() < 1 / every;
	return Array.from({ length: plan.schedule.messages }, (_, i) => {
		const atNs = offsetNs(plan.schedule, i);
		const failed = happens();
		const offered = !failed && !happens();
		const acked = offered && !happens();
		const stored = offered && !happens();
		const sent: Fate = {
			failed,
			sentNs: offered || failed ? atNs : null,
			ackedNs: acked ? atNs + 1e6 : null,
			receivedNs: [stored ? atNs + 2e6 : null],
		};
		const read: Fate = { receivedNs: [stored ? Math.max(atNs + 2e6, STARTS + i * 1e5) : null] };
		return { sent, read, failed, offered, acked, stored };
	});
}

function run(plan: Plan, every: number) {
	const all = fates(plan, every);
	const [sent, read] = [all.map((one) => one.sent), all.map((one) => one.read)];
	const folder = built(plan, sent);
	const catchUp = { beganNs: STARTS, untilNs: STARTS + 2e8, messages: 1000 };
	addRun(folder, reader(plan), read, { catchUp });
	const runs = readdirSync(join(folder, "runs")).sort();
	const [load, path] = runs.map((name) => join(folder, "runs", name)) as [string, string];
	return { all, folder, load, path };
}

describe("a catch-up's books", () => {
	test.each([
		[1, 10],
		[2, 10],
		[4, 3],
		[1, 1000],
	])(
		"of a load of %i clients, in which one of %i goes wrong, add up message by message",
		(clients, every) => {
			const plan = main(clients);
			const { all, path } = run(plan, every);
			const { counters, closed, state } = collect(path);
			expect([closed, state]).toEqual([true, "complete"]);
			for (const scope of ["warmup", "window"] as const) {
				const own = all.filter((_, i) => i < plan.schedule.warmupMessages === (scope === "warmup"));
				const count = (is: (one: (typeof own)[number]) => boolean) => own.filter(is).length;
				const found = counters[scope];
				expect(found).toMatchObject({
					intended: own.length,
					notOffered: count((m) => !m.offered && !m.failed),
					failed: count((m) => m.failed),
					acked: count((m) => m.acked),
					unknown: count((m) => m.offered && !m.acked),
					received: count((m) => m.stored),
					delivered: count((m) => m.stored && m.acked),
					lost: count((m) => m.acked && !m.stored),
					unackedReceived: count((m) => m.stored && !m.acked),
					duplicated: 0,
				});
				if (found === null) throw new Error("no counters");
				expect(found.intended).toBe(found.sent + found.notOffered);
				expect(found.sent).toBe((found.acked ?? 0) + found.failed + found.unknown);
				expect(found.acked).toBe((found.delivered ?? 0) + (found.lost ?? 0));
			}
		},
	);

	test("are not known without the load beside it", () => {
		const { folder, load, path } = run(main(1), 10);
		renameSync(load, join(folder, "elsewhere"));
		expect(collect(path).counters).toEqual({ warmup: null, window: null });
	});

	test("are not known without the load's ledger", () => {
		const { load, path } = run(main(2), 10);
		rmSync(join(load, "client-1.ledger"));
		expect(collect(path).counters.window?.lost).toBeNull();
	});
});

test("a catch-up's result has its time and rate, no latency, and what the load's p99 did meanwhile", () => {
	const { folder } = run(main(1, 2000), 100_000);
	const result = buildResult(folder);
	const [load, replay] = result.runs;
	if (!load || !replay) throw new Error("no runs");
	expect(replay).toMatchObject({
		beside: { index: 1, load: "replay", startNs: STARTS },
		metrics: { response: null, service: null, lag: null },
		drain: { drainNs: 2e8, perSecond: 5000, peak: 10_000 },
		throughput: { sent: null, achieved: null },
	});
	expect(load.beside).toBeUndefined();
	expect(meanwhileText(replay, result)).toMatch(
		/^meanwhile p99 of 256B was up to 2(\.\d+)?ms by the second, before up to 2(\.\d+)?ms$/,
	);
	expect(meanwhileText(load, result)).toBeNull();
});
