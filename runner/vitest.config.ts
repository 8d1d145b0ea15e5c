import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { NoSkips } from "./tests/no-skips.ts";

export default defineConfig({
	test: {
		root: fileURLToPath(new URL("..", import.meta.url)),
		// Four times what a test takes alone, and more: two cores share tests and brokers, and others use the machine.
		testTimeout: 180_000,
		hookTimeout: 180_000,
		expect: { poll: { timeout: 30_000 } },
		reporters: process.env.CI ? ["default", new NoSkips()] : ["default"],
		projects: [
			{
				extends: true,
				test: {
					name: "unit",
					include: ["runner/**/*.test.ts", "infra/**/*.test.ts"],
					exclude: ["runner/tests/e2e/**", "**/node_modules/**"],
					// More than two cores: most of the longer ones wait for brokers, containers, browsers and hosts.
					maxWorkers: 3,
					globalSetup: [
						"infra/binaries/real.fake.ts",
						"runner/tests/e2e/test-images.ts",
					],
				},
			},
			{
				extends: true,
				test: {
					name: "e2e",
					include: ["runner/tests/e2e/**/*.test.ts"],
					globalSetup: [
						"infra/binaries/real.fake.ts",
						"runner/tests/e2e/test-images.ts",
					],
					// They measure, after the others. Most of their time they wait, for two at a time there is room.
					maxWorkers: 2,
					sequence: { groupOrder: 1 },
				},
			},
		],
	},
});
