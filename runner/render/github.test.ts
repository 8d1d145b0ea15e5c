import { describe, expect, test } from "vitest";
import type { Gate } from "../model/result.ts";
import { fixtureResult } from "../result/stored.fake.ts";
import { annotations, command, outputText } from "./github.ts";
import { FIXTURES, HOSTILE, hostileResult } from "./hostile.fake.ts";

const built = (name: string) => fixtureResult(name);

/** A command as GitHub's runner reads it (ActionCommand.TryParseV2), with what it unescapes. */
function read(line: string) {
	expect(line).not.toMatch(/[\r\n]/);
	expect(line.startsWith("::")).toBe(true);
	const end = line.indexOf("::", 2);
	const [, name = "", rest = ""] = /^(\S+) ?(.*)$/s.exec(line.slice(2, end)) ?? [];
	const properties = Object.fromEntries(
		rest
			.split(",")
			.filter((pair) => pair !== "")
			.map((pair) => {
				const equals = pair.indexOf("=");
				return [pair.slice(0, equals), unescaped(pair.slice(equals + 1))];
			}),
	);
	return { name, properties, message: unescaped(line.slice(end + 2)) };
}

function unescaped(text: string): string {
	return text
		.replaceAll("%0D", "\r")
		.replaceAll("%0A", "\n")
		.replaceAll("%3A", ":")
		.replaceAll("%2C", ",")
		.replaceAll("%25", "%");
}

const given = (file: string | null, scenario = "x.yaml") => ({ scenario, args: [], file });

describe("annotations", () => {
	const all = (...given: Parameters<typeof annotations>) => annotations(...given).map(read);

	test("stand on the line of the SLA that broke, in the file of the scenario", () => {
		// sla: is line 11 of fixtures/stall/scenario.yaml, its first entry the next.
		const title = "FAIL nats/256B 1000/s: p99 < 10ms";
		expect(all({ ...built("stall"), command: given("bench/stall.yaml") })).toEqual([
			{
				name: "error",
				properties: { file: "bench/stall.yaml", line: "12", title },
				message: expect.stringMatching(
					/^nats, 256B 1000\/s: p99 < 10ms is breached: ~400ms \[196ms, \u221e\], 40x the limit\. At most 100 of .*What to do: /,
				),
			},
		]);
	});

	test.each([
		["lost", undefined, ["error", "warning"]],
		["repeats", "warn", ["warning", "warning"]],
		["repeats", "pass", ["notice", "notice"]],
		["lag", undefined, ["error"]],
		["interrupted", undefined, ["error", "error"]],
		["healthy", undefined, []],
	] as const)("of %s, undecided lines %s, are %j", (name, asked, names) => {
		expect(all(built(name), asked).map((one) => one.name)).toEqual(names);
	});

	test.each([
		["a/b.yaml", "ignored.yaml", "a/b.yaml"],
		[null, "a/b.yaml", "a/b.yaml"],
		[null, "../b.yaml", undefined],
		[null, "/b.yaml", undefined],
		[null, "C:/b.yaml", undefined],
	])(
		"of the file %s, started with %s, name %s, and no line of what no line asks for",
		(file, scenario, expected) => {
			const result = { ...built("stall"), command: given(file, scenario) };
			const line = expected && "12";
			expect(all(result)[0]?.properties).toMatchObject(expected ? { file: expected, line } : {});
			const gates = result.gates.map((gate) => ({ ...gate, line: null }));
			const { properties } = all({ ...result, gates })[0] ?? {};
			expect([properties?.file, properties?.line]).toEqual([expected, undefined]);
			expect(all({ ...result, command: null })[0]?.properties.file).toBe(undefined);
		},
	);

	test("are nine at most of each kind, and one says how many more", () => {
		const result = built("stall");
		const [gate] = result.gates as [Gate];
		const open = { ...gate, verdict: "inconclusive" as const };
		result.gates = [...Array<Gate>(9).fill(gate), ...Array<Gate>(12).fill(open)];
		const found = all(result);
		expect(found.map(({ name }) => name)).toEqual([
			...Array(9).fill("error"),
			...Array(10).fill("warning"),
		]);
		expect(found.at(-1)?.message).toContain("3 more of stall");
	});

	test.each(HOSTILE)("of %j stay lines of their own, and say what they hold", (text) => {
		const lines = annotations(hostileResult(text));
		expect(lines.length).toBeGreaterThan(0);
		for (const line of lines) {
			const { name, properties } = read(line);
			expect(["error", "warning"]).toContain(name);
			expect(Object.keys(properties).sort()).toEqual(
				Object.keys(properties)
					.filter((key) => ["file", "line", "title"].includes(key))
					.sort(),
			);
		}
	});
});

test("%, line breaks, and in properties : and , are escaped as GitHub reads them", () => {
	const text = "100 %, a:b\r\nc%0A::d";
	const line = command("error", { title: text, file: "a,b" }, text);
	expect(line).toBe(
		"::error title=100 %25%2C a%3Ab%0D%0Ac%250A%3A%3Ad,file=a%2Cb::100 %25, a:b%0D%0Ac%250A::d",
	);
	expect(read(line)).toEqual({
		name: "error",
		properties: { title: text, file: "a,b" },
		message: text,
	});
});

describe("outputs", () => {
	test("are verdict, exit code and report", () => {
		expect(outputText(built("stall"), "/r", 99, "d")).toBe(
			"verdict<<d\nfail\nd\nexit-code<<d\n99\nd\nreport<<d\n/r\nd\n",
		);
	});

	test.each(HOSTILE)("of %j name no output of their own", (text) => {
		const names: string[] = [];
		// As the runner reads the file: name<<delimiter, lines, delimiter.
		const lines = outputText(hostileResult(text), text, 99, "d-1").split(/\r\n|\r|\n/);
		for (let i = 0; i < lines.length - 1; i++) {
			const [name = "", delimiter] = (lines[i] ?? "").split("<<");
			expect(delimiter).toBe("d-1");
			names.push(name);
			i = lines.indexOf("d-1", i + 1);
			expect(i).toBeGreaterThan(0);
		}
		expect(names).toEqual(["verdict", "exit-code", "report"]);
	});
});

test.each(FIXTURES)("no annotation of %s has a hole", (name) => {
	for (const line of annotations(built(name)))
		expect(line).not.toMatch(/undefined|null|NaN|Infinity/);
});
