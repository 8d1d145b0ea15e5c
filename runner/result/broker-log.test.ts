import { expect, test } from "vitest";
import type { BrokerLine } from "../evidence/broker-log.ts";
import { brokerLogOf } from "./broker-log.ts";

const line = (
	atMs: number,
	text = "line",
	{ serious = false, ours = false, node = 1 } = {},
): BrokerLine => ({ node, atMs, serious, ours, text });
const window = { startNs: 1e9, endNs: 11e9 };
const of = (brokerLog: Iterable<BrokerLine> | null, t0Ms: number | null = 0) =>
	brokerLogOf({ brokerLog, t0Ms }, window);

test("of a broker's log the lines from T0 to the window's end are kept, in order of time, without what mqbench did", () => {
	expect(
		of([
			line(-1, "before"),
			line(9000, "line nine"),
			line(0, "line zero"),
			line(5000, "mqbench: killed node 1", { ours: true }),
			line(11_000, "after"),
			line(6000, " _ ___ | __|"),
		]),
	).toEqual({
		lines: [
			{ atNs: 0, node: 1, serious: false, text: "line zero", times: 1 },
			{ atNs: 9e9, node: 1, serious: false, text: "line nine", times: 1 },
		],
		more: 0,
	});
});

test("lines of a node that differ in numbers only are one, with the time of the first; after 5 s of silence another", () => {
	const log = of([
		line(100, "attempt 1: refused"),
		line(200, "attempt 2: refused"),
		line(300, "attempt 3: refused", { node: 2 }),
		line(4000, "attempt 10: refused"),
		line(9001, "attempt 11: refused"),
	]);
	expect(log?.lines.map(({ atNs, node, times }) => [atNs, node, times])).toEqual([
		[100e6, 1, 3],
		[300e6, 2, 1],
		[9001e6, 1, 1],
	]);
});

test("of a flood of lines, each of another kind, the first are shown, the serious ones before the others, and all are counted", () => {
	const letters = (i: number) => i.toString(2).replaceAll("0", "a").replaceAll("1", "b");
	const log = of(
		(function* () {
			for (let i = 0; i < 10_000; i++) {
				yield line(i / 10, `said ${letters(i)}`);
				if (i % 100 === 99) yield line(i / 10, `warned ${letters(i)}`, { serious: true });
			}
		})(),
	);
	expect(log?.lines.map(({ serious }) => serious)).toEqual(Array(60).fill(true));
	expect(log?.lines[0]?.text).toBe(`warned ${letters(99)}`);
	expect(log?.more).toBe(10_000 + 100 - 60);
});

test("a password in a line is in no report", () => {
	const [one] = of([line(1, "cannot reach nats://me:hunter2@host")])?.lines ?? [];
	expect(one?.text).toBe("cannot reach nats://***@host");
});

test("a log without times is none, though mqbench has written into it", () => {
	expect(of([line(1, "mqbench: killed", { ours: true })])).toBeUndefined();
	expect(of([])).toBeUndefined();
});

test("where there are too many kinds what is serious is kept first, and the lines of the rest are counted", () => {
	const word = (i: number) => [...`${i}`].map((digit) => "abcdefghij"[Number(digit)]).join("");
	const chatter = Array.from({ length: 300 }, (_, i) =>
		line(i, `kind ${word(i % 150)}`, { serious: i % 5 === 4 }),
	);
	const kept = of(chatter);
	expect(kept?.lines).toHaveLength(60);
	expect(kept?.lines.filter(({ serious }) => serious)).toHaveLength(30);
	// Each of the 90 other kinds was logged twice.
	expect(kept?.more).toBe(180);
	const times = kept?.lines.map(({ atNs }) => atNs) ?? [];
	expect(times).toEqual(times.toSorted((a, b) => a - b));
});

test("without a log, or without a T0, nothing is known", () => {
	expect(of(null)).toBeUndefined();
	expect(of([line(1)], null)).toBeUndefined();
});
