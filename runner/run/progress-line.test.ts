import { expect, test } from "vitest";
import { readProgress } from "./progress-line.ts";

test("reads what the generator prints", () => {
	const line = { mqbench: "start", t0UnixNs: "1770000000000000000" };
	expect(readProgress(JSON.stringify(line))).toEqual(line);
});

test.each([
	"",
	"running (00m01.0s), 10/10 VUs",
	"{",
	"{}",
	"[1]",
	'{"mqbench":"news"}',
	'{"mqbench":"tick","at":"1"}',
])("passes over what is not the generator's: %j", (line) => {
	expect(readProgress(line)).toBeNull();
});
