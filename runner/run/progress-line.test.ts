import { expect, test } from "vitest";
import { endOf, tickOf } from "./fleet.fake.ts";
import { readProgress } from "./progress-line.ts";

test.each([
	{ mqbench: "start", t0UnixNs: "1770000000000000000" },
	tickOf(),
	tickOf({ acked: 5, p50: null, window: { count: 9, p50: 1, p99: 2, max: 4 } }),
	endOf(),
])("reads what the generator prints (%#)", (line) => {
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
