import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build, encodeIntoCompressedBase64, type JsHistogram } from "hdr-histogram-js";
import { describe, expect, onTestFinished, test } from "vitest";
import { cpuMs } from "../tests/cpu.fake.ts";
import { addBuckets } from "./buckets.ts";
import { distribution } from "./distribution.ts";
import { readLogs } from "./hlog.ts";
import { mergeLines } from "./merge.ts";
import {
	bucketsOf,
	emptyHistogram,
	histogramOf,
	latencies,
	readLog,
	seeded,
} from "./random.fake.ts";

const line = (tag: string, startS: number, values: number[]) => ({
	tag,
	startS,
	maxNs: Math.max(...values),
	encoded: encodeIntoCompressedBase64(histogramOf(values)),
});

const merged = (...histograms: JsHistogram[]) =>
	distribution(addBuckets(histograms.map(bucketsOf)));

describe("merging", () => {
	test("is commutative and associative, and counts add up", () => {
		const random = seeded(5);
		const [a, b, c] = [300, 1, 4000].map((n) => histogramOf(latencies(n, random))) as [
			JsHistogram,
			JsHistogram,
			JsHistogram,
		];
		const abc = merged(a, b, c);
		expect(merged(c, a, b)).toEqual(abc);
		expect(abc.count).toBe(4301);
		const ab = addBuckets([bucketsOf(a), bucketsOf(b)]);
		expect(distribution(addBuckets([ab, bucketsOf(c)]))).toEqual(abc);
	});

	test("gives the histogram of all values together, as hdr-histogram-js does", () => {
		const random = seeded(6);
		const a = latencies(500, random);
		const b = latencies(700, random);
		const both = merged(histogramOf(a), histogramOf(b));
		expect(both).toEqual(merged(histogramOf([...a, ...b])));
		const theirs = histogramOf(a);
		theirs.add(histogramOf(b));
		const found = both.low.map((low, i) => [low, both.high[i], both.upTo[i]]);
		let upTo = 0;
		const expected: number[][] = [];
		for (let i = 0; i <= theirs.countsArrayIndex(theirs.maxValue); i++) {
			const count = theirs.getCountAtIndex(i);
			if (count === 0) continue;
			upTo += count;
			const low = theirs.valueFromIndex(i);
			expected.push([low, theirs.highestEquivalentValue(low), upTo]);
		}
		expect(found).toEqual(expected);
	});

	test("refuses histograms of another range or precision", () => {
		const other = build({
			bitBucketSize: 64,
			highestTrackableValue: 3.6e12,
			numberOfSignificantValueDigits: 2,
		}) as JsHistogram;
		expect(() => merged(emptyHistogram(), other)).toThrow("digits 3 and 2");
	});

	test("of an empty histogram is empty", () => {
		expect(merged(emptyHistogram(), emptyHistogram()).count).toBe(0);
	});

	test("keeps counts above 2^31, which 32-bit buckets would wrap", () => {
		const h = emptyHistogram();
		h.recordValueWithCount(1000, 2 ** 31);
		expect(merged(h, h).count).toBe(2 ** 32);
	});
});

describe("the lines of a log", () => {
	test("are put together by tag and second of the window; several lines of a second add up", () => {
		const { response, warmup } = {
			response: [
				line("response", 1.5, [10]),
				line("response", 1.5, [20, 30]),
				line("response", 2.5, [40]),
			],
			warmup: [line("response.warmup", 0.5, [1, 1])],
		};
		const tags = mergeLines([...response, ...warmup], 1.5e9);
		expect([...(tags.get("response")?.seconds.keys() ?? [])]).toEqual([0, 1]);
		expect(tags.get("response")?.seconds.get(0)?.count).toBe(3);
		expect(tags.get("response")?.whole.count).toBe(4);
		expect([...(tags.get("response.warmup")?.seconds.keys() ?? [])]).toEqual([-1]);
	});

	test("written a little before their second, by rounding to ms, belong to it all the same", () => {
		const tags = mergeLines([line("response", 1.333, [5])], 1_333_333_333);
		expect([...(tags.get("response")?.seconds.keys() ?? [])]).toEqual([0]);
	});

	test("seconds keep their figures only; what is above a value is read again, tag by tag", () => {
		const lines = [
			line("response", 0, [100, 200, 300]),
			line("response", 1, [400]),
			line("response", 0, [500]),
			line("lag", 0, [900]),
		];
		const tags = mergeLines(lines, 0);
		expect(tags.get("response")?.seconds.get(0)).toEqual({
			count: 4,
			p50: null,
			p99: null,
			max: 500,
		});
		expect(tags.get("lag")?.seconds.size).toBe(0);
		expect([...(tags.get("response")?.above([200, 450]) ?? [])]).toEqual([
			[0, { count: 4, above: [2, 1] }],
			[1, { count: 1, above: [1, 0] }],
		]);
		expect(tags.get("lag")?.above([0]).get(0)).toEqual({ count: 1, above: [1] });
	});

	test("are gone through again where they are too many to be kept, with the same counts", () => {
		const one = line("response", 0, latencies(30_000, seeded(9)));
		const values = [1e3, 1e6, 1e9, Number.POSITIVE_INFINITY];
		const alone = mergeLines([one], 0).get("response")?.above(values).get(0);
		expect(alone?.count).toBe(30_000);
		let read = 0;
		// Some 12 000 buckets each: more than a million in all.
		const many = {
			*[Symbol.iterator]() {
				read++;
				for (let s = 0; s < 100; s++) yield { ...one, startS: s };
			},
		};
		const above = mergeLines(many, 0).get("response")?.above(values);
		expect(read).toBe(2);
		expect(above?.size).toBe(100);
		for (const found of above?.values() ?? []) expect(found).toEqual(alone);
	});

	test("1000 of them merge in well under 2 s", () => {
		const log = readFileSync(
			new URL("../tests/fixtures/stall/runs/01-nats-256B-1000-s-1/client-0.hlog", import.meta.url),
			"utf8",
		);
		const few = readLog(log).filter((l) => l.tag === "response");
		const many = Array.from({ length: 1000 }, (_, i) => ({
			...(few[i % few.length] as (typeof few)[number]),
			startS: i,
		}));
		let count: number | undefined;
		const took = cpuMs(() => {
			count = mergeLines(many, 0).get("response")?.whole.count;
		});
		expect(count).toBe(1_000_000);
		// Takes 0.4 s on a slow machine; pako instead of zlib would take many times that.
		expect(took).toBeLessThan(2000);
	});
});

describe("reading a log", () => {
	test("of some MB piece by piece gives what reading it at once does, each time anew", () => {
		const encoded = encodeIntoCompressedBase64(histogramOf(latencies(2000, seeded(9))));
		const text = `#[a comment]\n${Array.from({ length: 2000 }, (_, i) => `Tag=lag,${i},1,0.1,${encoded}\n`).join("")}`;
		const folder = mkdtempSync(join(tmpdir(), "mqbench-test-"));
		onTestFinished(() => rmSync(folder, { recursive: true }));
		const path = join(folder, "client-0.hlog");
		writeFileSync(path, `${text}no line of it`);
		const lines = readLogs([{ path, bytes: text.length }]);
		expect(text.length).toBeGreaterThan(2 << 20);
		expect([...lines]).toEqual(readLog(text));
		expect([...lines]).toHaveLength(2000);
	});

	test("skips comments and the legend, and takes lines without a tag", () => {
		const encoded = encodeIntoCompressedBase64(histogramOf([7]));
		const lines = readLog(
			`#[BaseTime: 5]\n"StartTimestamp","Interval_Length"\n0.500,1.000,0.000,${encoded}\nTag=lag,1,1,0.1,${encoded}\n`,
		);
		expect(lines.map((l) => [l.tag, l.startS])).toEqual([
			["", 0.5],
			["lag", 1],
		]);
		expect(mergeLines(lines, 0).get("")?.whole.count).toBe(1);
	});

	test("leaves out a last line that breaks off, and refuses a broken one in the middle", () => {
		const encoded = encodeIntoCompressedBase64(histogramOf([7]));
		expect(readLog(`Tag=lag,0,1,0.1,${encoded}\nTag=lag,1,1,0.`)).toHaveLength(1);
		expect(() => readLog("Tag=lag,0,1\nTag=lag,1,1,0.1,AAAA\n")).toThrow("line 1");
	});
});

describe("a histogram that is none", () => {
	const good = Buffer.from(encodeIntoCompressedBase64(histogramOf([7])), "base64");
	const read = (bytes: Buffer) =>
		mergeLines([{ ...line("lag", 0, []), encoded: bytes.toString("base64") }], 0);

	test("is an error, whatever is wrong with it", () => {
		expect(() => read(Buffer.alloc(0))).toThrow("no compressed V2");
		expect(() => read(Buffer.alloc(40, 7))).toThrow("no compressed V2");
		expect(() => read(good.subarray(0, good.length - 9))).toThrow();
		const wild = Buffer.from(good);
		wild[12] = 0xff;
		expect(() => read(wild)).toThrow();
	});
});
