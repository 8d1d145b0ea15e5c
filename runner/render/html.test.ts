import { describe, expect, test } from "vitest";
import { FIXTURES, figuresIn, manyResult, wordsOf } from "../page/pages.fake.ts";
import { fixtureResult } from "../result/stored.fake.ts";
import { renderHtml } from "./rendered.fake.ts";

describe.each(FIXTURES)("report.html of %s", (name) => {
	const result = fixtureResult(name);
	const html = renderHtml(result);
	const words = wordsOf(html);

	test("needs no network, and is below 700 kB", () => {
		expect(words).not.toMatch(/<script|<link|<img|<iframe|@import|url\(|\son\w+=/i);
		expect(words).not.toMatch(/(?:src|href)="(?!#)/);
		expect(Buffer.byteLength(html)).toBeLessThan(700_000);
	});

	test("has each id once, and leads nowhere that is not in it", () => {
		const ids = [...words.matchAll(/ id="([^"]*)"/g)].map((m) => m[1]);
		expect(new Set(ids).size).toBe(ids.length);
		for (const [, to] of words.matchAll(/ href="#([^"]*)"/g)) expect(ids).toContain(to);
	});

	test("says the verdict first, and every gate with its reason", () => {
		const text = unescaped(html);
		expect(text.indexOf(result.verdict.toUpperCase())).toBeLessThan(text.indexOf("<main"));
		for (const gate of result.gates) {
			expect(text).toContain(gate.sla);
			// A sentence of its own, or a cell.
			expect(text).toContain(gate.why.slice(1));
		}
	});
});

describe("a report of 100 runs", () => {
	const result = manyResult(100);
	const html = renderHtml(result);

	test("stays below 2 MB, and has pictures, tables and counts of each", () => {
		expect(Buffer.byteLength(html)).toBeLessThan(2_000_000);
		expect(html.match(/<details class="run" [^>]*id="run-/g)).toHaveLength(100);
		expect(html.match(/<dl class="counts">/g)).toHaveLength(100);
		const ids = figuresIn(html).map(({ id }) => id);
		expect(ids.filter((id) => id.endsWith("-time"))).toHaveLength(100);
		expect(ids.filter((id) => id.endsWith("percentiles"))).toHaveLength(101);
	});

	test("leads to each run from its case, and to each case from its contents", () => {
		expect(html.match(/<th scope="row"><a href="#run-\d+">/g)).toHaveLength(100);
		const nav = /<nav[\s\S]*?<\/nav>/.exec(html)?.[0] ?? "";
		expect(nav.match(/href="#case-/g)).toHaveLength(
			new Set(result.runs.map((run) => run.case)).size,
		);
	});
});

function unescaped(html: string): string {
	return html
		.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
		.replaceAll("\u00a0", " ");
}
