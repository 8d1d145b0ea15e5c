import { expect, test } from "vitest";
import { brokerLines } from "./samples.ts";

const line = (cpuNs: number | null, rssBytes: number | null = 7) =>
	JSON.stringify({
		unixMs: 1,
		generator: { cpuNs, rssBytes, readBytes: null, writeBytes: cpuNs },
		broker: null,
		machine: { cpuNs: 9, idleNs: 8, stealNs: 0, throttled: null },
		network: null,
	});

const brokers = (text: string) =>
	brokerLines(text)
		.trim()
		.split("\n")
		.map((one) => JSON.parse(one));

test("what guard takes for a generator is the broker's node, beside its machine", () => {
	expect(brokers(`${line(10)}\n`)).toEqual([
		{
			unixMs: 1,
			generator: null,
			broker: { cpuNs: 10, rssBytes: 7, readBytes: null, writeBytes: 10 },
			machine: { cpuNs: 9, idleNs: 8, stealNs: 0, throttled: null },
			network: null,
		},
	]);
});

test("a node that was started again goes on where it ended, and holds the memory that it holds now", () => {
	const all = [line(10), line(30, 9), line(5, 2), line(6, 3), line(1, 4)];
	expect(
		brokers(all.join("\n")).map(({ broker }) => [
			broker.cpuNs,
			broker.writeBytes,
			broker.rssBytes,
		]),
	).toEqual([
		[10, 10, 7],
		[30, 30, 9],
		[35, 35, 2],
		[36, 36, 3],
		[37, 37, 4],
	]);
});

test("a line that was cut short is left out", () => {
	expect(brokers(`${line(10)}\n{"unixMs":1,"gen`)).toHaveLength(1);
	expect(brokerLines("")).toBe("");
});
