import { describe, expect, test } from "vitest";
import { clipped, displayWidth, padEnd, padStart, pieces, plainText } from "./columns.ts";

describe("a text's width on a terminal", () => {
	test.each([
		["nats", 4],
		["", 0],
		["é", 1],
		["e\u0301", 1],
		["消息队列", 8],
		["ﾊﾝｶｸ", 4],
		["ＦＵＬＬ", 8],
		["한국어", 6],
		["🚀", 2],
		["👩‍👩‍👧‍👦", 2],
		["🇩🇪", 2],
		["❤️", 2],
		["∞ ~ µ", 5],
		["\u200b", 0],
	])("of %j is %d", (text, width) => {
		expect(displayWidth(text)).toBe(width);
	});

	test("is what padding goes by", () => {
		expect(padEnd("消息", 6)).toBe("消息  ");
		expect(padStart("消息", 6)).toBe("  消息");
		expect(padEnd("longer", 3)).toBe("longer");
	});
});

describe("a text that is too wide", () => {
	test("is cut at its end, with a mark", () => {
		expect(clipped("jetstream-fsync", 11, "..")).toBe("jetstream..");
		expect(clipped("jetstream", 9, "..")).toBe("jetstream");
		expect(clipped("消息队列", 5)).toBe("消息");
	});

	test("never becomes wider than asked for, and never half a character", () => {
		const text = "🚀消a🇩🇪e\u0301".repeat(20);
		for (let width = 4; width < 60; width++) {
			const short = clipped(text, width, "..");
			expect(displayWidth(short)).toBeLessThanOrEqual(width);
			// Half of a surrogate pair.
			expect(short).not.toMatch(/\p{Surrogate}/u);
		}
	});

	test("in pieces is whole", () => {
		const text = "a消🚀".repeat(50);
		const found = pieces(text, 7);
		expect(found.join("")).toBe(text);
		for (const piece of found) expect(displayWidth(piece)).toBeLessThan(8);
		expect(pieces("消息", 1)).toEqual(["消", "息"]);
	});
});

describe("a text from outside", () => {
	test("brings no escape sequence, control character or turned direction with it", () => {
		expect(plainText("\x1b[31mred\x1b[0m\n\tnext\x07\x9b2J")).toBe("red next");
		expect(plainText("\x1b]8;;http://evil\x07link\x1b]8;;\x07")).toBe("link");
		expect(plainText("a\u202eb\u2066c\ud800")).toBe("abc\ufffd");
		expect(plainText("a\u2028b\r\nc")).toBe("a b c");
	});
});
