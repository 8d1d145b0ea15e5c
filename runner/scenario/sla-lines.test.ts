import { expect, test } from "vitest";
import { lineOfSla } from "./sla-lines.ts";

const TEXT = `# p99 < 20ms is what users feel
sla:
  - p99 < 20ms # of all; p50 < 9ms would do

  - { expect: p99.9 < 5ms, system: a, case: 1KiB }
  - expect: "lost  ==  0"
    system: b
  - expect: ack p99 < 1ms
  - recovered(p99 < 100ms) < 15s
  - p99 <= max(baseline*1.1, baseline+2ms)
cases:
  - { message: 1KiB, rate: 1000/s, sla: [max < 1s, p50 < 1ms] }
  - sla: [p99 < 500ms, service p99 < 500ms]
  - { name: x, sla: [lag p50 < 7ms, p90 < 1s] }
  - { name: y, sla: [p90 < 1s] }
`;

test.each([
	["p99 < 20ms", 3],
	["p99.9 < 5ms", 5],
	["lost == 0", 6],
	["ack p99 < 1ms", 8],
	["recovered(p99 < 100ms) < 15s", 9],
	["p99 <= max(baseline*1.1, baseline+2ms)", 10],
	["max < 1s", 12],
	["p50 < 1ms", 12],
	["p99 < 500ms", 13],
	["lag p50 < 7ms", 14],
	["p99 < 1ms", null],
	["p50 < 7ms", null],
	["p99 < 2", null],
	["lost == 0 (delivery: at-least-once)", null],
	["p90 < 1s", null],
])("the SLA line %s is in line %s, with line ends of Windows too", (sla, line) => {
	expect(lineOfSla(TEXT, sla)).toBe(line);
	expect(lineOfSla(`\ufeff${TEXT.replaceAll("\n", "\r\n")}`, sla)).toBe(line);
});
