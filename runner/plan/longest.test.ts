import { expect, test } from "vitest";
import { loadScenario } from "../scenario/load.ts";
import { expand } from "./expand.ts";
import { longest } from "./longest.ts";

const of = (
	head: string,
	also: Partial<Parameters<typeof longest>[1]> = {},
	load = "rate: 3/s, duration: 20s",
) =>
	longest(
		expand(
			loadScenario(
				"s.yaml",
				`${head}\nworkload: { ${load}, message: 256B, warmup: 5s, drain: 10s }\n`,
			),
			{ runId: "r" },
		),
		{ floors: false, confirm: false, ...also },
	) / 1e9;

test("a run takes its start, warm-up, window and drain; runs add up", () => {
	expect(of("system: nats")).toBe(15 + 5 + 20 + 10);
	expect(of("system: nats\nrepeat: 3")).toBe(150);
	expect(of("systems: { nats: nats, floor: noop }")).toBe(100);
});

test("where a warm-up lasts until latency is steady, its longest time counts", () => {
	const steady = expand(
		loadScenario(
			"s.yaml",
			"system: kafka\nworkload: { rate: 50/s, duration: 20s, message: 256B, drain: 10s }\n",
		),
		{ runId: "r" },
	);
	expect(longest(steady, { floors: false, confirm: false }) / 1e9).toBe(15 + 90 + 20 + 10);
});

test("a floor for each case comes on top, of noop none", () => {
	const cases = "cases: [{ message: 1KiB }, { message: 2KiB }]";
	expect(of(`system: nats\n${cases}`, { floors: true })).toBe(120);
	expect(of(`system: noop\n${cases}`, { floors: true })).toBe(100);
});

test("repeats that may be added count as if they were", () => {
	expect(of("system: nats", { confirm: true })).toBe(150);
	expect(of("system: nats\nrepeat: 2", { confirm: true })).toBe(200);
});

test("a search is as many runs as it usually makes", () => {
	expect(of("system: nats\nsla: [p99 < 5ms]", {}, "rate: 3/s, duration: 20s, find: max-rate")).toBe(
		20 * (15 + 5 + 60 + 10),
	);
});
