import { describe, expect, test } from "vitest";
import { fitted, rowsWithin, type Section, sizeOf } from "./sections.ts";

const sections: Section[] = ["one", "two", "three", "four", "five"].map((title) => ({
	title,
	text: `${title} ${"\u00e9".repeat(100)}`,
}));
const build = (most: number, of: "characters" | "bytes" = "characters") =>
	fitted("HEAD", sections, "FOOT", { most, of }, "See report.html.");

describe("sections", () => {
	test("are all there when they fit, with nothing said", () => {
		const text = build(10_000);
		expect(text.startsWith("HEAD\n\none ")).toBe(true);
		expect(text.endsWith("\n\nFOOT\n")).toBe(true);
		expect(text).not.toContain("Left out");
		expect(build(text.length)).toBe(text);
	});

	test("are cut between two of them, never longer than they may be, and what is missing is named", () => {
		const whole = build(10_000).length;
		for (let most = 200; most < whole; most++) {
			const text = build(most);
			expect(text.length).toBeLessThanOrEqual(most);
			expect(text).toContain("**Left out, as there is no more room here:**");
			expect(text).toContain("See report.html.");
			// Whole or not at all: kept, named, or counted.
			const kept = sections.filter((s) => text.includes(s.text)).length;
			const named = /room here:\*\* ([^.]*)\. /.exec(text)?.[1]?.split("; ") ?? [];
			const more = Number(/and (\d+) more/.exec(text)?.[1] ?? 0);
			expect(kept + named.length - (more > 0 ? 1 : 0) + more).toBe(5);
			expect(named[0]).toBe(sections[kept]?.title);
			expect(text.match(/\u00e9{1,99}(?!\u00e9)/g)?.length ?? 0).toBe(
				text.match(/\u00e9{100}/g)?.length ?? 0,
			);
		}
		expect(build(whole - 1)).toContain("no more room here:** five. See");
		expect(build(200)).toContain("one; two; three; and 2 more. See");
	});

	test("count bytes where bytes are counted", () => {
		const text = build(500, "bytes");
		expect(Buffer.byteLength(text)).toBeLessThanOrEqual(500);
		expect(build(500).length).toBeGreaterThan(text.length);
		expect(sizeOf("\u00e9", "bytes")).toBe(2);
		expect(sizeOf("\u00e9", "characters")).toBe(1);
	});

	test("name what is missing without markdown of it", () => {
		const text = fitted(
			"",
			[{ title: `<b>|\`${"x".repeat(300)}`, text: "y".repeat(1000) }],
			"",
			{ most: 400, of: "characters" },
			"",
		);
		expect(text).not.toMatch(/[<|`]/);
		expect(text.length).toBeLessThan(300);
	});
});

test("rows are kept from the first on, as long as they fit", () => {
	const rows = ["aaa", "bbb", "ccc"];
	const within = (most: number) => rowsWithin(rows, { most, of: "characters" });
	expect(within(100)).toEqual({ kept: rows, more: 0 });
	expect(within(12)).toEqual({ kept: rows, more: 0 });
	expect(within(11)).toEqual({ kept: ["aaa", "bbb"], more: 1 });
	expect(within(0)).toEqual({ kept: [], more: 3 });
});
