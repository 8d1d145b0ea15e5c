import { expect, test } from "vitest";
import { type Context, filled, runs } from "./expression.fake.ts";

const context = (status: Context["status"] = "success"): Context => ({
	values: {
		inputs: { fail: "true", "artifact-name": "mqbench", empty: "" },
		steps: { bin: { outputs: { "cache-hit": "true" } } },
		github: { event: {} },
	},
	status,
});

test.each([
	["inputs.artifact-name", "mqbench"],
	["github.event.pull_request.number", ""],
	["steps.bin.outputs.cache-hit", "true"],
	["inputs.empty || 'it''s'", "it's"],
	["1 == 1 && !false", "true"],
])("%s is %j", (text, value) => {
	expect(filled(`a \${{ ${text} }} b`, context())).toBe(`a ${value} b`);
});

test.each([
	["inputs.fail == 'true'", true, false],
	["inputs.fail == 'FALSE'", false, false],
	["always() && inputs.empty != ''", false, false],
	["always() && steps.none.outputs.x == ''", true, true],
	["failure() || inputs.empty", false, true],
	[undefined, true, false],
])("if: %s runs after a success: %s, after a failure: %s", (text, ok, bad) => {
	expect(runs(text, context())).toBe(ok);
	expect(runs(text, context("failure"))).toBe(bad);
});

test.each(["inputs.fail ==", "(1", "secrets.x", "hashFiles('x')", "a b"])(
	"%s is refused, not guessed",
	(text) => {
		expect(() => runs(text, context())).toThrow();
	},
);
