import { expect, test } from "vitest";
import { brokerLines } from "./samples.ts";

const line = (cpuNs: number | null, rssBytes: number | null = 7, writeBytes = cpuNs) =>
	JSON.stringify({
		unixMs: 1,
		generator: null,
		broker: { cpuNs, rssBytes, readBytes: null, writeBytes, waitNs: cpuNs && cpuNs * 2 },
		machine: { cpuNs: 9, idleNs: 8, stealNs: 0, throttled: null },
		network: null,
	});

const brokers = (text: string) =>
	brokerLines(text)
		.trim()
		.split("\n")
		.map((one) => JSON.parse(one));

test("a node that was started again goes on where it ended; its memory is what it holds now, and none in between", () => {
	const all = [
		line(0, null, null),
		line(10),
		line(30, 9),
		// It has ended, and another one begins.
		line(32, null, null),
		line(0, null, null),
		line(5, 2),
		line(6, 3),
		line(1, 4),
	];
	expect(
		brokers(all.join("\n")).map(({ broker }) => [
			broker.cpuNs,
			broker.waitNs === broker.cpuNs * 2,
			broker.writeBytes,
			broker.rssBytes,
		]),
	).toEqual([
		[0, true, null, null],
		[10, true, 10, 7],
		[30, true, 30, 9],
		[32, true, 30, 0],
		[32, true, 30, 0],
		[37, true, 35, 2],
		[38, true, 36, 3],
		[39, true, 37, 4],
	]);
});

test("all else of a line stays", () => {
	expect(brokers(`${line(10)}\n`)).toEqual([JSON.parse(line(10))]);
});

test("a line that was cut short is left out", () => {
	expect(brokers(`${line(10)}\n{"unixMs":1,"gen`)).toHaveLength(1);
	expect(brokerLines("")).toBe("");
});
