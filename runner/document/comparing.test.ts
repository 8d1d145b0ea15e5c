import { expect, test } from "vitest";
import { baselineWith } from "../compare/baseline.fake.ts";
import { comparingOf } from "../compare/comparing.ts";
import { renderTerminal } from "../render/terminal.ts";
import { comparingDocument } from "./comparing.ts";

test("a weak percentile of any run is marked on its side, and the mark is explained", () => {
	const side = (path: string, weak: readonly number[]) => ({
		path,
		baseline: baselineWith(
			{ "response p50": [1e6, 1e6], "response p99": [2e6, 2e6] },
			{
				runId: path,
				entries: ({ repeat }) => (weak.includes(repeat) ? { weak: ["response p99"] } : {}),
			},
		),
	});
	const shown = (a: readonly number[], b: readonly number[]) =>
		renderTerminal(comparingDocument(comparingOf(side("a", a), side("b", b))), {
			columns: 100,
			colour: false,
		});
	expect(shown([], [2])).toMatch(/response p99 +2ms +~2ms /);
	expect(shown([], [2])).toContain("~ based on few samples");
	expect(shown([1, 2], [])).toMatch(/response p99 +~2ms +2ms /);
	expect(shown([], [])).not.toContain("~");
});
