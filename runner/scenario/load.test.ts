import { describe, expect, test } from "vitest";
import { MqbenchError } from "../errors.ts";
import { cpuMs } from "../tests/cpu.fake.ts";
import { loadScenario } from "./load.ts";
import type { Overrides } from "./overrides.ts";

const workload = "workload: { rate: 3000/s, message: 256B, duration: 10s }\n";

/** The report of a refused scenario. */
function mistakes(text: string, overrides: Overrides = {}, env = {}): string {
	try {
		loadScenario("s.yaml", text, overrides, env);
	} catch (error) {
		if (error instanceof MqbenchError && error.code === "scenario-invalid") return error.message;
		throw error;
	}
	throw new Error("the scenario was taken");
}

/** Without lines and carets. */
function sentences(text: string, overrides: Overrides = {}, env = {}) {
	return mistakes(text, overrides, env)
		.split("\n")
		.filter((line) => !/^ +(\d+)? \|/.test(line) && !/^\s*\d+ \|/.test(line));
}

describe("a right scenario", () => {
	test.each([
		["a b.yaml", "a-b"],
		["v2.1.yaml", "v2.1"],
		["..a..b. .yaml", "a.b"],
		["日本.yaml", "scenario"],
		[`${"x".repeat(79)}-y.yaml`, "x".repeat(79)],
	])("of the file %s is named %s", (file, name) => {
		expect(loadScenario(file, `system: nats\n${workload}`).name).toBe(name);
		expect(loadScenario("s.yaml", `name: ${name}\nsystem: nats\n${workload}`).name).toBe(name);
	});

	test("may have anchors, merges, a byte order mark and Windows line ends", () => {
		const scenario = loadScenario(
			"s.yaml",
			"\ufeffsystem: nats\r\nworkload: { rate: 3000/s, duration: 10s }\r\ncases:\r\n  - &small { message: 256B }\r\n  - { <<: *small, connections: 2 }\r\n",
		);
		expect(scenario.cases.map(({ name }) => name)).toEqual(["256B", "256B 2 connections"]);
	});
});

describe("mistakes", () => {
	test("are shown all at once, in the order of the file, each with line, column and caret", () => {
		expect(
			mistakes(`name: steady
system: nats
workload:
  rate: -5/s
  message: 256
  durration: 10s
sla:
  - p99 > 3ms
  - { expect: lost == 0, sytem: nats }
`),
		).toBe(
			`s.yaml:4:9 rate must be above 0, got -5/s
   4 |   rate: -5/s
     |         ^
s.yaml:5:12 message 256 has no unit; write 256B
   5 |   message: 256
     |            ^
s.yaml:6:3 unknown key "durration"; did you mean duration?
   6 |   durration: 10s
     |   ^
s.yaml:8:5 "p99 > 3ms": a latency has an upper limit; write p99 < 3ms
   8 |   - p99 > 3ms
     |     ^
s.yaml:9:26 unknown key "sytem"; did you mean system?
   9 |   - { expect: lost == 0, sytem: nats }
     |                          ^`,
		);
	});
});

describe("a text that is no scenario", () => {
	test.each([
		["a tag", "name: !secret x\n", "s.yaml:1:7 this is not YAML: Unresolved tag: !secret"],
		["an open quote", "name: 'x\n", "s.yaml:2:1 this is not YAML: Missing closing 'quote"],
		["two documents", "a: b\n---\na: b\n", "s.yaml:2:1 a second document begins here; "],
		["binary", "\u0000\u0001\u0002", "s.yaml:1:1 this is not a text file; "],
		["a deep nest", "[".repeat(20_000), "s.yaml:1:"],
		[
			"keys without end",
			`${Array.from({ length: 50_000 }, (_, i) => `k${i}: 1`).join("\n")}\n`,
			"s.yaml:1:1 the file has ",
		],
	])("%s", (_, text, beginning) => {
		expect(mistakes(text)).toMatch(
			new RegExp(`^${beginning.replaceAll(/[\\^$.|?*+()[\]{}]/g, "\\$&")}`),
		);
	});

	test("aliases that unfold into millions are refused", () => {
		const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"];
		for (let i = 1; i < 9; i++)
			lines.push(`a${i}: &a${i} [${Array.from({ length: 10 }, () => `*a${i - 1}`).join(", ")}]`);
		expect(mistakes(lines.join("\n"))).toMatch(/aliases expand to too much; write the values out/);
	});

	test("a MB of garbage takes no second and no screen", () => {
		let seed = 1;
		const text = Array.from({ length: 1_000_000 }, () => {
			seed = (seed * 48_271) % 0x7fffffff;
			return String.fromCharCode(32 + (seed % 95));
		}).join("");
		for (const garbage of [
			text,
			text.slice(0, 60_000),
			text.slice(0, 60_000).replaceAll("a", "\n"),
		]) {
			let report = "";
			const took = cpuMs(() => {
				report = mistakes(garbage);
			});
			expect(took).toBeLessThan(3000);
			expect(report.length).toBeLessThan(20_000);
			expect(report.split("\n").length).toBeLessThanOrEqual(61);
		}
	});

	test("of many mistakes 20 are shown, the others counted", () => {
		const keys = Array.from({ length: 50 }, (_, i) => `zz${i}: 1`).join("\n");
		const lines = sentences(`system: nats\n${workload}${keys}\n`);
		expect(lines).toHaveLength(21);
		expect(lines.at(-1)).toBe("... and 30 more");
	});

	test.each(["__proto__", "constructor", "toString", "hasOwnProperty"])(
		"the key %s is unknown like any other, at every level",
		(key) => {
			const found = sentences(
				`system: { broker: nats, ${key}: 1 }\n${key}: 1\nworkload: { rate: 3/s, message: 1KiB, duration: 9s, ${key}: 1 }\nsla: [{ expect: lost == 0, ${key}: 1 }]\ncases: [{ ${key}: 1 }]\n`,
			);
			expect(found).toHaveLength(5);
			for (const line of found) expect(line).toContain(`unknown key "${key}"`);
		},
	);
});
