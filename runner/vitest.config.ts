import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
	test: {
		root: fileURLToPath(new URL("..", import.meta.url)),
		// Two cores share tests and brokers: what waits for a process needs time.
		testTimeout: 20_000,
		projects: [
			{
				extends: true,
				test: {
					name: "unit",
					include: ["runner/**/*.test.ts", "infra/**/*.test.ts"],
					exclude: ["runner/e2e/**"],
					// Vitest would leave one of two cores idle; many of these wait for brokers, browsers and hosts.
					maxWorkers: 2,
					globalSetup: [
						"infra/binaries/real.fake.ts",
						"runner/e2e/test-images.ts",
					],
				},
			},
			{
				extends: true,
				test: {
					name: "e2e",
					include: ["runner/e2e/**/*.test.ts"],
					globalSetup: ["runner/e2e/setup.ts", "runner/e2e/test-images.ts"],
					testTimeout: 60_000,
					// They measure: each has the machine to itself, after the others.
					fileParallelism: false,
					sequence: { groupOrder: 1 },
				},
			},
		],
	},
});
