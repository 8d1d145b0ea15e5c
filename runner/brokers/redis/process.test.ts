import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { runs } from "../../../infra/processes.fake.ts";
import type { Broker } from "../../../infra/rig.ts";
import { started } from "../started.fake.ts";

// Without the program this says so and skips, but never in CI.
const missing = spawnSync("redis-server", ["--version"]).error !== undefined;

describe.skipIf(missing && process.env.CI !== "true")(
	`a real redis-server${missing ? " (missing: redis-server)" : ""}`,
	() => {
		test("comes up, says its version, and is gone with its data", async () => {
			const broker = await started("redis", { mode: "streams", durability: "fsync" });
			expect(broker.url).toMatch(/^redis:\/\/:\w+@127\.0\.0\.1:\d+$/);
			expect(broker.version).toMatch(/^redis-server \d/);
			expect(broker.binary).toMatch(/redis-server$/);
			expect(cli(broker, "CONFIG", "GET", "appendfsync")).toContain("always");
			expect(cli(broker, "CONFIG", "GET", "save")).toBe("save\n\n");
			const folder = cli(broker, "CONFIG", "GET", "dir").split("\n")[1] ?? "";
			expect(statSync(path.join(folder, "appendonlydir")).isDirectory()).toBe(true);
			expect(broker.pids.every(runs)).toBe(true);
			await broker.close();
			expect(broker.pids.some(runs)).toBe(false);
			expect(() => statSync(folder)).toThrow("no such file");
			expect(readFileSync(broker.log, "utf8")).toContain("Ready to accept connections");
		});

		test("that does not know a setting does not start, and says why", async () => {
			await expect(started("redis", { config: { "no-such-setting": 1 } })).rejects.toMatchObject({
				code: "broker-start",
				message: expect.stringContaining("Bad directive"),
			});
		});
	},
);

// --- internal ---

function cli(broker: Broker, ...command: string[]): string {
	const { hostname, port, password } = new URL(broker.url);
	return execFileSync("redis-cli", ["-h", hostname, "-p", port, ...command], {
		encoding: "utf8",
		env: { ...process.env, REDISCLI_AUTH: password },
	});
}
