import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { NoSkips } from "../no-skips.ts";

/** `npm run acceptance`: what is long, or bound to real time. One test at a time has the machine to itself. */
export default defineConfig({
	test: {
		root: fileURLToPath(new URL("../../..", import.meta.url)),
		include: [
			"runner/tests/acceptance/**/*.acceptance.ts",
			"{infra,runner}/**/*.acceptance.test.ts",
		],
		globalSetup: ["infra/binaries/real.fake.ts", "runner/tests/e2e/test-images.ts"],
		testTimeout: 600_000,
		fileParallelism: false,
		reporters: ["verbose", new NoSkips()],
	},
});
