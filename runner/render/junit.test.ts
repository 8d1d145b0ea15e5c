import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { Result } from "../model/result.ts";
import { fixtureResult } from "../result/stored.fake.ts";
import { exitCodeOf } from "../verdict/exit.ts";
import { comparison, FIXTURES, HOSTILE, hostileResult, search } from "./hostile.fake.ts";
import { junitOfError, renderJunit } from "./junit.ts";

const built = (name: string) => fixtureResult(name);
const withoutJava = spawnSync("java", ["-version"]).error !== undefined;

describe("by the XSD of Jenkins' xUnit plugin", () => {
	const hours = {
		...built("stall"),
		runs: built("stall").runs.map((run) => ({
			...run,
			generator: run.generator && { ...run.generator, endNs: 123_456_789e9 },
		})),
	};
	const results: [string, Result][] = [
		...FIXTURES.map((name): [string, Result] => [name, built(name)]),
		...HOSTILE.map((text): [string, Result] => [text, hostileResult(text)]),
		["no gates", { ...built("stall"), gates: [] }],
		["nothing at all", { ...built("stall"), gates: [], runs: [] }],
		["compared", { ...built("stall"), comparisons: [comparison()] }],
		["years", hours],
	];

	// One start of Java for all. Without it this says so and skips, but never in CI.
	test.skipIf(withoutJava && process.env.CI !== "true")(
		`every stored run and every hostile name is valid${withoutJava ? " (missing: java)" : ""}`,
		{ timeout: 180_000 },
		() => {
			expect(withoutJava, "CI needs java").toBe(false);
			const files = results.map(([, result]) => renderJunit(result));
			const said = validated([...files, ...HOSTILE.map((text) => junitOfError(text, text))]);
			expect(results.map(([name], i) => [name, said[i]])).toEqual(
				results.map(([name]) => [name, "ok"]),
			);
			expect(said.slice(results.length)).toEqual(HOSTILE.map(() => "ok"));
		},
	);

	test.skipIf(withoutJava)("what is not valid is found", () => {
		const xml = renderJunit(built("stall"));
		const said = validated([
			xml.replace("<testcase ", "<property "),
			xml.replace(/ tests="3"/, ""),
			xml.replace("nats/256B", "nats\u0007/256B"),
			xml,
		]);
		expect(said.map((line) => line === "ok")).toEqual([false, true, false, true]);
	});
});

describe("cases", () => {
	test("are one for each SLA line, system and case, named so that a list of them can be read", () => {
		const { cases } = read(renderJunit(built("repeats")));
		expect(cases.map((c) => c.name)).toEqual([
			"nats/256B 500/s: p99 < 20ms",
			"nats/256B 500/s: throughput >= 450/s",
			"kafka/256B 500/s: p99 < 20ms",
			"kafka/256B 500/s: throughput >= 450/s",
			"kafka/256B 500/s: ack p99 < 20ms",
		]);
		expect(new Set(cases.map((c) => c.classname))).toEqual(new Set(["repeats"]));
	});

	test("take as long as the runs that they judge, and the suite counts each run once", () => {
		const { runs } = built("repeats");
		const of = (some: readonly Result["runs"][number][]) =>
			(some.reduce((sum, run) => sum + (run.generator?.endNs ?? 0), 0) / 1e9).toFixed(3);
		const { cases, suite } = read(renderJunit(built("repeats")));
		expect(cases[0]?.time).toBe(of(runs.filter(({ system }) => system === "nats")));
		expect(cases[4]?.time).toBe(of(runs.filter(({ system }) => system === "kafka")));
		expect(suite.time).toBe(of(runs));
		expect(Number(suite.time)).toBeGreaterThan(30);
	});

	test("of a breach say what was measured, the limit, why, where, when and what to do", () => {
		const [failed] = read(renderJunit(built("stall"))).cases;
		expect(failed).toMatchObject({ kind: "failure", type: "fail" });
		expect(failed?.message).toBe("p99 < 10ms is breached: ~400ms [196ms, \u221e], 40x the limit");
		for (const part of [
			"where: nats, 256B 1000/s",
			"when: worst in the second that began 4s after the window opened",
			"why: at most 100 of 10 000 may take longer than 10ms; 490 did",
			"what to do: ",
		])
			expect(failed?.text).toContain(part);
	});

	test.each([
		["lag", undefined, "error", "invalid", 1],
		["interrupted", undefined, "error", "interrupted", 2],
		["lost", undefined, "failure", "fail", 2],
		["repeats", undefined, "failure", "inconclusive", 2],
		["repeats", "warn", "skipped", "inconclusive", 2],
		["repeats", "pass", "skipped", "inconclusive", 2],
	] as const)("of %s, undecided lines %s, are a %s of type %s", (name, asked, kind, type, bad) => {
		const { cases } = read(renderJunit(built(name), asked));
		expect(cases).toContainEqual(expect.objectContaining({ kind, type }));
		expect(cases.filter((c) => c.kind !== "passed")).toHaveLength(bad);
	});

	test("are runs without an SLA too, and runs that something else has decided", () => {
		const result = built("repeats");
		const { cases } = read(renderJunit({ ...result, gates: [] }));
		expect(cases.map((c) => c.name)).toContain("kafka/256B 500/s: the run itself, repeat 2 of 3");
		expect(cases).toHaveLength(6);
		const [run] = result.runs;
		if (run === undefined) throw new Error("another fixture");
		run.verdict = "invalid";
		run.why = "the clock went backwards";
		const one = read(renderJunit(result)).cases.find((c) => c.name?.includes("the run itself"));
		expect(one).toMatchObject({ kind: "error", message: "the clock went backwards" });
	});

	test("are searches", () => {
		const failed = search({ system: "kafka", verdict: "fail", answer: "none meets it" });
		const result = { ...built("healthy"), searches: [search(), failed] };
		const { cases } = read(renderJunit({ ...result, comparisons: [comparison()] }));
		expect(cases.slice(2).map((c) => [c.name, c.kind])).toEqual([
			["nats/256B: highest rate", "passed"],
			["kafka/256B: highest rate", "failure"],
		]);
	});
});

test("there is a failure or an error exactly when the exit code is not 0, and the totals are those of the cases", () => {
	for (const name of FIXTURES)
		for (const asked of [undefined, "fail", "warn", "pass"] as const) {
			const result = built(name);
			const { cases, suite } = read(renderJunit(result, asked));
			const count = (kind: string) => `${cases.filter((c) => c.kind === kind).length}`;
			expect(suite).toMatchObject({
				tests: `${cases.length}`,
				failures: count("failure"),
				errors: count("error"),
				skipped: count("skipped"),
			});
			const broken = suite.failures !== "0" || suite.errors !== "0";
			expect([name, asked, broken]).toEqual([name, asked, exitCodeOf(result, asked) !== 0]);
		}
});

test("no letter that XML cannot hold is in it, none is left out in silence, and names are unique", () => {
	for (const text of HOSTILE) {
		const xml = renderJunit(hostileResult(text));
		expect(xml).not.toMatch(
			// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
			/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/u,
		);
		const { cases } = read(xml);
		expect(new Set(cases.map((c) => c.name)).size).toBe(cases.length);
	}
	expect(renderJunit(hostileResult("a\u0000b"))).toContain('<testsuite name="a\ufffdb"');
});

type Attributes = Readonly<Record<string, string>>;

function read(xml: string): { suite: Attributes; cases: Attributes[] } {
	const attributes = (text: string): Attributes =>
		Object.fromEntries(
			[...text.matchAll(/ ([\w-]+)="([^"]*)"/g)].map(([, key, value = ""]) => [key, plain(value)]),
		);
	const cases = [...xml.matchAll(/<testcase( [^>]*)>([\s\S]*?)<\/testcase>/g)].map(
		([, own = "", inside = ""]): Attributes => {
			const [, kind = "passed", about = "", text = ""] =
				/<(failure|error|skipped)( [^>]*)>([\s\S]*?)<\/\1>/.exec(inside) ?? [];
			return { ...attributes(own), kind, ...attributes(about), text: plain(text) };
		},
	);
	return {
		suite: attributes(/<testsuite [^>]*>/.exec(xml)?.[0] ?? ""),
		cases,
	};
}

function plain(text: string): string {
	const letters: Attributes = { lt: "<", gt: ">", quot: '"', amp: "&" };
	return text.replaceAll(/&(lt|gt|quot|amp);/g, (_, name) => letters[name] ?? "");
}

function validated(texts: readonly string[]): string[] {
	const folder = mkdtempSync(join(tmpdir(), "mqbench-junit-"));
	const here = (path: string) => fileURLToPath(new URL(`junit/${path}`, import.meta.url));
	try {
		const files = texts.map((text, i) => {
			const file = join(folder, `${i}.xml`);
			writeFileSync(file, text);
			return file;
		});
		const java = spawnSync("java", [here("Validate.java"), here("junit-10.xsd"), ...files], {
			encoding: "utf8",
		});
		expect(java.stderr).toBe("");
		return java.stdout.trimEnd().split("\n");
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}
