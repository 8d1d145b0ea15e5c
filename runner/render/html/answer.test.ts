import { expect, test } from "vitest";
import { answer, provenance } from "../../document/answer.ts";
import type { Block } from "../../document/blocks.ts";
import { HOSTILE, hostileResult } from "../../page/pages.fake.ts";
import { readResult } from "../../result/result-files.ts";
import { fixtureResult, publishedFolder, publishedOnce } from "../../result/stored.fake.ts";
import { matrixMarkup, provenanceMarkup } from "./answer.ts";

function written(blocks: readonly Block[]): string {
	return blocks
		.map((block) => {
			if (block.kind === "matrix") return matrixMarkup(block).text;
			return block.kind === "provenance" ? provenanceMarkup(block).text : "";
		})
		.join("\n");
}

test("names of markup, quotes and lines stay names", () => {
	const result = hostileResult();
	const html = written([...answer(result), ...provenance(result)]);
	// Tags and attributes are those that are written here.
	const tags = [...html.matchAll(/<([a-z]+)/g)].map(([, tag]) => tag);
	expect(new Set(tags)).toEqual(
		new Set([
			"a",
			"b",
			"div",
			"i",
			"p",
			"path",
			"small",
			"span",
			"svg",
			"table",
			"tbody",
			"td",
			"th",
			"thead",
			"tr",
		]),
	);
	expect(html).not.toMatch(/ on\w+="/);
	const [, name = ""] = /<\/i> ([^<]*)<small>/.exec(html) ?? [];
	const unescaped = name.replaceAll(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)));
	expect(unescaped).toBe(`${HOSTILE}nats`);
});

test("each cell leads to its run", () => {
	const result = publishedOnce("message-queue-latency");
	const html = written(answer(result));
	const cells = [...html.matchAll(/<td[^>]*><a href="#run-(\d+)"/g)];
	expect(cells.map(([, n]) => Number(n)).toSorted((a, b) => a - b)).toEqual(
		result.runs.map((_, i) => i + 1),
	);
});

test("small curves have the same axes: lower latency is lower", () => {
	const result = publishedOnce("message-queue-latency");
	const [block] = answer(result);
	if (block?.kind !== "matrix") throw new Error("no matrix");
	const ends = [...matrixMarkup(block).text.matchAll(/<path d="([^"]*)"/g)].map(([, d = ""]) =>
		Number(/V?([\d.]+)H[\d.]+$/.exec(d.replace(/^M[\d.]+ /, "V"))?.[1]),
	);
	const values = block.rows.flatMap(({ cells }) =>
		cells.flatMap((cell) => {
			// Up to p99.99.
			const shown = cell?.curve.filter(([p]) => p <= 99.99) ?? [];
			return cell === null ? [] : [shown.at(-1)?.[1] ?? 0];
		}),
	);
	expect(ends).toHaveLength(values.length);
	for (const [i, a] of values.entries())
		for (const [k, b] of values.entries())
			if (a > b * 1.1) expect(ends[i]).toBeLessThan(ends[k] ?? 0);
});

test("a run has a sign and its words, not colour alone", () => {
	const html = written(provenance(fixtureResult("repeats")));
	const runs = html.match(/<a href="#run-\d+"/g) ?? [];
	expect(runs).toHaveLength(6);
	expect(html.match(/<span aria-hidden="true">\S<\/span>/g)).toHaveLength(6);
	expect(html.match(/<span class="aside">[^<]+ begun [^<]+<\/span>/g)).toHaveLength(6);
});

test("a curve that stays level is a line, as far as it goes", () => {
	const result = publishedOnce("message-queue-latency");
	const [block] = answer(result);
	if (block?.kind !== "matrix") throw new Error("no matrix");
	const level = block.rows.map((row) => ({
		...row,
		cells: row.cells.map(
			(cell) => cell && { ...cell, curve: [0, 50, 99].map((p) => [p, 1e6] as const) },
		),
	}));
	const [, path] = /<path d="([^"]*)"/.exec(matrixMarkup({ ...block, rows: level }).text) ?? [];
	expect(path).toMatch(/^M0\.0 [\d.]+H42\.0$/);
});

test("a closed loop's large figure is what it carried, and cells tell their repeats only where those differ", () => {
	const result = readResult(publishedFolder("dissecting-message-queues"));
	const shown = (all: typeof result) => {
		const [block] = answer(all);
		if (block?.kind !== "matrix") throw new Error("no matrix");
		return { block, html: matrixMarkup(block).text };
	};
	const { block, html } = shown(result);
	const at = block.cases.indexOf("throughput");
	// Thousands do not break across lines.
	const whole = (text: string) => text.replaceAll(/(\d) (\d)/g, "$1\u00a0$2");
	for (const { cells } of block.rows) {
		const cell = cells[at];
		if (!cell?.carried) throw new Error("nothing carried");
		expect(html).toContain(
			`<a href="#${cell.to}"><b>${whole(cell.carried.text)}</b></a><small>${whole(cell.carried.range)}</small>`,
		);
	}
	expect(html).not.toContain("of 3 repeats");
	const fewer = shown({ ...result, runs: result.runs.slice(1) });
	expect(fewer.html).toContain("<small>of 2 repeats</small>");
	expect(fewer.html).toContain("<small>of 3 repeats</small>");
});
