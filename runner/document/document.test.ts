import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Run } from "../model/result.ts";
import { manyResult } from "../page/pages.fake.ts";
import { blocksMarkup } from "../render/html/blocks.ts";
import { renderHtml, renderMarkdown, terminalOf } from "../render/rendered.fake.ts";
import { fixtureResult } from "../result/stored.fake.ts";
import { amountIn, at, type Block, type Fold } from "./blocks.ts";
import { documentOf, reproduce } from "./document.ts";
import { differences, EACH_MESSAGE, environment as environmentBlock, systems } from "./systems.ts";

const stall = fixtureResult("stall");
const writing = { names: [], figures: [] };
const words = (text: string) =>
	text
		.replaceAll(/<[^>]*>/g, " ")
		.replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
		.replaceAll(/\s+/g, " ");
const pageOf = (blocks: readonly Block[]) => blocksMarkup(at(blocks, 3), writing, 2).join("");
const wordsOf = (...blocks: readonly Block[]) => words(pageOf(blocks));

describe("the machine", () => {
	const set = (smt: string | null) => ({
		idleDriver: "intel_idle",
		bootMaxCState: null,
		maxCState: 1,
		smt,
		cStates: "POLL, C1",
		interruptModeration: null,
		governor: null,
	});
	const of = (more: object) => {
		if (stall.environment === null) throw new Error("no environment");
		const environment = { ...stall.environment, ...more };
		return pageOf([environmentBlock({ ...stall, environment })]);
	};

	test("is told with what decides how late it wakes up, unless nobody has looked", () => {
		const text = words(of({ settings: set("off") }));
		expect(text).toContain("C-states POLL, C1 (intel_idle) SMT off");
		expect(text).toContain("interrupt moderation unreadable");
		expect(words(of({}))).not.toContain("C-states");
	});

	test("stands with the commit of the scenario, where it has one", () => {
		const git = (dirty: boolean) => ({ git: { commit: "0123456789".repeat(4), dirty } });
		const row = "commit of the scenario 012345678901";
		expect(words(of(git(false))).trimEnd()).toMatch(new RegExp(`${row}$`));
		expect(words(of(git(true)))).toContain(`${row} with uncommitted changes`);
		expect(words(of({}))).not.toContain("commit");
	});

	test("has a row for each host with its settings", () => {
		const host = (name: string, role: string, smt = "off") => ({ name, role, settings: set(smt) });
		const text = words(of({ hosts: [host("b1", "brokers"), host("c1", "load", "on")] }));
		const rest = "interrupt moderation: unreadable; CPU governor: unreadable";
		for (const row of [
			`b1, brokers C-states: POLL, C1 (intel_idle); SMT: off; ${rest}`,
			`c1, load C-states: POLL, C1 (intel_idle); SMT: on; ${rest}`,
		])
			expect(text).toContain(row);
	});
});

test("a result of several commands says when they went on", () => {
	const { environment } = stall;
	if (environment === null) throw new Error("no environment");
	const headOf = (startedAt: string[]) => {
		const resumed = startedAt.map((at) => ({ startedAt: at, bootId: "a", node: "v20", go: null }));
		return wordsOf(...documentOf({ ...stall, environment: { ...environment, resumed } }).head);
	};
	expect(headOf([])).not.toContain("esumed");
	expect(headOf(["2026-01-03T10:00:00.000Z", "2026-01-04T10:00:00.000Z"])).toContain(
		", resumed 2026-01-03 10:00, resumed 2026-01-04 10:00 UTC.",
	);
});

describe("how to measure it again", () => {
	test("is the command as a shell takes it, without passwords, with the scenario", () => {
		const command = {
			scenario: "scenarios/my scenario.yaml",
			file: null,
			args: ["scenarios/my scenario.yaml", "--set", "name=it's", "nats://u:pw@h"],
		};
		const text = wordsOf(
			reproduce({ ...stall, command }, "url: nats://u:pw@h\npassword: geheim\n"),
		);
		expect(text).toContain(
			"mqbench 'scenarios/my scenario.yaml' --set 'name=it'\\''s' nats://***@h",
		);
		expect(text).toContain("url: nats://");
		expect(text).not.toMatch(/pw@|geheim/);
	});

	test("says what is not known", () => {
		const text = wordsOf(reproduce({ ...stall, command: null, environment: null, runs: [] }, null));
		expect(text).toContain("The command line was not written down");
		expect(text).toContain("The text of the scenario is not known here");
	});
});

test("settings of a system stand together, each with every value that its runs had", () => {
	const [run] = stall.runs as [Run];
	const of = (connections: string, index: number): Run => ({
		...run,
		index,
		case: `case ${index}`,
		brokerSettings: { store: "file", port: `${index}` },
		driverOptions: { mode: "core", connections },
	});
	const runs = [of("1", 1), of("25", 2), of("25", 3), of("25", 4)];
	const text = wordsOf(...systems({ ...stall, runs }));
	expect(text).toContain("store=file port=4 values");
	expect(text).toContain("mode=core connections=1 / 25");
	expect(text).toContain("durability none, nothing is stored");
	expect(text).toContain("sends acknowledged no");
});

describe("what drivers do for each message", () => {
	const [run] = stall.runs as [Run];
	const of = (system: string, driverOptions: Run["driverOptions"]): Run => ({
		...run,
		system,
		driverOptions,
	});
	const strict = { flush: "at once", acknowledgeInGroup: "each message" };
	const result = {
		...stall,
		runs: [
			of("one", { ...strict, prefetch: "100" }),
			of("two", { ...strict, prefetch: "100", connections: "2" }),
			of("lax", { ...strict, acknowledgeInGroup: "none", prefetch: "0" }),
			of("never", null),
		],
	};

	test("stands in every report where systems differ in it", () => {
		const reports = [terminalOf(result, 200), renderMarkdown(result), words(renderHtml(result))];
		for (const text of reports) {
			expect(text).toMatch(/acknowledgeInGroup\W+each message \(one, two\); none \(lax\)/);
			expect(text).toMatch(/prefetch\W+100 \(one, two\); 0 \(lax\)/);
			expect(text).not.toMatch(/at once \(|2 \(two/);
		}
	});

	test("is not repeated where it is the same, or within one system", () => {
		const alike = result.runs.slice(0, 2);
		expect(differences({ ...result, runs: alike })).toEqual([]);
		const own = result.runs.map((one) => ({ ...one, system: "one" }));
		expect(differences({ ...result, runs: own })).toEqual([]);
		const unsaid = [...alike, of("old", {})];
		expect(differences({ ...result, runs: unsaid })).toEqual([]);
	});

	test("is what every driver says", () => {
		const contract = new URL("../../extensions/xk6-mqbench/broker/broker.go", import.meta.url);
		const [, names = ""] =
			/EachMessage = \[\]string\{(.*?)\n\}/s.exec(readFileSync(contract, "utf8")) ?? [];
		expect([...names.matchAll(/"(\w+)"/g)].map(([, name]) => name)).toEqual(EACH_MESSAGE);
	});
});

test("a short page has no contents; one of many runs leads to cases", () => {
	const linksOf = (result: typeof stall) => documentOf(result).contents.map(({ to }) => to);
	expect(linksOf(stall)).toEqual([]);
	const many = linksOf(manyResult(20));
	expect(many.filter((to) => to.startsWith("case-"))).toHaveLength(5);
	expect(many.filter((to) => to.startsWith("run-"))).toEqual([]);
	expect(linksOf(fixtureResult("repeats"))).toContain("run-6");
	expect(linksOf(fixtureResult("repeats"))).not.toContain("comparison");
});

describe("the slowest messages", () => {
	test("of 300 runs are the five slowest of each, with what they waited for", () => {
		const result = manyResult(300);
		const folds = (blocks: readonly Block[]): Fold[] =>
			blocks.flatMap((block) => (block.kind === "fold" ? [block, ...folds(block.blocks)] : []));
		const all = folds(at(documentOf(result).sections, 3));
		for (const [i, run] of result.runs.entries()) {
			const section = all.find(({ id }) => id === `run-${i + 1}`);
			const folded = folds(section?.blocks ?? []).find(({ title }) => title.includes("slowest"));
			const [table] = folded?.blocks ?? [];
			const times = run.slowest.map((m) => m.responseNs);
			const longest = times.toSorted((a, b) => b - a).slice(0, 5);
			expect(run.slowest.length).toBeGreaterThan(4);
			const { columns = [], rows = [] } = table?.kind === "table" ? table : {};
			const at = columns.findIndex(({ name }) => name === "response");
			expect(rows.map(({ cells }) => amountIn(cells[at] ?? "")?.value)).toEqual(longest);
		}
	});
});
