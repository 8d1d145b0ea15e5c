import { describe, expect, test } from "vitest";
import type { Gate, Result, Run } from "../model/result.ts";
import { renderMarkdown, terminalOf } from "../render/rendered.fake.ts";
import { readResult } from "../result/result-files.ts";
import { fixtureResult, publishedFolder } from "../result/stored.fake.ts";
import { at, type Block, type Depth, plain } from "./blocks.ts";
import { documentOf } from "./document.ts";
import { broken, lines, warnings } from "./sla.ts";

const stall = fixtureResult("stall");

/** A check that warned, in a repeat of the stalled run. */
const warned = (
	repeat: number,
	...checks: readonly (readonly [name: string, share?: number])[]
) => ({
	...(stall.runs[0] as Run),
	repeat,
	validity: checks.map(([check, share = 0]) => ({
		check,
		status: "warn" as const,
		detail: `${check} of ${repeat}`,
		figure: null,
		limit: null,
		remedy: "mend it",
		values: { share },
	})),
});

/** Its words in that medium, list by list and row by row. */
function wordsOf(blocks: readonly Block[], depth: Depth): string[] {
	return at(blocks, depth).flatMap((block) => {
		if (block.kind === "fold") return [`[${block.title}]`, ...wordsOf(block.blocks, depth)];
		if (block.kind === "list") return block.items.map(({ text }) => plain(text));
		if (block.kind === "table") return block.rows.map(({ cells }) => cells.map(plain).join(" | "));
		return block.kind === "text" ? [plain(block.text)] : [];
	});
}

describe("what broke", () => {
	test("leads to the repeat that it speaks of, and names it", () => {
		const result = readResult(publishedFolder("message-queue-latency"));
		const failed = result.runs.filter(({ verdict }) => verdict === "fail");
		expect(failed.length).toBeGreaterThan(0);
		expect(broken(result).items.map(({ text }) => (text as readonly unknown[])[0])).toEqual(
			failed.map((run) => ({
				as: "link",
				to: `#run-${result.runs.indexOf(run) + 1}`,
				text: `rabbitmq, ${run.case}, repeat ${run.repeat} of 3`,
			})),
		);
		expect(wordsOf(lines(result), 3)).toContain("[All 20 SLA lines are met: which]");
		expect(documentOf(result).lead).toMatch(
			/repeat 2 of 3: the queue grew by .*, and no core was free: the machine is a cause of it \(\d+ more did not pass\)/,
		);
	});

	test("is told once in each report: by how much, why, when, and the same advice once", () => {
		const result = fixtureResult("repeats");
		for (const text of [terminalOf(result, 1000), renderMarkdown(result)])
			for (const [said, times] of [
				["is neither met nor breached", 3],
				["1 FAIL, 2 PASS of 3 repeats", 2],
				["143ms, max 152ms", 1],
				["What to do: measure longer", 1],
			] as const)
				expect([said, text.split(said).length - 1]).toEqual([said, times]);
	});
});

test("an error is told once for all lines of its run, each in the user's own file", () => {
	const result = fixtureResult("interrupted");
	const [run] = result.runs as [Run];
	const why = "the broker ended by itself";
	Object.assign(run, { verdict: "error", why });
	for (const gate of result.gates) Object.assign(gate, { verdict: "error", why });
	result.verdict = "error";
	result.command = { scenario: "bench/orders.yaml", args: [], file: null };
	const [terminal, markdown] = [terminalOf(result), renderMarkdown(result)];
	for (const text of [terminal, markdown]) expect(text.match(/the broker ended/gi)).toHaveLength(1);
	expect(markdown).toContain("(bench/orders.yaml:6)");
	result.command.file = "ci/bench/orders.yaml";
	expect(renderMarkdown(result)).toContain("(ci/bench/orders.yaml:6)");
	expect(renderMarkdown(result)).not.toMatch(/(^|[^/])scenario\.yaml:/m);
});

describe("SLA lines", () => {
	/** 20 lines, of which so many fail. */
	const many = (failing: number): Result => ({
		...stall,
		runs: [],
		gates: Array.from({ length: 20 }, (_, i) => ({
			...(stall.gates[0] as Gate),
			case: `case ${i}`,
			verdict: i < failing ? ("fail" as const) : ("pass" as const),
		})),
	});

	test("that are many and met are folded, and counted on a terminal", () => {
		const [head, ...rows] = wordsOf(lines(many(1)), 2);
		expect(head).toBe("[19 of 20 SLA lines are met: which]");
		expect(rows).toHaveLength(19);
		expect(rows[0]).toContain("nats, case 1 | PASS");
		expect(wordsOf(lines(many(1)), 1)).toEqual(["19 of 20 SLA lines are met"]);
	});

	test("that had no room among what broke stand in a table of their own", () => {
		const result = many(11);
		const { items, rest } = broken(result);
		const said = wordsOf(lines(result), 3);
		const untold = said.filter((line) => line.includes("| FAIL"));
		expect(items).toHaveLength(8);
		expect(rest).toContain(`and ${untold.length} more that did not pass: see the table`);
		expect(untold.map((line) => line.split(" | ")[1])).toEqual(
			[8, 9, 10].map((i) => `nats, case ${i}`),
		);
		expect(said).toContain("[9 of 20 SLA lines are met: which]");
	});
});

test.each([
	["pass", ["lost == 0"], true],
	["pass", ["lost == 0", "p99 < 1s"], false],
	["fail", ["lost == 0"], false],
] as const)("%s by %j says that no line limits times: %s", (verdict, slas, said) => {
	const [gate] = stall.gates as [Gate];
	const gates = slas.map((sla) => ({
		...gate,
		sla,
		verdict: "pass" as const,
		metric: sla.startsWith("p") ? gate.metric : null,
	}));
	const text = wordsOf(lines({ ...stall, verdict, gates, runs: [] }), 2).join();
	expect(text.includes("No line limits how long a message may take")).toBe(said);
});

describe("warnings", () => {
	const texts = (...runs: readonly Run[]) => wordsOf(warnings({ ...stall, runs: [...runs] }, 1), 1);
	const name = "nats, 256B 1000/s, repeat";

	test.each([
		[
			"of several runs are told once, with how many they are",
			[warned(1, ["steal"]), warned(2, ["steal"], ["others"]), warned(3)],
			[
				"With 2 kinds of warnings:",
				`steal (2 of 3 runs): ${name} 1 of 3: steal of 1`,
				`others (1 of 3 runs): ${name} 2 of 3: others of 2`,
			],
		],
		[
			"of a drift tell the largest",
			[warned(1, ["steady", 0.25]), warned(2, ["steady", -0.9]), warned(3, ["steady", 0.4])],
			["With a warning:", `steady (3 of 3 runs): ${name} 2 of 3: steady of 2`],
		],
		[
			"of a single run are its sentence",
			[warned(1, ["floor"])],
			["With a warning:", "floor: floor of 1"],
		],
		["are none where nothing warned", [warned(1)], []],
	])("%s", (_, runs, expected) => {
		expect(texts(...runs)).toEqual(expected);
	});

	test("stand on a terminal only where it does not show the run", () => {
		const result = fixtureResult("lost");
		expect(terminalOf(result)).not.toContain("With a warning");
		const runs = Array.from({ length: 20 }, (_, i) => ({
			...(result.runs[0] as Run),
			repeat: i + 1,
		}));
		expect(terminalOf({ ...result, runs })).toContain("With a warning");
	});
});
