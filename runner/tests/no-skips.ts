import type { Reporter, TestModule, Vitest } from "vitest/node";

/** A reporter with which a skipped test fails the run; the test's name or note names the missing part. */
export class NoSkips implements Reporter {
	private vitest: Vitest | undefined;

	onInit(vitest: Vitest): void {
		this.vitest = vitest;
	}

	onTestRunEnd(modules: readonly TestModule[]): void {
		// `vitest -t` skips the others on purpose.
		if (this.vitest?.config.testNamePattern) return;
		const [filter] = this.vitest?.config.tagsFilter ?? [];
		const leftOut = (tags: readonly string[]) =>
			filter !== undefined && tags.includes("long") === (filter === "!long");
		for (const module of modules)
			for (const test of module.children.allTests("skipped")) {
				if (leftOut(test.tags)) continue;
				const result = test.result();
				const note = "note" in result && result.note ? ` (${result.note})` : "";
				process.stderr.write(
					`skipped, and here that fails: ${module.relativeModuleId} > ${test.fullName}${note}\n`,
				);
				process.exitCode = 1;
			}
	}
}
