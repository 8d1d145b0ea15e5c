import { expect, test } from "vitest";
import type { ResourceLine } from "../model/resource-file.ts";
import { withBrokers } from "./resources.ts";

const line = (
	unixMs: number,
	cpuNs: number | null = null,
	rssBytes: number | null = null,
): ResourceLine => ({
	unixMs,
	generator: null,
	broker: {
		cpuNs,
		rssBytes,
		readBytes: null,
		waitNs: cpuNs === null ? null : cpuNs / 2,
		writeBytes: cpuNs === null ? null : cpuNs * 2,
	},
	machine: { cpuNs: null, idleNs: null, stealNs: null, throttled: null },
	network: null,
});
const here = (...times: number[]) => times.map((at) => ({ ...line(at), broker: null }));

test("what nodes have used is told for the moments of this machine's samples, all of them together", () => {
	const first = [line(0, 0, 10), line(1000, 100, 20), line(2000, 300, 20)];
	const second = [line(250, 1000, 5), line(1250, 2000, 5), line(2250, 2000, 5)];
	expect(withBrokers(here(500, 1000, 1500), [first, second]).map(({ broker }) => broker)).toEqual([
		{ cpuNs: 50 + 1250, waitNs: (50 + 1250) / 2, rssBytes: 15, readBytes: null, writeBytes: 2600 },
		{
			cpuNs: 100 + 1750,
			waitNs: (100 + 1750) / 2,
			rssBytes: 25,
			readBytes: null,
			writeBytes: 3700,
		},
		{
			cpuNs: 200 + 2000,
			waitNs: (200 + 2000) / 2,
			rssBytes: 25,
			readBytes: null,
			writeBytes: 4400,
		},
	]);
});

test("memory of a node that ends between two looks is never half of it", () => {
	const node = [line(0, 1, 24), line(1000, 2, 0)];
	expect(withBrokers(here(500, 1000), [node]).map(({ broker }) => broker?.rssBytes)).toEqual([
		24, 0,
	]);
});

test("where one of them was not looked at the sum is unknown", () => {
	const first = [line(0, 0), line(2000, 300)];
	const second = [line(500, 1), line(1500, null)];
	expect(
		withBrokers(here(-1, 400, 500, 1000, 1600, 2001), [first, second]).map(
			({ broker }) => broker?.cpuNs ?? null,
		),
	).toEqual([null, null, 76, null, null, null]);
	expect(withBrokers(here(5), [first, []])[0]?.broker).toBeNull();
});

test("without hosts of a broker nothing changes", () => {
	const samples = [line(1, 5)];
	expect(withBrokers(samples, [])).toBe(samples);
});
