import { expect, test } from "vitest";
import { variable } from "../brokers/index.ts";
import { parseSource } from "./source.ts";

test.each([
	["a variable in a block needs no quotes", `system:\n  url: ${variable("NATS_URL")}\n`],
	["an alias beside what it stands for", "a: &x [1]\nb: *x\n"],
])("%s", (_, text) => {
	expect(parseSource(text)).not.toHaveProperty("problems");
});

test("a line too far right is found where lines end as on Windows", () => {
	const text = "workload:\r\n  rate: 3/s\r\n   message: 1KiB\r\n  duration: 9s\r\n";
	expect(parseSource(text)).toMatchObject({
		problems: [
			{
				message: "this line is indented differently; write keys of one map in the same column",
				offset: text.indexOf("message"),
			},
		],
	});
});
