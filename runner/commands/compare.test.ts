import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { testFolder } from "../../infra/test-folder.fake.ts";
import { baselineWith, machineWith } from "../compare/baseline.fake.ts";
import { baselineText } from "../compare/baseline-of-result.ts";
import { fixture } from "../evidence/fixture.fake.ts";
import { main } from "../main.ts";
import type { Calibration } from "../model/comparison.ts";
import { Comparison } from "../model/comparison.ts";
import { HOSTILE } from "../page/pages.fake.ts";
import { fakeWorld } from "../world.fake.ts";

type Parts = Parameters<typeof baselineWith>[1];

function write(folder: string, name: string, factor: number, parts: Parts = {}) {
	const around = (value: number) => [0.99, 0.995, 1, 1.005, 1.01].map((f) => Math.round(value * f));
	const figures = {
		"response p50": around(1e5),
		"response p99": around(factor * 1e6),
		"response p99.9": around(7e6),
		"response max": around(9e6),
	};
	const baseline = baselineWith(figures, { runId: name, ...parts });
	writeFileSync(join(folder, `${name}.json`), baselineText(baseline));
}

/** A folder with a.json and b.json (p99 twice as high; overridden by `b`). */
function files(parts: Parts = {}, b: Parts = {}) {
	const folder = testFolder();
	write(folder, "a", 1, parts);
	write(folder, "b", 2, { ...parts, ...b });
	return folder;
}

/** `flat`: the output without line breaks. */
async function run(cwd: string, ...args: string[]) {
	const world = fakeWorld({ cwd, env: { MQBENCH_CACHE_DIR: join(cwd, "cache") } });
	const exit = await main(["compare", ...args], world);
	return { exit, out: world.out(), flat: world.out().replaceAll(/\s+/g, " "), err: world.err() };
}

describe("mqbench compare", () => {
	test("a regression: the table, the reason, and 99", async () => {
		const { exit, out, flat } = await run(files(), "a.json", "b.json");
		expect(exit).toBe(99);
		expect(out).toContain(
			[
				"  nats, 256B 1000/s",
				"                  A (n=5)  B (n=5)  ratio  95 % interval  margin  verdict",
				"  response p50      100us    100us  1.00x   [0.99, 1.02]    10 %  SAME",
				"  response p99        1ms      2ms  2.00x   [1.97, 2.03]    25 %  REGRESSED",
				"  response p99.9      7ms      7ms  1.00x   [0.99, 1.02]    25 %  shown",
				"  response max        9ms      9ms  1.00x   [0.99, 1.02]    25 %  shown",
			].join("\n"),
		);
		expect(out).toContain("REGRESSED response p99: B is 2.00x A (95 % interval");
		expect(flat).toMatch(
			/ REGRESSED example, compared: 2 figures decide: 1 worse by more than the margin, 1 not worse\. $/,
		);
	});

	test("another machine: shown, a warning, and 0; 6 where that is to fail", async () => {
		const folder = files({}, { machine: machineWith({ cpu: "Other CPU" }) });
		const { exit, out, flat } = await run(folder, "a.json", "b.json");
		expect(exit).toBe(0);
		expect(out).toContain("(regressed)");
		expect(flat).toContain("another machine: CPU Example CPU against Other CPU");
		expect(out).toMatch(/\nADVISORY {2}/);
		const strict = await run(folder, "a.json", "b.json", "--on-inconclusive", "fail");
		expect(strict.exit).toBe(6);
		const json = await run(folder, "a.json", "b.json", "--json");
		expect(json.err).toMatch(/^Warning: shown only/);
	});

	test("folders of runs, and two systems of one", async () => {
		const folder = fixture("repeats");
		const two = await run(folder, ".", "--systems", "nats,kafka");
		expect(two.exit).toBe(0);
		for (const words of ["measure both with repeat: 5", "nats (n=3)", "kafka (n=3)"])
			expect(two.out).toContain(words);
		expect((await run(folder, ".", ".")).out).toContain("ratio");
	});

	test("the noise of this machine is the least margin", async () => {
		const folder = files();
		const of = { system: "nats", case: "256B 1000/s", work: "w1", metric: "response p99" };
		const calibration: Calibration = {
			schema: 1,
			scenario: "example",
			runId: "calibration",
			machine: machineWith(),
			noise: [{ ...of, runs: 20, each: 5, halfWidth: 0.6, detectable: 1 }],
		};
		writeFileSync(join(folder, "noise.json"), JSON.stringify(calibration));
		const { exit, flat } = await run(folder, "a.json", "b.json", "--calibration", "noise.json");
		expect(exit).toBe(0);
		expect(flat).toContain(
			"no change beyond the margin of 120 %; the margin: twice this machine's noise (calibrate)",
		);
	});
});

describe("all forms say the same", () => {
	test("terminal, Markdown, HTML and JSON have the same figures, ratios and verdicts", async () => {
		const folder = files();
		const { out } = await run(folder, "a.json", "b.json", "--json", "--html", "x/c.html");
		const terminal = (await run(folder, "a.json", "b.json")).flat;
		const html = textOf(readFileSync(join(folder, "x/c.html"), "utf8"));
		const { exit, out: markdown, flat } = await run(folder, "a.json", "b.json", "--markdown");
		expect(exit).toBe(99);
		const json = JSON.parse(out);
		expect(json).toMatchObject({ schema: 1, outcome: "regressed", exitCode: 99 });
		const [p50, p99] = json.comparisons
			.filter((c: Comparison) => c.judged)
			.map((c: unknown) => Comparison.parse(c)) as Comparison[];
		expect(p50).toMatchObject({ metric: "response p50", verdict: "same" });
		expect(p99).toMatchObject({ metric: "response p99", verdict: "regressed" });
		expect(p99?.ratio?.toFixed(2)).toBe("2.00");
		// By hand: the third of the 25 ratios from below is 2 * 0.995 / 1.01.
		expect(p99?.low?.toFixed(2)).toBe("1.97");
		expect(markdown).toContain(
			"| response p99 | 1ms | 2ms | 2.00x | \\[1.97, 2.03\\] | 25 % | **REGRESSED** |",
		);
		expect(html).toMatch(/response p99 1ms 2ms 2\.00x \[1\.97, 2\.03\] 25 % \S REGRESSED/);
		for (const text of [terminal, flat, html])
			for (const words of [p99?.why, `${json.summary.slice(1)}.`, "REGRESSED"])
				expect(text).toContain(words);
	});
});

describe("texts from outside", () => {
	const parts = { entry: { system: HOSTILE, case: HOSTILE }, scenario: HOSTILE, systems: {} };

	test("do no harm in HTML and Markdown", async () => {
		const folder = files(parts);
		const { out } = await run(folder, "a.json", "b.json", "--markdown", "--html", "c.html");
		const html = readFileSync(join(folder, "c.html"), "utf8");
		expect(html.match(/<script/g)?.length).toBe(html.match(/<\/script>/g)?.length);
		for (const text of [html, out]) expect(text).not.toMatch(/<script>alert|<img src=x/);
		for (const line of out.split("\n").filter((l) => l.startsWith("| ")))
			expect(line.match(/(?<!\\)\|/g)).toHaveLength(8);
	});
});

describe("what cannot be done is one sentence", () => {
	test.each([
		[["a.json"], 2, "compare needs a second run"],
		[["a.json", "nowhere"], 2, "nowhere: cannot be compared with"],
		[["a.json", "--systems", "old,new"], 2, "has no system old; it has nats"],
		[["a.json", "--systems", "old"], 2, "give two names, the baseline first"],
		[["a.json", "b.json", "--json", "--markdown"], 2, "cannot be used with option '--json'"],
		[["--html", "a.json", "b.json"], 2, "nothing was written, because this does not end in .html"],
		[[], 2, "missing required argument"],
		[["a.json", "b.json", "c.json"], 2, "too many arguments"],
		[["a.json", "b.json", "--html", "a.json/x.html"], 3, "the comparison cannot be written"],
	])("%j: %d", async (args, code, words) => {
		const folder = files();
		const before = readFileSync(join(folder, "a.json"), "utf8");
		const { exit, out, err } = await run(folder, ...args);
		expect({ exit, out }).toEqual({ exit: code, out: "" });
		expect(err).toContain(words);
		expect(readFileSync(join(folder, "a.json"), "utf8")).toBe(before);
	});

	test("a run folder whose systems could be compared says so", async () => {
		expect((await run(fixture("repeats"), ".")).err).toContain("--systems nats,kafka");
	});
});

function textOf(html: string): string {
	return html
		.replaceAll(/<(script|style)[\s\S]*?<\/\1>/g, " ")
		.replaceAll(/<[^>]*>/g, " ")
		.replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
		.replaceAll(/\s+/g, " ");
}
