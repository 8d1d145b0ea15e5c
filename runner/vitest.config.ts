import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { NoSkips } from "./tests/no-skips.ts";

/** Tests that start brokers, browsers or hosts, or change what a process has only one of: each file has a process of its own. */
const ISOLATED = [
	"infra/**/*.test.ts",
	"runner/**/*.browser.test.ts",
	"runner/**/process.test.ts",
	"runner/brokers/made-up.test.ts",
	"runner/package.test.ts",
	"runner/tests/**/*.test.ts",
];
const E2E = ["runner/tests/e2e/**"];
/** Long ones, of which e2e has shorter ones: `npm run acceptance` has them. */
const LONG = ["**/*.acceptance.test.ts"];
const globalSetup = ["infra/binaries/real.fake.ts", "runner/tests/e2e/test-images.ts"];
// More than two cores: most of the longer ones wait for brokers, containers, browsers and hosts.
const maxWorkers = 3;

/** Isolated files first: they are the long ones, and a process that others share is not left for one of them. */
class IsolatedFirst extends BaseSequencer {
	override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
		const rank = (file: TestSpecification) => (file.project.config.isolate ? 0 : 1);
		const sorted = await super.sort(files);
		return sorted.toSorted((a, b) => rank(a) - rank(b));
	}
}

export default defineConfig({
	test: {
		root: fileURLToPath(new URL("..", import.meta.url)),
		// Four times what a test takes alone, and more: two cores share tests and brokers, and others use the machine.
		testTimeout: 180_000,
		hookTimeout: 180_000,
		expect: { poll: { timeout: 30_000 } },
		sequence: { sequencer: IsolatedFirst },
		reporters: process.env.CI ? ["default", new NoSkips()] : ["default"],
		projects: [
			{
				extends: true,
				test: {
					name: "unit",
					include: ["runner/**/*.test.ts"],
					exclude: [...ISOLATED, ...LONG, "**/node_modules/**"],
					// Modules are loaded once for all of them: alone that takes longer than most of these tests.
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
					exclude: [...E2E, ...LONG, "**/node_modules/**"],
					maxWorkers,
					globalSetup,
				},
			},
			{
				extends: true,
				test: {
					name: "e2e",
					include: ["runner/tests/e2e/**/*.test.ts"],
					globalSetup,
					// They measure, after the others. Most of their time they wait, for two at a time there is room.
					maxWorkers: 2,
					sequence: { groupOrder: 1 },
				},
			},
		],
	},
});
