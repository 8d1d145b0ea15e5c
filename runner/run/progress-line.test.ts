import { expect, test } from "vitest";
import { readProgress } from "./progress-line.ts";

test("reads what the generator prints", () => {
	const line = { mqbench: "start", t0UnixNs: "1770000000000000000" };
	expect(readProgress(JSON.stringify(line))).toEqual(line);
});

test("reads a second with what the window came to so far, and one of a generator that does not tell", () => {
	const old = {
		mqbench: "tick",
		at: 7,
		sent: 1,
		received: 1,
		failed: 0,
		duplicated: 0,
		over: [],
		p50: null,
		p99: 5,
	};
	const line = {
		...old,
		acked: null,
		metric: "response",
		window: { count: 9, p50: 1, p99: 2, max: 4 },
	};
	for (const one of [old, line, { ...line, window: null }])
		expect(readProgress(JSON.stringify(one))).toEqual(one);
	const end = { mqbench: "end", state: "complete", window: line.window };
	expect(readProgress(JSON.stringify(end))).toEqual(end);
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
