import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { packageFolder } from "../../../runner/package.ts";
import { neededCalls } from "./permissions.ts";

interface Policy {
	readonly Version: string;
	readonly Statement: readonly {
		readonly Effect: string;
		readonly Action: readonly string[];
		readonly Resource: string;
	}[];
}

const policy = JSON.parse(
	readFileSync(path.join(packageFolder, "infra/aws/policy.json"), "utf8"),
) as Policy;

test("the policy allows what is needed, and nothing else", () => {
	const allowed = policy.Statement.flatMap(({ Effect, Action }) => {
		expect(Effect).toBe("Allow");
		return Action;
	});
	expect([...allowed].sort()).toEqual(neededCalls());
	// No wildcard: whoever gives it sees what is given.
	expect(allowed.filter((action) => action.includes("*"))).toEqual([]);
});

test("the page on permissions names each of them", () => {
	const page = readFileSync(path.join(packageFolder, "infra/aws/PERMISSIONS.md"), "utf8");
	expect(neededCalls().filter((call) => !page.includes(`\`${call.split(":")[1]}\``))).toEqual([]);
});
