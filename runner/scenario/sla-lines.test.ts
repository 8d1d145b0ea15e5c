import { describe, expect, test } from "vitest";
import { loadScenario } from "./load.ts";
import { slaLineFinder } from "./sla-lines.ts";

const TEXT = `# yaml-language-server: $schema=./scenario.schema.json
name: several
systems: { a: { broker: nats }, b: { broker: redis } }
workload: { pattern: round-trip, duration: 10s }
sla:
  - p99 < 20ms # of all

  - { expect: p99.9 < 5ms, system: a, case: 1KiB }
  - expect: "lost  ==  0"
    system: b
  - expect: ack p99 < 1ms
    case: large
cases:
  - { message: 256B, rate: 1000/s }
  - { message: 1KiB, rate: 1000/s, sla: [max < 1s, p50 < 1ms] }
  - name: large
    message: 1MiB
    rate: 10/s
    sla:
      - p99 < 500ms
      - expect: p99.9 < 5ms
        system: b
`;

const lineOf = slaLineFinder(TEXT, []);
const line = (sla: string, system: string, name: string) => lineOf({ sla, system, case: name });

describe("the line of an SLA", () => {
	test.each([
		["p99 < 20ms", "a", "256B 1000/s", 6],
		["p99 < 20ms", "b", "large", 6],
		["p99.9 < 5ms", "a", "1KiB 1000/s", 8],
		["lost == 0", "b", "256B 1000/s", 9],
		["ack p99 < 1ms", "a", "large", 11],
		["max < 1s", "a", "1KiB 1000/s", 15],
		["p50 < 1ms", "b", "1KiB 1000/s", 15],
		["p99 < 500ms", "a", "large", 20],
		["p99.9 < 5ms", "b", "large", 21],
	])("%s of %s, %s is %d", (sla, system, name, expected) => {
		expect(line(sla, system, name)).toBe(expected);
		expect(TEXT.split("\n")[expected - 1]).toContain(sla === "lost == 0" ? "lost  ==  0" : sla);
	});

	test.each([
		["p99 < 21ms", "a", "large"],
		["p99.9 < 5ms", "b", "1KiB 1000/s"],
		["lost == 0", "a", "large"],
		["lost == 0 (delivery: at-least-once)", "b", "large"],
		["max < 1s", "a", "large"],
		["ack p99 < 1ms", "a", "256B 1000/s"],
	])("%s of %s, %s is nowhere", (sla, system, name) => {
		expect(line(sla, system, name)).toBeNull();
	});

	test("is known although --set has changed the names of cases; what it has set has none", () => {
		const changed = slaLineFinder(TEXT, ["cases.1.rate=5000/s", "sla.0=p99 < 30ms"]);
		const of = (sla: string, name: string) => changed({ sla, system: "a", case: name });
		expect(of("max < 1s", "1KiB 5000/s")).toBe(15);
		expect(of("p99 < 30ms", "256B 1000/s")).toBeNull();
	});

	test("is carried from the moment the scenario is loaded", () => {
		const { sla } = loadScenario("s.yaml", TEXT.replace("ack p99", "lag p99"));
		expect(sla.map(({ line }) => line)).toEqual([6, 8, 9, 11, 15, 15, 20, 21]);
	});

	test("counts with line ends of Windows and a byte order mark", () => {
		const windows = slaLineFinder(`\ufeff${TEXT.replaceAll("\n", "\r\n")}`, []);
		expect(windows({ sla: "p99 < 500ms", system: "a", case: "large" })).toBe(20);
	});

	test("of an alias is that of its use", () => {
		const of = slaLineFinder(
			"system: nats\nworkload: { rate: 1/s, message: 1KiB, duration: 9s }\nsla: &all\n  - p99 < 1ms\ncases:\n  - { name: x, sla: *all }\n",
			[],
		);
		expect(of({ sla: "p99 < 1ms", system: "nats", case: "x" })).toBe(4);
	});

	test.each(["", "[", "a: 1\n---\nb: 2", "- a", "sla: 5", "sla: [1, null]"])(
		"of %j is null",
		(text) => {
			expect(slaLineFinder(text, [])({ sla: "p99 < 1ms", system: "a", case: "x" })).toBeNull();
		},
	);
});
