import { once } from "node:events";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { alive } from "../../../infra/processes.fake.ts";
import {
	addsUp,
	flat,
	freePort,
	measured,
	measuring,
	response,
	resultOf,
	run,
	signal,
	temporaryFolder,
} from "./mqbench.ts";
import { ownNats } from "./own-nats.ts";

/** A limit that a busy machine cannot breach: these tests are about counts. */
const LENIENT = "[p50 < 2s, failed == 0]";
const JETSTREAM = { system: "{ broker: nats, mode: jetstream }", sla: LENIENT };

test("a report says where p99 went: queued where inFlight held messages back, else service", {
	tags: "long",
}, async () => {
	const { code, out, results, result } = await measured(
		{ duration: "3s" },
		{
			faults: "[{ at: 1s, action: pause, for: 700ms }]",
			cases: "[{ name: held, inFlight: 5 }, { name: free }]",
			sla: LENIENT,
		},
		{ exit: [0, 4] },
	);
	for (const one of result.runs) {
		const at = one.breakdown?.find(({ p }) => p === 99);
		const { response, queued, lag, service } = at ?? {};
		const parts = (queued ?? 0) + (lag ?? 0) + (service ?? 0);
		expect(parts).toBeCloseTo(response as number, 3);
		expect(response).toBeGreaterThan(300e6);
		const most = one.case === "held" ? queued : service;
		expect(most, one.case).toBeGreaterThan((response as number) / 2);
	}
	expect(flat(out)).toMatch(/ p99 ~?\d+ms[^=]*= queued \S+ \+ lag \S+ \+ service \S+ /);
	expect((await run(["report", results])).code).toBe(code);
	expect(resultOf(results).runs).toEqual(result.runs);
});

test("messages of several sizes: each size has its own count and percentiles, with several clients too", async () => {
	const { code, result, results } = await measured(
		{ duration: "2s", checksum: "true", warmup: "1s", connections: "2", topics: "2" },
		{
			clients: "2",
			cases:
				"[{ name: shares, message: { 256B: 80%, 4KiB: 15%, 64KiB: 5% } }, { name: lognormal, message: { median: 1KiB, p99: 32KiB, max: 64KiB } }]",
			sla: LENIENT,
		},
	);
	const intended: Record<string, number[]> = {};
	for (const one of result.runs) {
		addsUp(one);
		expect(one).toMatchObject({ received: 1000, lost: 0, foreign: 0, corrupted: 0 });
		const sizes = one.sizes ?? [];
		expect(sizes.map(({ count, n }) => [count, n])).toEqual(sizes.map(({ intended: n }) => [n, n]));
		intended[one.case] = sizes.map(({ intended: n }) => n);
		expect(sizes.reduce((all, { count }) => all + count, 0)).toBe(1000);
	}
	for (const [k, share] of [800, 150, 50].entries())
		expect(Math.abs((intended.shares?.[k] ?? 0) - share)).toBeLessThan(60);
	expect(intended.lognormal?.length).toBe(6);
	expect((await run(["report", results])).code).toBe(code);
	expect(resultOf(results).runs).toEqual(result.runs);
});

describe("a JetStream broker", () => {
	test("frozen for a second: nothing is lost, and the highest response shows it", async () => {
		// Where "1s" is said late, there is still time enough to be frozen in.
		const made = await measuring({ duration: "6s" }, JETSTREAM);
		signal(made.children, "nats-server", "SIGSTOP");
		await new Promise((resolve) => setTimeout(resolve, 1000));
		signal(made.children, "nats-server", "SIGCONT");
		await made.mqbench.ended;
		addsUp(made.run);
		expect(made.run).toMatchObject({ acked: 3000, received: 3000, lost: 0 });
		expect(made.run.metrics.response?.max).toBeGreaterThan(0.95e9);
		// Not one message bears it, but all that were due meanwhile: a sixth.
		expect(response(made.run, 90)).toBeGreaterThan(0.3e9);
	});

	test("frozen for good: the run ends in bounded time, what had no answer is unknown, and nothing is left", {
		tags: "long",
	}, async () => {
		const made = await measuring({ duration: "3s", drain: "2s" }, JETSTREAM);
		const began = Date.now();
		signal(made.children, "nats-server", "SIGSTOP");
		const ended = await made.mqbench.ended;
		// The schedule, the drain, what k6 adds, and 10 s until a process that does not answer is killed.
		expect(Date.now() - began).toBeLessThan(45_000);
		expect(ended.code).not.toBe(0);
		expect(alive(made.children)).toEqual([]);
		addsUp(made.run);
		expect((made.run.unknown ?? 0) + (made.run.failed ?? 0)).toBeGreaterThan(100);
	});

	test("restarted in mid-run: the run goes on, and what was acknowledged is still there", {
		tags: "long",
	}, async () => {
		const folder = temporaryFolder();
		const port = await freePort();
		const store = `jetstream { store_dir: ${JSON.stringify(path.join(folder, "store"))} }`;
		const { child: server } = await ownNats(store, port);
		const made = await measuring(
			{ pattern: "work-queue", duration: "8s" },
			{
				target: "existing",
				system: `{ broker: nats, mode: jetstream, url: "nats://127.0.0.1:${port}" }`,
				sla: "[lost == 0]",
			},
			{ folder },
		);
		server.kill("SIGKILL");
		await once(server, "exit");
		await new Promise((resolve) => setTimeout(resolve, 500));
		await ownNats(store, port);
		await made.mqbench.ended;
		addsUp(made.run);
		expect(made.run).toMatchObject({ state: "complete", lost: 0 });
		expect(made.run.failed).toBeGreaterThan(0);
		expect(made.run.acked).toBeGreaterThan(1000);
		expect(made.run.reconnects).toBeGreaterThan(0);
	});
});
