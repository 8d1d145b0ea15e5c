import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { buildResult } from "../compare/build.ts";
import type { Comparison } from "../model/comparison.ts";
import type { Result, Run } from "../model/result.ts";
import { fixtureResult } from "../result/stored.fake.ts";
import { editJson, firstRun, fixtureCopy } from "../run/fixture.fake.ts";
import { displayWidth } from "../terminal/columns.ts";
import { screen } from "../terminal/screen.fake.ts";
import { FIXTURES, HOSTILE, hostileResult } from "./hostile.fake.ts";
import { renderTerminal } from "./rendered.fake.ts";
import type { TerminalOptions } from "./terminal.ts";

function render(result: Result, options: Partial<TerminalOptions> = {}): string {
	return renderTerminal(result, { columns: 100, colour: false, folder: "reports/x", ...options });
}

const stored = (name: string) => fixtureResult(name);
const oneLine = (text: string) => text.replaceAll(/\s+/g, " ");

/** Two systems with one case, and one run each. */
function two(): Result {
	const [healthy, lost] = [stored("healthy"), stored("lost")];
	const named = (result: Result, system: string) => ({
		...(result.runs[0] as Run),
		system,
		case: "256B",
	});
	return {
		...healthy,
		runs: [named(healthy, "nats"), named(lost, "kafka")],
		gates: [
			...healthy.gates.map((g) => ({ ...g, system: "nats", case: "256B" })),
			...lost.gates.map((g) => ({ ...g, system: "kafka", case: "256B" })),
		],
		verdict: "fail",
	};
}

describe("the verdict", () => {
	test("is the last line, and of a report longer than the screen the first as well", () => {
		for (const name of FIXTURES) {
			const result = stored(name);
			const word = result.verdict.toUpperCase();
			const long = render(result, { rows: 10 }).trimEnd().split("\n");
			expect(long[0]).toMatch(new RegExp(`^${word}  ${name}: `));
			expect(long.at(-1)).toBe(`${word}  reports/x/report.html`);
			const short = render(result, { rows: 200 }).trimEnd().split("\n");
			expect(short[0]).not.toMatch(new RegExp(`^${word}  ${name}: `));
			expect(short.at(-1)).toBe(`${word}  reports/x/report.html`);
		}
	});
});

describe("two systems", () => {
	test("show failed messages where any are: percentiles of the others hide them", () => {
		const result = two();
		const [first] = result.runs;
		if (!first) throw new Error("another fixture");
		expect(render(result)).not.toMatch(/lost +failed +verdict/);
		first.failed = 17;
		expect(render(result)).toMatch(/lost +failed +verdict\n.* 17 {2}PASS/);
	});
});

describe("a comparison with a baseline", () => {
	const comparison = (parts: Partial<Comparison> = {}): Comparison => ({
		system: "nats",
		case: "256B",
		metric: "response p99",
		unit: "ns",
		a: {
			name: "baseline.json of 2026-11-01",
			runs: 4,
			values: [1, 1, 1, 1],
			median: 1,
			weak: false,
		},
		b: { name: "this run", runs: 4, values: [1, 1, 1, 2], median: 1, weak: false },
		ratio: 1.318,
		low: 1.204,
		high: 1.51,
		confidence: 0.97,
		margin: 0.1,
		marginFrom: "the SLA",
		verdict: "regressed",
		notWorse: false,
		why: "p99 is 32 % higher, at least 20 %",
		judged: true,
		advisory: null,
		...parts,
	});
	const compared = (...comparisons: Comparison[]) => render({ ...stored("healthy"), comparisons });

	test("is a table of ratio, interval, margin and verdict, and a sentence where something changed", () => {
		const text = compared(
			comparison(),
			comparison({
				metric: "throughput",
				ratio: 1,
				low: 0.99,
				high: 1.01,
				verdict: "same",
				why: "no change",
			}),
			comparison({
				metric: "ack p99",
				ratio: null,
				low: null,
				high: null,
				verdict: "inconclusive",
				why: "too few runs",
			}),
		);
		expect(text).toContain("Compared with baseline.json of 2026-11-01\n");
		expect(text).toMatch(/nats, 256B, response p99 +1\.32x +\[1\.20, 1\.51\] +10 % +REGRESSED\n/);
		expect(text).toMatch(/nats, 256B, throughput +1\.00x +\[0\.99, 1\.01\] +10 % +SAME\n/);
		expect(text).toMatch(/nats, 256B, ack p99 +n\/a +n\/a +10 % +INCONCLUSIVE\n/);
		expect(text).toContain("REGRESSED nats, 256B, response p99: p99 is 32 % higher");
		expect(text).not.toContain("no change");
	});

	test("that must not decide says so, and why", () => {
		const text = compared(comparison({ judged: false, advisory: "another machine" }));
		expect(text).toContain("(regressed)");
		expect(text).toContain("shown only: another machine");
	});

	test("of very many tells of those that changed, and how many did not", () => {
		const text = compared(
			comparison(),
			...Array.from({ length: 40 }, (_, i) => comparison({ case: `${i}`, verdict: "same" })),
		);
		expect(text.match(/SAME$/gm)).toHaveLength(1);
		expect(text).toContain("40 comparisons more: SAME");
	});
});

describe("p99 by second", () => {
	test("is drawn where the terminal has the characters, with its scale in figures", () => {
		const text = render(stored("stall"), { unicode: true });
		expect(text).toMatch(/p99 by second {2}▁▁▁▁█▁▁▁▁▁ {2}39\dus to 490ms/);
	});
});

describe("a run that was stopped", () => {
	test("counts no message over a limit that nobody has sent", () => {
		const copy = fixtureCopy("interrupted");
		// biome-ignore lint/suspicious/noExplicitAny: tests change any field of a plan.
		editJson(join(firstRun(copy), "plan.json"), (plan: any) => {
			plan.sla[0].percentile = 99.99;
			plan.sla[0].text = "p99.99 < 20ms";
		});
		const text = render(buildResult(copy));
		expect(text).toContain(": p99.99 < 20ms was not judged\n");
		expect(text).not.toMatch(/\d over /);
	});
});

describe("a broker that was gone", () => {
	test("is not to be waited for longer", () => {
		const copy = fixtureCopy("lost");
		expect(oneLine(render(buildResult(copy)))).toContain("measure with a longer drain");
		editJson(join(firstRun(copy), "run.json"), (file) => {
			file.error = "nats: ended with SIGKILL, 2.1s after the first message was due";
		});
		const text = oneLine(render(buildResult(copy)));
		expect(text).toContain("ended with SIGKILL");
		expect(text).not.toContain("longer drain:");
		expect(text).not.toContain("measure with a longer drain");
		expect(text).toContain("a longer drain brings nothing back");
	});
});

const NAMES = [
	HOSTILE.join(" "),
	"\u{1f680} 消息队列",
	"\x1b[2J\x1b[31mred\x07",
	"e\u0301\u202e\u200b",
];
const hostile = (name: string) => NAMES.map((text) => hostileResult(text, name));

describe("whatever a result holds", () => {
	test.each([40, 100])("no line is wider than %d columns", (columns) => {
		for (const name of FIXTURES)
			for (const result of [stored(name), ...hostile(name), two()])
				for (const unicode of [true, false])
					for (const line of render(result, { columns, unicode }).split("\n"))
						expect(displayWidth(line)).toBeLessThanOrEqual(columns);
	});

	test("no escape sequence comes through, and colours are all that is added", () => {
		for (const result of FIXTURES.flatMap(hostile)) {
			const plain = render(result);
			// biome-ignore lint/suspicious/noControlCharactersInRegex: they must not be there.
			expect(plain).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/);
			const coloured = render(result, { colour: true });
			expect(screen(coloured).lines.join("\n")).toBe(plain);
			expect(screen(coloured).unknown).toEqual([]);
		}
	});

	test("a name that was shortened stands below its table in full", () => {
		const result = two();
		const long = "jetstream-with-three-replicas-and-fsync-on-every-single-message";
		for (const one of [...result.runs, ...result.gates])
			if (one.system === "nats") one.system = long;
		const text = render(result, { columns: 80 });
		const [short] = /jetstr\S+\.\.\S+/.exec(text) ?? [];
		expect(short).toBeDefined();
		expect(oneLine(text)).toContain(`${short} is ${long}`);
	});

	test("columns of a table stand under each other with names of any width", () => {
		const result = two();
		for (const one of [...result.runs, ...result.gates])
			if (one.system === "nats") one.system = "消息🚀";
		const lines = render(result).split("\n");
		const rows = lines.filter((line) => /^ {2}(消息🚀|kafka) .*(PASS|FAIL)$/.test(line));
		expect(rows).toHaveLength(2);
		const [a, b] = rows.map((line) => displayWidth(line.replace(/ {2}(PASS|FAIL)$/, "")));
		expect(a).toBe(b);
	});
});
