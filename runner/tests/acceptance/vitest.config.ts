import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { NoSkips } from "../no-skips.ts";

const globalSetup = ["infra/binaries/real.fake.ts", "runner/tests/e2e/test-images.ts"];

/** `npm run acceptance`: what is long, or bound to real time. What measures has the machine to itself (`alone/`), after the others. */
export default defineConfig({
	test: {
		root: fileURLToPath(new URL("../../..", import.meta.url)),
		testTimeout: 600_000,
		hookTimeout: 600_000,
		reporters: ["verbose", new NoSkips()],
		projects: [
			{
				extends: true,
				test: {
					name: "side by side",
					include: [
						"runner/tests/acceptance/*.acceptance.ts",
						"{infra,runner}/**/*.acceptance.test.ts",
					],
					exclude: ["**/node_modules/**"],
					globalSetup,
					maxWorkers: 2,
				},
			},
			{
				extends: true,
				test: {
					name: "alone",
					include: ["runner/tests/acceptance/alone/*.acceptance.ts"],
					globalSetup,
					fileParallelism: false,
					sequence: { groupOrder: 1 },
				},
			},
		],
	},
});
