import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { NoSkips } from "../no-skips.ts";
import { QUICK_JAVA } from "../quick-java.ts";

const globalSetup = ["infra/programs/real.fake.ts", "runner/tests/e2e/test-images.ts"];

/** These take longest: started last, each would end with nothing else running. */
class LongestFirst extends BaseSequencer {
	override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
		const long = (file: TestSpecification) => /(kubernetes|pack)\.acceptance/.test(file.moduleId);
		const sorted = await super.sort(files);
		return [...sorted.filter(long), ...sorted.filter((file) => !long(file))];
	}
}

/** `npm run acceptance`: tests that are long, or bound to real time. Measurements run alone on the machine (`alone/`), after the others (all.sh). */
export default defineConfig({
	test: {
		root: fileURLToPath(new URL("../../..", import.meta.url)),
		testTimeout: 600_000,
		hookTimeout: 600_000,
		sequence: { sequencer: LongestFirst },
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
					env: QUICK_JAVA,
					// Most of them wait: for pods, brokers, hosts. The drivers' tests run beside them.
					maxWorkers: 3,
				},
			},
			{
				extends: true,
				test: {
					name: "alone",
					include: ["runner/tests/acceptance/alone/*.acceptance.ts"],
					globalSetup,
					fileParallelism: false,
				},
			},
		],
	},
});
