import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { writeLongRun } from "../evidence/long-run.fake.ts";
import { Plan } from "../model/plan.ts";
import { parseRate } from "../units.ts";
import { durationFor, tooDeepWarnings } from "./depth.ts";
import { messagesBefore } from "./offset.ts";
import { fileBytes, renderPlan } from "./plan-text.ts";
import { planOf, plansOf } from "./plans.fake.ts";

const both = (rest: string) => plansOf(`systems: { nats: nats, floor: noop }\n${rest}`);

const two = `workload: { duration: 10s }
cases:
  - { message: 256B, rate: 3000/s }
  - { name: slow, message: 1KiB, rate: 100/s, warmup: 1s, drain: 2s }
repeat: 2
sla: [p99 < 20ms, p99.99 < 1s]
`;

describe("the duration that a percentile takes", () => {
	test.each([
		["3000/s", 100_000, 34e9],
		["3000/s", 36_887, 13e9],
		["1000/s", 10_000, 10e9],
		["100000/s", 1000, 1e9],
		["1000/s", 1_000_000, 17 * 60e9],
		["7/3s", 1000, 429e9],
		["1/s", 1_000_000, 278 * 3600e9],
	])("at %s %i samples are due in %i ns", (text, samples, ns) => {
		const rate = parseRate(text);
		expect(durationFor(samples, rate)).toBe(ns);
		expect(messagesBefore(rate, ns)).toBeGreaterThanOrEqual(samples);
	});
});

describe("a line that asks for more than the window carries", () => {
	const line = (sla: string, more = "") =>
		tooDeepWarnings(
			both(`workload: { rate: 1000/s, message: 256B, duration: 10s }\n${more}sla: [${sla}]\n`),
		);
	const mend =
		"Write duration: 37s to have it printed (weak, 36 887 samples), 100s for 10 samples above it (ok, 100 000).";

	test("is told once for a case, however many systems and repeats, with what mends it", () => {
		expect(line("p99.99 < 5ms")).toEqual([
			`p99.99 < 5ms (256B 1000/s): 10 000 samples carry no p99.99. It cannot pass. ${mend}`,
		]);
		expect(tooDeepWarnings(both(two)).map((text) => text.split(":")[0])).toEqual([
			"p99.99 < 1s (256B 3000/s)",
			"p99.99 < 1s (slow)",
		]);
	});

	test("that compares needs the figure itself, and says so", () => {
		expect(line("p99.99 <= baseline + 10%, throughput >= baseline - 5%", "repeat: 5\n")).toEqual([
			`p99.99 <= baseline + 10% (256B 1000/s): 10 000 samples carry no p99.99. There will be no figure to compare. ${mend}`,
		]);
	});

	test("is none that has a weak percentile, a counter or the maximum", () => {
		const weak = "workload: { rate: 400/s, message: 1KiB, duration: 1s }\n";
		expect(tooDeepWarnings(both(`${weak}sla: [p99 < 1s, max < 1s, lost == 0]\n`))).toEqual([]);
	});
});

describe("a plan as text", () => {
	test("counts messages, bytes in both directions, and time, and each case's percentiles once", () => {
		const text = renderPlan(both(two), { columns: 300 });
		expect(text).toContain(
			"8 runs: 1min 44s of sending, and at most 2min 8s of waiting for the last messages. 184 400 messages, warm-up included; 96.5MiB of payload, there and back.",
		);
		expect(text.match(/^ +(?:30 000|1 000) .*$/gm)).toEqual([
			"   30 000  ok   ok         none 34s    none 334s    256B 3000/s",
			"    1 000  ok   none 100s  none 17min  none 167min  slow",
		]);
	});

	test("says what is compared, over how many repeats and with what", () => {
		const text = (lines: string) =>
			renderPlan(
				both(`workload: { rate: 1000/s, message: 256B, duration: 10s }\nrepeat: 5\n${lines}`),
				{ columns: 300 },
			);
		expect(text("sla: [p99 <= baseline + 10%]\n")).toContain(
			"compared over 5 repeats with a baseline (--baseline <file|folder>, or the scenario's): p99 <= baseline + 10%.",
		);
		expect(text("sla: [p99 < 1s]\n")).not.toContain("compared");
	});

	test("says in a line how durability differs between systems", () => {
		const text = (systems: string) =>
			renderPlan(
				plansOf(
					`systems: { ${systems} }\nworkload: { rate: 1000/s, message: 256B, duration: 10s }\n`,
				),
				{ columns: 300 },
			);
		const os = "js: { broker: nats, mode: jetstream, durability: os }";
		expect(
			text(`core: nats, ${os}, kafka: kafka, own: { broker: nats, mode: jetstream }`),
		).toContain("\n\ndurability differs: core none, js os, kafka os, own interval 2m.\n\n");
		expect(text(`${os}, kafka: kafka`)).not.toContain("differs");
		expect(text("core: nats, redis: redis")).not.toContain("differs");
	});

	test("keeps its tables in step and its sentences within 80 columns, whatever cases are called", () => {
		const name = "n".repeat(80);
		const text = renderPlan(
			both(two.replace("{ message: 256B,", `{ name: ${name}, message: 256B,`)),
			{ columns: 80 },
		);
		const lines = text.split("\n");
		expect(new Set(lines.map((line) => line.indexOf(`nats/${name}`)))).toEqual(
			new Set([-1, lines[0]?.indexOf("system/case")]),
		);
		for (const line of lines)
			if (!line.startsWith("  ") && !line.includes(name))
				expect(line.length, line).toBeLessThanOrEqual(80);
	});

	test("of one run", () => {
		const plans = [planOf("rate: 3000/s, duration: 10s")];
		const where = ["clients: 3 processes of this machine"];
		expect(
			renderPlan(plans, { columns: 80, where, warnings: ["w"] }),
		).toBe(`  #  repeat  time  messages  bytes  system/case
  1     1/1   15s    45 000  22MiB  nats/256B 3000/s

1 run: 15s of sending, and at most 30s of waiting for the last messages. 45 000
messages, warm-up included; 22MiB of payload, there and back.

What each case does:

  256B 3000/s: round-trip of 256B, 3000/s for 10s after 5s warm-up; 1 producer
    on 1 connection, 1 topic.

Where it runs:

  clients: 3 processes of this machine.

Percentiles that the window of one run carries:

  samples  p99  p99.9  p99.99    p99.999    case
   30 000  ok   ok     none 34s  none 334s  256B 3000/s

ok: 10 samples or more are expected above it; weak: fewer, but a 95 % bound
exists; none: not printed. Next to them the duration from which on it is ok, at
this rate. Stalls make it less: npx mqbench explain support.

Warning: w
`);
	});
});

test("the disk that a run of an hour or more takes is said, and is enough for its files", () => {
	const of = (duration: string) =>
		renderPlan(
			plansOf(`system: nats\nworkload: { rate: 1000/s, message: 256B, duration: ${duration} }\n`),
			{ columns: 200 },
		);
	expect(of("59min")).not.toContain("Their files take");
	expect(of("72h").replaceAll(/\s+/g, " ")).toMatch(
		/Their files take about [\d.]+[MG]iB, and\s+their logs at most 96MiB\./,
	);
	const folder = mkdtempSync(path.join(tmpdir(), "mqbench-disk-"));
	onTestFinished(() => rmSync(folder, { recursive: true }));
	writeLongRun(folder, { hours: 5 });
	const run = path.join(folder, "runs", readdirSync(path.join(folder, "runs"))[0] ?? "");
	const sizes = readdirSync(run).map((name) => statSync(path.join(run, name)).size);
	const about = fileBytes(
		Plan.parse(JSON.parse(readFileSync(path.join(run, "plan.json"), "utf8"))),
	);
	const taken = sizes.reduce((a, b) => a + b, 0);
	expect(taken).toBeLessThan(about);
	expect(taken).toBeGreaterThan(about / 4);
});
