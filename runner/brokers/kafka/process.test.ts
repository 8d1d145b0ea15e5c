import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { runs } from "../../../infra/processes.fake.ts";
import { started } from "../started.fake.ts";

// Without Java or Maven this says so and skips, but never in CI.
const missing = ["mvn", "java"].filter(
	(command) => spawnSync(command, ["-version"]).error !== undefined,
);

describe.skipIf(missing.length > 0 && process.env.CI !== "true")(
	`a real Kafka${missing.length > 0 ? ` (missing: ${missing.join(", ")})` : ""}`,
	{ timeout: 180_000 },
	() => {
		test("comes up, says its version, keeps its logs in memory where durability is memory, and is gone with its data", async () => {
			const ours = () =>
				readdirSync("/dev/shm").filter((name) => name.startsWith(`mqbench-${process.pid}-`));
			const inMemory = existsSync("/dev/shm");
			const broker = await started("kafka", inMemory ? { durability: "memory" } : {});
			expect(broker.url).toMatch(/^kafka:\/\/127\.0\.0\.1:\d+$/);
			expect(broker.version).toBe("Kafka 4.1.1");
			expect(broker.pids.every(runs)).toBe(true);
			if (inMemory) {
				const [folder = ""] = ours();
				expect(readdirSync(path.join("/dev/shm", folder, "data-1"))).toContain("meta.properties");
				expect(broker.settings["log.dirs"]).toBe("/dev/shm (in memory)");
			}
			await broker.close();
			expect(broker.pids.some(runs)).toBe(false);
			if (inMemory) expect(ours()).toEqual([]);
			expect(readFileSync(broker.log, "utf8")).toContain("Kafka Server started");
		});
	},
);
