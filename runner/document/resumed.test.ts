import { expect, test } from "vitest";
import { machineOf } from "../compare/machine.ts";
import { EnvironmentFile } from "../model/environment-file.ts";
import type { Result } from "../model/result.ts";
import { readEnvironment } from "../run/environment.ts";
import { resumedText } from "./resumed.ts";

const began = readEnvironment("2026-01-02T03:04:05.000Z", { k6: "v2.1.0", go: null });

function resumedAt(...starts: readonly (readonly [string, string])[]) {
	return EnvironmentFile.parse({
		...began,
		bootId: "a",
		resumed: starts.map(([startedAt, bootId]) => ({ startedAt, bootId, node: "v20", go: null })),
	});
}

function result(
	environment: EnvironmentFile | null,
	...starts: readonly (string | null)[]
): Result {
	const runs = starts.map((startedAt, i) => ({ index: i + 1, startedAt }));
	return { environment, runs } as unknown as Result;
}

const first = "2026-01-02T03:05:00.000Z";
const second = "2026-01-03T10:00:01.000Z";

test("a result of several commands says which runs come from when", () => {
	const environment = resumedAt(
		["2026-01-03T10:00:00.000Z", "a"],
		["2026-01-04T10:00:00.000Z", "a"],
	);
	// Run 2 was made again later, run 6 was never made.
	expect(resumedText(result(environment, first, second, first, first, second, null))).toBe(
		"resumed: runs 1, 3 to 4 of 2026-01-02 03:04:05 UTC; runs 2, 5 of 2026-01-03 10:00:00 UTC",
	);
});

test("a result of one command says nothing", () => {
	expect(resumedText(result(began, first))).toBeNull();
	expect(resumedText(result(null, first))).toBeNull();
});

test("runs of two starts of a machine are of no one start", () => {
	const at = "2026-01-03T10:00:00.000Z";
	expect(machineOf(resumedAt([at, "a"]))?.boot).toBe("a");
	expect(machineOf(resumedAt([at, "b"]))?.boot).toBeNull();
});
