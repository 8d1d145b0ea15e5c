import { expect, test } from "vitest";
import { measured } from "../../e2e/mqbench.ts";

test("400 000 messages a second of 256 B go through NATS on this machine, all offered and received", async () => {
	const load = { rate: "400000/s", warmup: "2s", duration: "10s" };
	const { run: one } = await measured(load, {}, { exit: [0, 4, 6, 99] });
	expect(one).toMatchObject({
		intended: 4_000_000,
		notOffered: 0,
		sent: 4_000_000,
		received: 4_000_000,
		lost: 0,
		duplicated: 0,
		clientDropped: 0,
	});
	const at = (name: "lag" | "response", p: number) =>
		((one.metrics[name]?.percentiles.find((x) => x.p === p)?.value ?? 0) / 1e3).toFixed(0);
	process.stdout.write(
		`400 000/s: achieved ${one.throughput.achieved?.toFixed(0)}/s, lag p50 ${at("lag", 50)} us, p99 ${at("lag", 99)} us; response p50 ${at("response", 50)} us, p99 ${at("response", 99)} us\n`,
	);
});
