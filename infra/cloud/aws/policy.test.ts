import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { packageFolder } from "../../../runner/package.ts";
import { allowedCalls } from "./emulator.fake.ts";

test("the policy has no wildcard: whoever gives it sees what is given", () => {
	expect(allowedCalls().filter((call) => !/^\w+:\w+$/.test(call))).toEqual([]);
});

test("the page on permissions names each of them", () => {
	const page = readFileSync(path.join(packageFolder, "infra/aws/PERMISSIONS.md"), "utf8");
	expect(allowedCalls().filter((call) => !page.includes(`\`${call.split(":")[1]}\``))).toEqual([]);
});
