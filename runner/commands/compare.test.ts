import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { baselineWith, machineWith } from "../compare/baseline.fake.ts";
import { baselineText } from "../compare/baseline-of-result.ts";
import { fixture } from "../evidence/fixture.fake.ts";
import { main } from "../main.ts";
import type { Calibration } from "../model/comparison.ts";
import { Comparison } from "../model/comparison.ts";
import { figuresIn, HOSTILE } from "../page/pages.fake.ts";
import { displayWidth } from "../terminal/columns.ts";
import { fakeWorld } from "../world.fake.ts";

const around = (value: number) => [0.99, 0.995, 1, 1.005, 1.01].map((f) => Math.round(value * f));
const figures = (factor: number) => ({
	"response p50": around(1e5),
	"response p99": around(factor * 1e6),
	"response p99.9": around(7e6),
	"response max": around(9e6),
});

/** A folder with a.json, b.json (p99 twice as high) and c.json (the same as a). */
function files(parts: Parameters<typeof baselineWith>[1] = {}) {
	const folder = mkdtempSync(join(tmpdir(), "mqbench-test-"));
	onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
	const write = (name: string, factor: number) =>
		writeFileSync(
			join(folder, `${name}.json`),
			baselineText(baselineWith(figures(factor), { runId: name, ...parts })),
		);
	write("a", 1);
	write("b", 2);
	write("c", 1);
	return folder;
}

async function run(cwd: string, ...args: string[]) {
	const world = fakeWorld({ cwd, env: { MQBENCH_CACHE_DIR: join(cwd, "cache") } });
	const exit = await main(["compare", ...args], world);
	return { exit, out: world.out(), err: world.err() };
}

describe("mqbench compare", () => {
	test("a regression: the table, the reason, and 99", async () => {
		const { exit, out } = await run(files(), "a.json", "b.json");
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
		expect(out).toMatch(
			/\nREGRESSED {2}example, compared: 2 figures decide: 1 worse by more than the margin,\s+1\s+not worse\.\n$/,
		);
	});

	test("nothing is changed, or the same, on the strength of what clocks may have made: 0, and why", async () => {
		const folder = files({ entry: { clockBoundNs: 500_000 } });
		for (const other of ["b.json", "c.json"]) {
			const { exit, out } = await run(folder, "a.json", other);
			expect(exit).toBe(0);
			const text = out.replaceAll(/\s+/g, " ");
			expect(text).toMatch(
				/INCONCLUSIVE response p99: B is [^;]*; but within the clocks' bound of ±1ms/,
			);
			expect(text).not.toMatch(/REGRESSED|SAME/);
		}
	});

	test("the same: 0", async () => {
		const { exit, out } = await run(files(), "a.json", "c.json");
		expect(exit).toBe(0);
		expect(out).toMatch(/\nSAME {2}example, compared: 2 figures decide: 2 not worse/);
	});

	test("another machine: shown, a warning, and 0; 6 where that is to fail", async () => {
		const folder = files();
		const machine = machineWith({ cpu: "Other CPU" });
		writeFileSync(
			join(folder, "b.json"),
			baselineText(baselineWith(figures(2), { runId: "b", machine })),
		);
		const { exit, out } = await run(folder, "a.json", "b.json");
		expect(exit).toBe(0);
		expect(out).toContain("(regressed)");
		expect(out.replaceAll(/\s+/g, " ")).toContain(
			"another machine: CPU Example CPU against Other CPU",
		);
		expect(out).toMatch(/\nADVISORY {2}/);
		const strict = await run(folder, "a.json", "b.json", "--on-inconclusive", "fail");
		expect(strict.exit).toBe(6);
		const json = await run(folder, "a.json", "b.json", "--json");
		expect(json.err).toMatch(/^Warning: shown only/);
	});

	test("runs that did other work: 2, and what differs", async () => {
		const folder = files();
		writeFileSync(
			join(folder, "b.json"),
			baselineText(
				baselineWith(figures(2), {
					runId: "b",
					works: { w2: { load: "9000/s constant" } },
					entry: { work: "w2" },
				}),
			),
		);
		const { exit, out } = await run(folder, "a.json", "b.json");
		expect(exit).toBe(2);
		expect(out.replaceAll(/\s+/g, " ")).toContain(
			"other work: load 1000/s constant against 9000/s constant",
		);
		expect(out).toMatch(/\nNOT COMPARED {2}example, compared: nothing could be compared\.\n$/);
	});

	test("folders of runs, and two systems of one", async () => {
		const folder = fixture("repeats");
		const two = await run(folder, ".", "--systems", "nats,kafka");
		expect(two.exit).toBe(0);
		expect(two.out).toContain("measure both with repeat: 5");
		expect(two.out).toContain("nats (n=3)");
		expect(two.out).toContain("kafka (n=3)");
		expect((await run(folder, ".", ".")).out).toContain("ratio");
	});

	test("the noise of this machine is the least margin, named or kept", async () => {
		const folder = files();
		const calibration: Calibration = {
			schema: 1,
			scenario: "example",
			runId: "calibration",
			machine: machineWith(),
			noise: [
				{
					system: "nats",
					case: "256B 1000/s",
					work: "w1",
					metric: "response p99",
					runs: 20,
					each: 5,
					halfWidth: 0.6,
					detectable: 1,
				},
			],
		};
		writeFileSync(join(folder, "noise.json"), JSON.stringify(calibration));
		const { exit, out } = await run(folder, "a.json", "b.json", "--calibration", "noise.json");
		expect(exit).toBe(0);
		expect(out.replaceAll(/\s+/g, " ")).toContain(
			"no change beyond the margin of 120 %; the margin: twice this machine's noise (calibrate)",
		);
	});
});

describe("all forms say the same", () => {
	test("terminal, Markdown, HTML and JSON have the same figures, ratios and verdicts", async () => {
		const folder = files();
		const { out } = await run(folder, "a.json", "b.json", "--json", "--html", "x/c.html");
		const terminal = (await run(folder, "a.json", "b.json")).out;
		const html = textOf(readFileSync(join(folder, "x/c.html"), "utf8"));
		const { exit, out: markdown } = await run(folder, "a.json", "b.json", "--markdown");
		expect(exit).toBe(99);
		const json = JSON.parse(out);
		expect(json).toMatchObject({ schema: 1, outcome: "regressed", exitCode: 99 });
		const [p50, p99] = json.others[0].comparisons
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
		for (const text of [terminal, markdown, html]) {
			const flat = text.replaceAll(/\s+/g, " ");
			expect(flat).toContain(p99?.why);
			expect(flat).toContain(`${json.summary.slice(1)}.`);
			expect(flat).toContain("REGRESSED");
		}
	});

	test("the page has curves over each other, with the median run of each side switched on", async () => {
		const folder = files();
		await run(folder, "a.json", "b.json", "--html", "c.html");
		const html = readFileSync(join(folder, "c.html"), "utf8");
		const figure = figuresIn(html).find(({ id }) => id === "compare-b-1");
		const curves = figure?.panels[0]?.series ?? [];
		expect(curves).toHaveLength(10);
		const [one, two, ...more] = curves.filter(({ thin }) => !thin);
		expect(more).toEqual([]);
		expect([one?.name, two?.name]).toEqual(["A, median run: repeat 3", "B, median run: repeat 3"]);
		expect(one?.data.find(({ x }) => x === 99)?.y).toBe(1e6);
		expect(two?.data.find(({ x }) => x === 99)?.y).toBe(2e6);
		expect([one?.color, one?.dash]).not.toEqual([two?.color, two?.dash]);
	});

	test("the page tells the machines, and what differs", async () => {
		const folder = files();
		writeFileSync(
			join(folder, "b.json"),
			baselineText(
				baselineWith(figures(1), {
					runId: "b",
					systems: { nats: { broker: "nats-server 2.16.0" } },
				}),
			),
		);
		await run(folder, "a.json", "b.json", "--html", "c.html");
		const text = textOf(readFileSync(join(folder, "c.html"), "utf8"));
		expect(text.split(" against A")[0]?.match(/Example CPU/g)).toHaveLength(2);
		expect(text).toMatch(
			/What differs between A and B .* nats: broker nats-server 2\.15\.2 nats-server 2\.16\.0/,
		);
	});
});

describe("texts from outside", () => {
	const hostile = { entry: { system: HOSTILE, case: HOSTILE } };
	const parts = { ...hostile, scenario: HOSTILE, systems: {} };

	test("do no harm in HTML and Markdown", async () => {
		const folder = files(parts);
		const printed = await run(folder, "a.json", "b.json", "--markdown", "--html", "c.html");
		const html = readFileSync(join(folder, "c.html"), "utf8");
		expect(html.match(/<script/g)?.length).toBe(html.match(/<\/script>/g)?.length);
		expect(html).not.toContain("<img src=x");
		expect(html).not.toContain("<script>alert");
		const markdown = printed.out;
		expect(markdown).not.toMatch(/<script|<img/);
		for (const line of markdown.split("\n").filter((l) => l.startsWith("| ")))
			expect(line.match(/(?<!\\)\|/g)).toHaveLength(8);
	});

	test("no line of the terminal is wider than it, with any name", async () => {
		for (const columns of [40, 80, 100])
			for (const names of [parts, {}]) {
				const folder = files(names);
				const world = fakeWorld({ cwd: folder });
				const narrow = { ...world, stdout: { ...world.stdout, columns } };
				await main(["compare", "a.json", "b.json"], narrow);
				for (const line of world.out().split("\n"))
					expect(displayWidth(line), line).toBeLessThanOrEqual(columns);
			}
	});
});

describe("what cannot be done is one sentence, and 2", () => {
	test.each([
		[["a.json"], "what is it to be compared with? Give a second run"],
		[["a.json", "nowhere"], "nowhere: cannot be compared with"],
		[["a.json", "--systems", "old,new"], "has no system old; it has nats"],
		[["a.json", "--systems", "old"], "give two names, the baseline first"],
		[["a.json", "b.json", "--json", "--markdown"], "cannot be used with option '--json'"],
		[["--html", "a.json", "b.json"], "nothing was written, as this does not end in .html"],
		[[], "missing required argument"],
		[["a.json", "b.json", "c.json"], "too many arguments"],
	])("%j", async (args, words) => {
		const folder = files();
		const before = readFileSync(join(folder, "a.json"), "utf8");
		const { exit, out, err } = await run(folder, ...args);
		expect(exit).toBe(2);
		expect(out).toBe("");
		expect(err).toContain(words);
		expect(readFileSync(join(folder, "a.json"), "utf8")).toBe(before);
	});

	test("a run folder whose systems could be compared says so", async () => {
		expect((await run(fixture("repeats"), ".")).err).toContain("--systems nats,kafka");
	});

	test("a page that cannot be written is the environment's fault: 3", async () => {
		const folder = files();
		const { exit, err } = await run(folder, "a.json", "b.json", "--html", "a.json/x.html");
		expect(exit).toBe(3);
		expect(err).toContain("a.json/x.html: the comparison cannot be written");
		expect(existsSync(join(folder, "a.json"))).toBe(true);
	});
});

/** What a person reads of a page. */
function textOf(html: string): string {
	return html
		.replaceAll(/<(script|style)[\s\S]*?<\/\1>/g, " ")
		.replaceAll(/<[^>]*>/g, " ")
		.replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
		.replaceAll(/\s+/g, " ");
}
