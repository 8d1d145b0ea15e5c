import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { buildResult } from "../compare/build.ts";
import { editJson, firstRun, fixtureCopy } from "../evidence/fixture.fake.ts";
import type { Result, Run } from "../model/result.ts";
import { fixtureResult } from "../result/stored.fake.ts";
import { displayWidth } from "../terminal/columns.ts";
import { comparison, FIXTURES } from "./hostile.fake.ts";
import { renderTerminal } from "./rendered.fake.ts";
import type { TerminalOptions } from "./terminal.ts";

function render(result: Result, options: Partial<TerminalOptions> = {}): string {
	return renderTerminal(result, { columns: 100, colour: false, folder: "reports/x", ...options });
}

const stored = (name: string) => fixtureResult(name);
const oneLine = (text: string) => text.replaceAll(/\s+/g, " ");

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
	test("is the last line", () => {
		for (const name of FIXTURES) {
			const result = stored(name);
			const last = render(result).trimEnd().split("\n").at(-1);
			expect(last).toBe(`${result.verdict.toUpperCase()}  reports/x/report.html`);
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

describe("p99 by second", () => {
	test("is drawn with its scale in figures", () => {
		const text = render(stored("stall"));
		expect(text).toMatch(/p99 by second {2}▁▁▁▁█▁▁▁▁▁ {2}39\dus to 490ms/);
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

describe("names", () => {
	test("of any width keep columns under each other", () => {
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

test("a number is never broken at its thousands", () => {
	for (let columns = 40; columns < 120; columns++)
		expect(render(stored("stall"), { columns })).not.toMatch(/\d\n +000/);
});

test("of very many comparisons those are told that changed, and how many did not", () => {
	const comparisons = [
		comparison({ judged: false, advisory: "another machine" }),
		...Array.from({ length: 40 }, (_, i) => comparison({ case: `${i}`, verdict: "same" })),
	];
	const text = render({ ...stored("healthy"), comparisons });
	for (const said of ["(regressed)", "shown only: another machine", "40 comparisons more: SAME"])
		expect(oneLine(text)).toContain(said);
	expect(text.match(/SAME$/gm)).toHaveLength(1);
});
