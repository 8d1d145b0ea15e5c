import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { NoSkips } from "./tests/no-skips.ts";
import { QUICK_JAVA } from "./tests/quick-java.ts";

/** Tests that start brokers, browsers or hosts, or change global state, get a process; others share one to load modules once. */
const ISOLATED = [
	"infra/{aws,binaries,clients,cloud,local}/**/*.test.ts",
	"infra/*.test.ts",
	"runner/**/*.browser.test.ts",
	"runner/**/process.test.ts",
	"runner/brokers/made-up.test.ts",
	"runner/package.test.ts",
	"runner/tests/ci/*.test.ts",
];
const E2E = ["runner/tests/e2e/**/*.test.ts"];
/** For `npm run acceptance`, like tests tagged "long". */
const LONG = ["**/*.acceptance.test.ts"];
const globalSetup = ["infra/programs/real.fake.ts", "runner/tests/e2e/test-images.ts"];
// More than two cores: most of the longer ones wait for brokers, containers, browsers and hosts.
const maxWorkers = 3;

/** The long, isolated files start first and never wait for a shared process. */
class IsolatedFirst extends BaseSequencer {
	override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
		const rank = (file: TestSpecification) => (file.project.config.isolate ? 0 : 1);
		return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
	}
}

export default defineConfig({
	test: {
		root: fileURLToPath(new URL("..", import.meta.url)),
		// Over four times a test's own time: two cores share tests and brokers, and others use the machine.
		testTimeout: 180_000,
		hookTimeout: 180_000,
		expect: { poll: { timeout: 30_000 } },
		tags: [{ name: "long", description: "npm test leaves it out, npm run acceptance has it" }],
		experimental: { fsModuleCache: true },
		sequence: { sequencer: IsolatedFirst },
		env: QUICK_JAVA,
		reporters: process.env.CI ? ["default", new NoSkips()] : ["default"],
		projects: [
			{
				extends: true,
				test: {
					name: "unit",
					include: ["{infra,runner}/**/*.test.ts"],
					exclude: [...ISOLATED, ...E2E, ...LONG, "**/node_modules/**"],
					isolate: false,
					maxWorkers,
					globalSetup,
				},
			},
			{
				extends: true,
				test: {
					name: "unit-isolated",
					include: ISOLATED,
					exclude: [...LONG, "**/node_modules/**"],
					maxWorkers,
					globalSetup,
				},
			},
			{
				extends: true,
				test: {
					name: "e2e",
					include: E2E,
					globalSetup,
					// They measure, so they run after the others; mostly they wait.
					maxWorkers,
					sequence: { groupOrder: 1 },
				},
			},
		],
	},
});
