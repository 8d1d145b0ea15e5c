import { readdirSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { addsUp, measuring, signal, start } from "../e2e/mqbench.ts";

/** A checkpoint at each minute has what was due 10 s before: the drain. */
test("an hour's run whose k6 is killed, and then mqbench, goes on as further segments of one run", async () => {
	const made = await measuring(
		{ duration: "1h", warmup: "2s", drain: "10s" },
		{},
		{ at: 30, ms: 120_000 },
	);
	await new Promise((resolve) => setTimeout(resolve, 36_000));
	signal(made.children, "k6", "SIGKILL");
	expect((await made.mqbench.ended).code).toBe(3);
	const resumed = async (from: RegExp) => {
		const again = start([made.file, "--resume", made.results]);
		await again.says(from);
		await again.says(/2min\/1h/, 120_000);
		await new Promise((resolve) => setTimeout(resolve, 4000));
		return again;
	};
	const second = await resumed(/1-nats\S* goes on from 50s of its schedule/);
	second.signal("SIGKILL");
	await second.ended;
	// Its k6 closes its books.
	await new Promise((resolve) => setTimeout(resolve, 12_000));
	const third = await resumed(/1-nats\S* goes on from 1min 50s of its schedule/);
	third.signal("SIGINT");
	expect((await third.ended).code).toBe(130);
	const { run } = made;
	addsUp(run);
	expect(run).toMatchObject({
		intended: 1_800_000,
		lost: 0,
		unknown: 0,
		duplicated: 0,
		warmup: { intended: 1000, sent: 1000 },
	});
	expect(run.received).toBe(run.metrics.response?.count);
	expect(run.received).toBe(run.sent);
	const whole = run.series.seconds.filter(({ second }) => second < 120);
	expect(whole.map(({ second, count }) => [second, count])).toEqual(
		Array.from({ length: 122 }, (_, i) => [i - 2, 500]),
	);
	const check = (name: string) => run.validity.find((one) => one.check === name);
	expect(check("identities")?.status).toBe("ok");
	expect(check("continued")).toMatchObject({ status: "warn", figure: "2 gaps" });
	const files = readdirSync(path.dirname(made.ofRun("run.json")));
	expect(files.filter((name) => /^segment/.test(name))).toEqual(["segment-1", "segment-2"]);
});
