import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { alive, descendants } from "../../../infra/processes.fake.ts";
import { resultOf, run, standing, start, temporaryFolder } from "./mqbench.ts";

// Without Java or Maven this says so and skips, but never in CI.
const missing = ["mvn", "java"].filter(
	(command) => spawnSync(command, ["-version"]).error !== undefined,
);

/** A second at 300/s. */
const SECOND = "rate: 300/s, warmup: 0s, duration: 1s";

describe.skipIf(missing.length > 0 && process.env.CI !== "true")(
	`a run on Kafka${missing.length > 0 ? ` (missing: ${missing.join(", ")})` : ""}`,
	{ timeout: 180_000 },
	() => {
		test("a round trip: acknowledged by the leader, received once and in order", async () => {
			const { code, one, system, folder } = await measure(
				"acks: 1",
				`pattern: round-trip, ${SECOND}`,
			);
			expect(code).toBe(0);
			expect(one).toMatchObject({
				verdict: "pass",
				sent: 300,
				acked: 300,
				received: 300,
				lost: 0,
				duplicated: 0,
				reordered: 0,
				clientDropped: 0,
			});
			expect(one?.metrics.response?.count).toBe(300);
			expect(one?.metrics.ack?.count).toBe(300);
			expect(system).toMatch(/^Kafka 4\./);
			expect(readFileSync(path.join(folder, one?.folder ?? "", "broker.log"), "utf8")).toContain(
				"Kafka Server started",
			);
		});

		test("publish: response ends at the acknowledgement of all, each on disk", async () => {
			const { code, one } = await measure(
				"acks: all, durability: fsync",
				`pattern: publish, ${SECOND}`,
				"p50 < 10s",
			);
			expect(code).toBe(0);
			expect(one).toMatchObject({ acked: 300, received: null, lost: null });
			expect(one?.metrics.response).toEqual(one?.metrics.ack);
		});

		test("one after the other on a Kafka that stays up: a work-queue of two partitions keeps the order of each key, and a closed load sends what inFlight lets through", async () => {
			const folder = temporaryFolder();
			const files = {
				keyed: write(
					folder,
					"keyed",
					"acks: all",
					`pattern: work-queue, consumers: 2, partitions: 2, keys: { distribution: random, count: 20 }, order: per-key, ${SECOND}`,
					"p50 < 10s, lost == 0, duplicated == 0, reordered == 0",
				),
				closed: write(
					folder,
					"closed",
					"acks: all",
					"pattern: work-queue, messages: 5000, inFlight: 500, warmup: 100 messages",
					"service p50 < 10s, lost == 0",
				),
			};
			await standing(folder, files.keyed);
			for (const [name, messages] of [
				["keyed", 300],
				["closed", 5000],
			] as const) {
				const out = path.join(folder, name);
				const { code, err } = await run([files[name], "--rig", "rig.json", "--out", out], {
					cwd: folder,
				});
				expect(code, err).toBe(0);
				expect(resultOf(out).runs[0]).toMatchObject({
					acked: messages,
					received: messages,
					lost: 0,
				});
			}
			expect(resultOf(path.join(folder, "keyed")).runs[0]?.reordered).toBe(0);
		});

		test("killed in mid-run: the run ends, every message is accounted for, and it does not pass", async () => {
			const { file, out } = scenario(
				"acks: all",
				"pattern: round-trip, rate: 300/s, warmup: 0s, duration: 4s, drain: 3s, timeout: 2s",
				"p50 < 2s, lost == 0",
			);
			const mqbench = start([file, "--out", out]);
			// Beside other work a JVM takes half a minute to start.
			await mqbench.says(/ {2}1s\/\d+s/, 60_000);
			const children = descendants(mqbench.pid);
			const java = children.find(({ name }) => name === "java");
			process.kill(java?.pid ?? -1, "SIGKILL");
			const ended = await mqbench.ended;
			expect(ended.code).toBe(3);
			expect(alive(children)).toEqual([]);
			const [one] = resultOf(out).runs;
			if (!one) throw new Error("there is no run");
			expect(one.why).toMatch(/^kafka: the broker ended by itself \(SIGKILL\)/);
			const { intended, sent, notOffered, acked, failed, unknown } = one;
			expect((sent ?? 0) + (notOffered ?? 0)).toBe(intended);
			expect((acked ?? 0) + (failed ?? 0) + (unknown ?? 0)).toBe(sent);
			expect((failed ?? 0) + (unknown ?? 0)).toBeGreaterThan(100);
		});
	},
);

describe("what acks: 0 cannot do is refused before anything starts", () => {
	test("publish", async () => {
		const { code, err } = await measure("acks: 0", `pattern: publish, ${SECOND}`);
		expect(code).toBe(2);
		expect(err).toContain("with acks: 0 nothing is acknowledged");
	});
});

// --- internal ---

/** Writes a short scenario on a Kafka of its own; `options` are of the system. */
function scenario(options: string, load: string, sla: string) {
	const folder = temporaryFolder();
	const file = write(folder, "scenario", options, load, sla);
	return { file, out: path.join(folder, "out") };
}

function write(folder: string, name: string, options: string, load: string, sla: string): string {
	expect(missing, "CI needs mvn and java").toEqual([]);
	const file = path.join(folder, `${name}.yaml`);
	writeFileSync(
		file,
		`name: e2e-kafka\nsystem: { broker: kafka, ${options} }\nworkload: { message: 256B, ${load} }\nsla: [${sla}]\n`,
	);
	return file;
}

async function measure(options: string, load: string, sla = "p50 < 10s, lost == 0") {
	const { file, out } = scenario(options, load, sla);
	const ended = await run([file, "--out", out]);
	const result = ended.code === 2 ? null : resultOf(out);
	return {
		...ended,
		folder: out,
		one: result?.runs[0],
		system: result?.environment?.systems.kafka?.broker,
	};
}
