import { once } from "node:events";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { alive, descendant, descendants } from "../../../infra/processes.fake.ts";
import type { Run } from "../../model/result.ts";
import {
	freePort,
	type Mqbench,
	resultOf,
	run,
	scenario,
	start,
	temporaryFolder,
} from "./mqbench.ts";
import { ownNats } from "./own-nats.ts";

/** A limit that a busy machine cannot breach: these tests are about counts. */
const LENIENT = "[p50 < 2s, failed == 0]";

test("a report says where p99 went: queued where inFlight held messages back, else service", {
	tags: "long",
}, async () => {
	const folder = temporaryFolder();
	const out = path.join(folder, "out");
	const file = scenario(
		folder,
		{ duration: "3s" },
		{
			system: "nats",
			faults: "[{ at: 1s, action: pause, for: 700ms }]",
			cases: "[{ name: held, inFlight: 5 }, { name: free }]",
			sla: LENIENT,
		},
	);
	const ended = await run([file, "--out", out]);
	expect([0, 4]).toContain(ended.code);
	const { runs } = resultOf(out);
	for (const one of runs) {
		const at = one.breakdown?.find(({ p }) => p === 99);
		const { response, queued, lag, service } = at ?? {};
		const parts = (queued ?? 0) + (lag ?? 0) + (service ?? 0);
		expect(parts).toBeCloseTo(response as number, 3);
		expect(response).toBeGreaterThan(300e6);
		const most = one.case === "held" ? queued : service;
		expect(most, one.case).toBeGreaterThan((response as number) / 2);
	}
	expect(ended.out.replaceAll(/\s+/g, " ")).toMatch(
		/ p99 ~?\d+ms[^=]*= queued \S+ \+ lag \S+ \+ service \S+ /,
	);
	const again = await run(["report", out]);
	expect(again.code).toBe(ended.code);
	expect(resultOf(out).runs).toEqual(runs);
});

describe("a JetStream broker", () => {
	const JETSTREAM = { system: "{ broker: nats, mode: jetstream }" };

	test("frozen for a second: nothing is lost, and the highest response shows it", async () => {
		const folder = temporaryFolder();
		const out = path.join(folder, "out");
		const file = scenario(
			folder,
			// Where "1s" is said late, there is still time enough to be frozen in.
			{ duration: "6s" },
			{ ...JETSTREAM, sla: LENIENT },
		);
		const mqbench = await measuring([file, "--out", out]);
		const pid = server(mqbench);
		process.kill(pid, "SIGSTOP");
		await new Promise((resolve) => setTimeout(resolve, 1000));
		process.kill(pid, "SIGCONT");
		await mqbench.ended;
		const one = onlyRun(out);
		addsUp(one);
		expect(one).toMatchObject({ acked: 3000, received: 3000, lost: 0 });
		expect(one.metrics.response?.max).toBeGreaterThan(0.95e9);
		// Not one message bears it, but all that were due meanwhile: a sixth.
		expect(p(one, 90)).toBeGreaterThan(0.3e9);
	});

	test("frozen for good: the run ends in bounded time, what had no answer is unknown, and nothing is left", {
		tags: "long",
	}, async () => {
		const folder = temporaryFolder();
		const out = path.join(folder, "out");
		const file = scenario(folder, { duration: "3s", drain: "2s" }, { ...JETSTREAM, sla: LENIENT });
		const mqbench = await measuring([file, "--out", out]);
		const children = descendants(mqbench.pid);
		const began = Date.now();
		process.kill(server(mqbench), "SIGSTOP");
		const ended = await mqbench.ended;
		// The schedule, the drain, what k6 adds, and 10 s until a process that does not answer is killed.
		expect(Date.now() - began).toBeLessThan(45_000);
		expect(ended.code).not.toBe(0);
		expect(alive(children)).toEqual([]);
		const one = onlyRun(out);
		addsUp(one);
		expect((one.unknown ?? 0) + (one.failed ?? 0)).toBeGreaterThan(100);
	});

	test("restarted in mid-run: the run goes on, and what was acknowledged is still there", {
		tags: "long",
	}, async () => {
		const folder = temporaryFolder();
		const out = path.join(folder, "out");
		const port = await freePort();
		const store = `jetstream { store_dir: ${JSON.stringify(path.join(folder, "store"))} }`;
		const { child: server } = await ownNats(store, port);
		const file = scenario(
			folder,
			{ pattern: "work-queue", duration: "8s" },
			{
				target: "existing",
				system: `{ broker: nats, mode: jetstream, url: "nats://127.0.0.1:${port}" }`,
				sla: "[lost == 0]",
			},
		);
		const mqbench = await measuring([file, "--out", out]);
		server.kill("SIGKILL");
		await once(server, "exit");
		await new Promise((resolve) => setTimeout(resolve, 500));
		await ownNats(store, port);
		await mqbench.ended;
		const one = onlyRun(out);
		addsUp(one);
		expect(one.state).toBe("complete");
		expect(one.failed).toBeGreaterThan(0);
		expect(one.acked).toBeGreaterThan(1000);
		expect(one.lost).toBe(0);
		expect(one.reconnects).toBeGreaterThan(0);
	});
});

// --- internal ---

/** Starts a run, and returns when it measures. */
async function measuring(args: string[]): Promise<Mqbench> {
	const mqbench = start(args);
	await mqbench.says(/ {2}1s\/\d+s/);
	return mqbench;
}

function server(mqbench: Mqbench): number {
	const found = descendant(mqbench.pid, "nats-server");
	if (!found) throw new Error("nats-server does not run");
	return found.pid;
}

function onlyRun(out: string): Run {
	const [one] = resultOf(out).runs;
	if (!one) throw new Error("there is no run");
	return one;
}

/** The identities, as far as a result shows them. */
function addsUp(one: Run): void {
	const { intended, sent, notOffered, acked, failed, unknown } = one;
	expect((sent ?? 0) + (notOffered ?? 0)).toBe(intended);
	expect((acked ?? 0) + (failed ?? 0) + (unknown ?? 0)).toBe(sent);
	expect(one.why ?? "").not.toContain("add up");
}

function p(one: Run, percentile: number): number {
	return one.metrics.response?.percentiles.find((all) => all.p === percentile)?.value ?? 0;
}
