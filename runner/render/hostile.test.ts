import { describe, expect, test } from "vitest";
import { HOSTILE as MARKUP, wordsOf } from "../page/pages.fake.ts";
import { displayWidth } from "../terminal/columns.ts";
import { screen } from "../terminal/screen.fake.ts";
import { HOSTILE } from "./hostile.fake.ts";
import { renderHtml } from "./html.ts";
import { renderMarkdown } from "./markdown.ts";
import { sinkOf } from "./sink.fake.ts";
import { renderTerminal, type TerminalOptions } from "./terminal.ts";

const TEXTS = [
	...HOSTILE,
	MARKUP,
	"\u{1f680} 消息队列",
	"\x1b[2J\x1b[31mred\x07",
	"e\u0301\u202e\u200b",
	"消息🚀".repeat(30),
];

describe.each(TEXTS)("%j", (said) => {
	test("opens no tag, no comment, no cell and no mention in Markdown", () => {
		const md = renderMarkdown(sinkOf(said));
		const bare = md
			// What Markdown takes as it is.
			.replaceAll(/^```$[\s\S]*?^```$/gm, "")
			.replaceAll(/\\[\\`*_[\]|~#]|`[^`\n]*`/g, "")
			.replaceAll(/<\/?(details|summary|b)>/g, "");
		expect(bare).not.toMatch(/[<>`]/);
		expect(bare).not.toMatch(/@\w/);
		expect(md.match(/^<details>$/gm)?.length).toBe(md.match(/^<\/details>$/gm)?.length);
		// Every row of a table has as many cells as its head.
		for (const block of md.split("\n\n").filter((b) => b.startsWith("|"))) {
			const cells = block.split("\n").map((row) => row.match(/(?<!\\)(?:\\\\)*\|/g)?.length);
			expect(new Set(cells).size).toBe(1);
		}
	});

	test("opens no tag and no attribute on a page, and is there as it is", () => {
		const html = wordsOf(renderHtml(sinkOf(said)));
		expect(html).not.toMatch(/<img|<script>alert| on\w+="/);
		const open: string[] = [];
		for (const [, close, tag = "", rest = ""] of html.matchAll(
			/<(\/?)([a-z][a-z0-9]*)((?:"[^"]*"|[^">])*)>/g,
		)) {
			if (["meta", "br"].includes(tag) || rest.endsWith("/")) continue;
			if (close) expect(open.pop()).toBe(tag);
			else open.push(tag);
		}
		expect(open).toEqual([]);
		const text = html.replaceAll(/&#(\d+);/g, (_, n) => String.fromCharCode(Number(n)));
		expect(text).toContain(said);
	});

	const render = (options: Partial<TerminalOptions> = {}) =>
		renderTerminal(sinkOf(said), { columns: 100, colour: false, ...options });

	test.each([40, 100])("is in no line of a terminal wider than %d columns", (columns) => {
		for (const line of render({ columns }).split("\n"))
			expect(displayWidth(line)).toBeLessThanOrEqual(columns);
	});

	test("brings no escape sequence to a terminal: colours are all that is added", () => {
		const plain = render();
		// biome-ignore lint/suspicious/noControlCharactersInRegex: they must not be there.
		expect(plain).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/);
		const coloured = screen(render({ colour: true }));
		expect(coloured.lines.join("\n")).toBe(plain);
		expect(coloured.unknown).toEqual([]);
	});
});
