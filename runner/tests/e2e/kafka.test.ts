import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
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
	() => {
		test("one after the other on a Kafka that stays up: a work-queue of two partitions keeps the order of each key, and a closed load sends what inFlight lets through", {
			tags: "long",
		}, async () => {
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

		test("killed in mid-run: the run ends, every message is accounted for, and it does not pass", {
			tags: "long",
		}, async () => {
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
