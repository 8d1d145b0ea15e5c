import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { NoSkips } from "../no-skips.ts";

/** `npm run lifecycle`: rented machines from standing up to nothing left, with the real command pulumi. */
export default defineConfig({
	test: {
		root: fileURLToPath(new URL("../../..", import.meta.url)),
		include: ["runner/tests/lifecycle/**/*.lifecycle.ts"],
		globalSetup: ["infra/programs/real.fake.ts"],
		testTimeout: 600_000,
		// Pulumi takes both cores.
		fileParallelism: false,
		reporters: ["verbose", new NoSkips()],
	},
});
