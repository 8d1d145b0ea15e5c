import { execFileSync } from "node:child_process";
import { test } from "vitest";

test("10 000 mutated scenarios are taken or refused with a line and a sentence", () => {
	execFileSync(
		"npx",
		["vitest", "run", "--config", "runner/vitest.config.ts", "runner/scenario/load.fuzz.test.ts"],
		{ env: { ...process.env, MQBENCH_FUZZ_ROUNDS: "10000" }, stdio: "inherit", timeout: 1_200_000 },
	);
}, 1_200_000);
