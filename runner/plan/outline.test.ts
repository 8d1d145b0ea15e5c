import { describe, expect, test } from "vitest";
import { loadScenario } from "../scenario/load.ts";
import { formatCount, parseRate } from "../units.ts";
import { expand } from "./expand.ts";
import { messagesBefore } from "./offset.ts";
import { durationFor, type Outline, outline, tooDeepSentence } from "./outline.ts";
import { renderOutline } from "./outline-text.ts";

function of(rest: string): Outline {
	return outline(
		expand(loadScenario("s.yaml", `systems: { nats: nats, floor: noop }\n${rest}`), { runId: "r" }),
	);
}

const two = `workload: { duration: 10s }
cases:
  - { message: 256B, rate: 3000/s }
  - { name: slow, message: 1KiB, rate: 100/s, warmup: 1s, drain: 2s }
repeat: 2
sla: [p99 < 20ms, p99.99 < 1s]
`;

describe("the outline of a scenario", () => {
	test("counts messages, bytes in both directions, and time", () => {
		const found = of(two);
		expect(found.runs).toHaveLength(8);
		expect(found.runs[0]).toMatchObject({
			messages: 45_000,
			bytes: 45_000 * 256 * 2,
			durationNs: 15e9,
		});
		expect(found.messages).toBe(4 * (45_000 + 1100));
		expect(found.bytes).toBe(4 * 2 * (45_000 * 256 + 1100 * 1024));
		expect(found.durationNs).toBe(4 * (15e9 + 11e9));
		expect(found.drainNs).toBe(4 * (30e9 + 2e9));
	});

	test("tells each case once what its window carries, warm-up left out", () => {
		expect(
			of(two).cases.map((one) => [
				one.case,
				one.samples,
				...one.percentiles.map(({ support }) => support),
			]),
		).toEqual([
			["256B 3000/s", 30_000, "ok", "ok", "none", "none"],
			["slow", 1000, "ok", "none", "none", "none"],
		]);
	});

	test("finds an SLA line that asks for more once for a case, however many systems and repeats", () => {
		expect(of(two).tooDeep.map(({ sla, case: name }) => `${sla}, ${name}`)).toEqual([
			"p99.99 < 1s, 256B 3000/s",
			"p99.99 < 1s, slow",
		]);
	});

	test("has nothing to say against weak percentiles, counters and the maximum", () => {
		expect(
			of(
				"workload: { rate: 400/s, message: 1KiB, duration: 1s }\nsla: [p99 < 1s, max < 1s, lost == 0]\n",
			).tooDeep,
		).toEqual([]);
	});
});

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

describe("the sentence about a line that asks for more", () => {
	const sentence = (rate: string) =>
		of(
			`workload: { rate: ${rate}, message: 256B, duration: 10s }\nsla: [p99.99 < 5ms]\n`,
		).tooDeep.map((line) => tooDeepSentence(line, formatCount));

	test("names the durations, and that a PASS is out of reach", () => {
		expect(sentence("1000/s")).toEqual([
			"p99.99 < 5ms (256B 1000/s): 10 000 samples carry no p99.99. It cannot pass. Write duration: 37s to have it printed (weak, 36 887 samples), 100s for 10 samples above it (ok, 100 000).",
		]);
	});

	test("does not send anybody after a PASS that the binomial test alone would give", () => {
		expect(sentence("3000/s")[0]).toContain("It cannot pass. Write");
	});
});

test("a line that compares needs the figure itself, and says so", () => {
	const found = of(
		"workload: { rate: 1000/s, message: 256B, duration: 10s }\nrepeat: 5\nsla: [p99.99 <= baseline + 10%, throughput >= baseline - 5%]\n",
	).tooDeep.map((line) => tooDeepSentence(line, formatCount));
	expect(found).toEqual([
		"p99.99 <= baseline + 10% (256B 1000/s): 10 000 samples carry no p99.99. There will be no figure to compare. Write duration: 37s to have it printed (weak, 36 887 samples), 100s for 10 samples above it (ok, 100 000).",
	]);
});

describe("the outline as text", () => {
	test("says what is compared, over how many repeats and with what", () => {
		const text = (lines: string) =>
			renderOutline(
				of(`workload: { rate: 1000/s, message: 256B, duration: 10s }\nrepeat: 5\n${lines}`),
				300,
			);
		expect(text("sla: [p99 <= baseline + 10%]\n")).toContain(
			"compared over 5 repeats with a baseline (--baseline <file|folder>, or that of the scenario): p99 <= baseline + 10%.",
		);
		expect(text("sla: [p99 < 1s]\n")).not.toContain("compared");
	});

	test("keeps its tables in step and its sentences within 80 columns, whatever cases are called", () => {
		const name = "n".repeat(80);
		const text = renderOutline(
			of(two.replace("{ message: 256B,", `{ name: ${name}, message: 256B,`)),
			80,
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
		expect(
			renderOutline(
				outline(
					expand(
						loadScenario(
							"s.yaml",
							"system: nats\nworkload: { rate: 3000/s, message: 256B, duration: 10s }\n",
						),
						{ runId: "r" },
					),
				),
				80,
			),
		).toBe(`  #  repeat  time  messages  bytes  system/case
  1     1/1   15s    45 000  22MiB  nats/256B 3000/s

1 run: 15s of sending, and at most 30s of waiting for the last messages. 45 000
messages, warm-up included; 22MiB of payload, there and back.

What each case does:

  256B 3000/s: round-trip of 256B, 3000/s for 10s after 5s warm-up; 1 producer
    on 1 connection, 1 topic.

Percentiles that the window of one run carries:

  samples  p99  p99.9  p99.99    p99.999    case
   30 000  ok   ok     none 34s  none 334s  256B 3000/s

ok: 10 samples or more are expected above it; weak: fewer, but a 95 % bound
exists; none: not printed. Beside them the duration from which on it is ok, at
this rate. Stalls make it less: mqbench explain support.
`);
	});
});
