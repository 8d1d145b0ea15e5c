import { defineConfig } from "vitest/config";

export default defineConfig({
	test: {
		root: "..",
		include: ["runner/**/*.test.ts", "infra/**/*.test.ts"],
		// Two cores share tests and brokers: what waits for a process needs time.
		testTimeout: 20_000,
	},
});
