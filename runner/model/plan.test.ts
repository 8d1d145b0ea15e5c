import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { Plan, setUpMs } from "./plan.ts";

/** extensions/xk6-mqbench/generator/session_test.go has the same figures. */
test.each([
	["quickstart", 30_400],
	["fan-out", 55_100],
	["three-clients", 32_400],
])("waits for a client of %s as long as it may take to set up", (name, ms) => {
	const file = new URL(`../script/golden/${name}/plan.json`, import.meta.url);
	const plan = Plan.parse(JSON.parse(readFileSync(file, "utf8")));
	expect(setUpMs(plan)).toBe(ms);
});
