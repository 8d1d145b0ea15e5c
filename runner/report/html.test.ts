import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Run } from "../model/result.ts";
import { editJson, editLines, firstRun, fixtureCopy } from "../run/fixture.fake.ts";
import { cpuMs } from "../tests/cpu.fake.ts";
import { renderHtml } from "./html.ts";
import { renderMarkdown } from "./markdown.ts";
import { figuresIn, laterIn, manyResult, wordsOf } from "./page/pages.fake.ts";
import { buildResult } from "./result.ts";
import { fixtureResult } from "./stored.fake.ts";
import { renderTerminal } from "./terminal.ts";
import { intervalText, percentileValue } from "./words.ts";

const NAMES = ["healthy", "stall", "lost", "lag", "no-data", "interrupted", "repeats"];

describe.each(NAMES)("report.html of %s", (name) => {
	const result = fixtureResult(name);
	const html = renderHtml(result);
	const words = wordsOf(html);

	test("needs no network, and is below 1.5 MB", () => {
		expect(words).not.toMatch(/<script|<link|<img|<iframe|@import|url\(|\son\w+=/i);
		expect(words).not.toMatch(/(?:src|href)="(?!#)/);
		expect(Buffer.byteLength(html)).toBeLessThan(1_500_000);
	});

	test("has no number that is none", () => {
		expect(words).not.toMatch(/NaN|Infinity|undefined|\[object|null/);
	});

	test("closes every tag", () => {
		const open: string[] = [];
		for (const [, close, tag = "", rest = ""] of words.matchAll(
			/<(\/?)([a-z][a-z0-9]*)((?:"[^"]*"|[^">])*)>/g,
		)) {
			if (["meta", "br"].includes(tag) || rest.endsWith("/")) continue;
			if (close) expect(open.pop()).toBe(tag);
			else open.push(tag);
		}
		expect(open).toEqual([]);
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
			expect(text).toContain(gate.why);
		}
	});

	test("holds every percentile as text, with its interval", () => {
		const text = unescaped(words);
		for (const run of result.runs)
			for (const metric of Object.values(run.metrics))
				for (const p of metric?.percentiles ?? []) {
					expect(text).toContain(percentileValue(p, run));
					expect(text).toContain(intervalText(p));
				}
	});
});

describe("a report of 100 runs", () => {
	const result = manyResult(100);
	const html = renderHtml(result);

	test("stays below 1.5 MB, and has pictures, tables and counts of each", () => {
		expect(Buffer.byteLength(html)).toBeLessThan(1_500_000);
		expect(html.match(/<details class="run" [^>]*id="run-/g)).toHaveLength(100);
		expect(laterIn(html).match(/<dl class="counts">/g)).toHaveLength(100);
		const kinds = figuresIn(html).map((figure) => figure.kind);
		expect(kinds.filter((kind) => kind === "time")).toHaveLength(100);
		expect(kinds.filter((kind) => kind === "percentiles").length).toBeGreaterThan(100);
	});

	test("is written in less than 2 s", () => {
		const took = [1, 2, 3].map(() => cpuMs(() => void renderHtml(result)));
		expect(Math.min(...took)).toBeLessThan(2000);
	});

	test("leads to each run from its case, and to each case from its contents", () => {
		expect(html.match(/<th scope="row"><a href="#run-\d+">/g)).toHaveLength(100);
		const nav = /<nav[\s\S]*?<\/nav>/.exec(html)?.[0] ?? "";
		expect(nav.match(/href="#case-/g)).toHaveLength(
			new Set(result.runs.map((run) => run.case)).size,
		);
	});
});

describe("the charts", () => {
	test("have a title, a description and a table beside them", () => {
		const html = renderHtml(fixtureResult("stall"));
		const blocks = html.match(/<figure class="chart"[\s\S]*?<\/figure>/g) ?? [];
		expect(blocks).toHaveLength(figuresIn(html).length);
		for (const block of blocks) {
			expect(block).toMatch(/<figcaption><b>[^<]+<\/b>/);
			expect(block).toMatch(/<p class="alt" id="[^"]+">[^<]{20,}/);
			expect(block).toMatch(/As a table.*<tbody>\s*<tr>/s);
		}
		expect(unescaped(html)).toContain("response: p50 207us");
	});

	test("are of the same numbers as the tables", () => {
		const result = fixtureResult("stall");
		const [run] = result.runs;
		const figure = figuresIn(renderHtml(result)).find((f) => f.kind === "percentiles");
		const curve = figure?.curves.find((c) => c.metric === "response");
		const marks = curve?.marks.map((m) => [m.p, m.value, m.text]);
		const known = run?.metrics.response?.percentiles.filter((p) => p.value !== null);
		expect(marks).toEqual(known?.map((p) => [p.p, p.value, percentileValue(p, run as Run)]));
	});

	test("of a long run show the worst second of each stretch", () => {
		const result = fixtureResult("healthy");
		const [run] = result.runs;
		if (run === undefined) throw new Error("no run");
		run.series.seconds = Array.from({ length: 900 }, (_, second) => ({
			second,
			count: 10,
			missing: 0,
			p50: 5,
			p99: second === 450 ? 1000 : second % 3 === 0 ? null : 7,
			max: second,
			lag: null,
			queued: null,
		}));
		run.window = { ...run.window, endNs: run.window.startNs + 900e9 };
		const time = figuresIn(renderHtml(result)).find((f) => f.kind === "time");
		const lines = time?.panels.flatMap((panel) => panel.lines) ?? [];
		const values = (name: RegExp) =>
			lines.find((line) => name.test(line.name))?.points.map(([, v]) => v) ?? [];
		expect(values(/p99/).length).toBeLessThanOrEqual(301);
		expect(Math.max(...values(/p99/).map((v) => v ?? 0))).toBe(1000);
		expect(values(/max/).at(-1)).toBe(899);
	});
});

describe("what explains a run", () => {
	const html = renderHtml(fixtureResult("stall"));

	test("is folded: slowest messages with their parts as bars, resources under the same axis", () => {
		expect(html).toContain("The slowest messages, and what they waited for");
		expect(html.match(/class="service-part" x=/g)).toHaveLength(20);
		const time = figuresIn(html).find((f) => f.kind === "time");
		const units = time?.panels.map((panel) => panel.unit);
		expect(units).toContain("cores");
		expect(units).toContain("bytes/s");
		expect(html).toContain("a tool that waits for each reply");
	});

	test("says that generator and broker shared one host, in every report", () => {
		const result = fixtureResult("stall");
		const terminal = { columns: 200, colour: false, folder: "x" };
		for (const text of [html, renderMarkdown(result), renderTerminal(result, terminal)])
			expect(text.toLowerCase()).toContain("generator and broker shared one host");
	});

	test("names the first offender, and what to do about a warning", () => {
		const text = unescaped(renderHtml(fixtureResult("lost")));
		expect(text).toContain("First lost: producer 0, sequence 3000, due 2s after the window opened");
		expect(text).toContain("What to do: see whether they are lost or late");
	});

	test("marks the gap that counting from the actual send would have hidden", () => {
		const result = fixtureResult("stall");
		const [run] = result.runs;
		const service = run?.metrics.service;
		const omission = run?.omission;
		if (!run || !service || !omission) throw new Error("another fixture");
		const hiding = {
			...run,
			omission: {
				...omission,
				percentiles: omission.percentiles.map((x) =>
					x.p === 99 && x.response !== null ? { ...x, service: 3e5, factor: x.response / 3e5 } : x,
				),
			},
		};
		const found = renderHtml({ ...result, runs: [hiding] });
		expect(hiddenIn(found)).toHaveLength(1);
		expect(hiddenIn(found)[0]).toContain("300us");
		expect(found).toContain(
			"Counting from the actual send, p99 would have been ~300us instead of ~400ms.",
		);
		expect(hiddenIn(html)).toEqual([]);
	});
});

describe("texts from outside", () => {
	const evil = '<img src=x onerror="alert(1)">|`**&';
	const result = () => {
		const copy = fixtureCopy("healthy");
		const run = firstRun(copy);
		editJson(join(run, "run.json"), (f) => {
			f.notes = [evil];
		});
		editJson(join(run, "plan.json"), (f) => {
			f.case = evil;
			f.durability = evil;
		});
		editLines(join(run, "client-0.jsonl"), (lines) => {
			lines.find((l) => l.type === "totals").errors = [{ message: evil, count: 1, firstNs: null }];
			return undefined;
		});
		return buildResult(copy);
	};

	test("open no tag in HTML", () => {
		const html = renderHtml(result());
		// The drawing library writes such a tag itself; that data closes no script is tested at its page.
		expect(wordsOf(html)).not.toContain("<img");
		expect(unescaped(html)).toContain(evil);
	});

	test("open no tag, table cell or emphasis in markdown", () => {
		const text = renderMarkdown(result());
		const outsideCode = text.replaceAll("\\`", "").replaceAll(/`[^`]*`/g, "");
		expect(outsideCode).not.toContain("<img");
		expect(text).toContain("&lt;img");
		expect(text).toContain("\\|");
	});
});

describe("the terminal", () => {
	test.each([40, 80, 120])("keeps to %d columns", (columns) => {
		for (const name of NAMES) {
			const text = renderTerminal(fixtureResult(name), {
				columns,
				colour: false,
				folder: "reports/x",
			});
			const longest = Math.max(...text.split("\n").map((l) => l.length));
			expect(longest).toBeLessThanOrEqual(columns);
		}
	});

	test("never breaks a number at its thousands", () => {
		const result = fixtureResult("stall");
		for (let columns = 40; columns < 120; columns++) {
			const options = { columns, colour: false, folder: "x" };
			expect(renderTerminal(result, options)).not.toMatch(/\d\n +000/);
		}
	});

	test("has colours only when asked for, and says the same with them", () => {
		const result = fixtureResult("stall");
		const render = (colour: boolean) =>
			renderTerminal(result, { columns: 80, colour, folder: "x" });
		expect(render(false)).not.toContain("\u001b");
		expect(render(true)).toContain("\u001b[31m");
		// biome-ignore lint/suspicious/noControlCharactersInRegex: the escapes are what is taken off.
		expect(render(true).replaceAll(/\u001b\[\d+m/g, "")).toBe(render(false));
	});

	test("ends with the verdict and the path of the report", () => {
		const text = renderTerminal(fixtureResult("lost"), {
			columns: 80,
			colour: false,
			folder: "reports/lost",
		});
		expect(text.trimEnd().split("\n").at(-1)).toBe("FAIL  reports/lost/report.html");
	});
});

function unescaped(html: string): string {
	return html
		.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
		.replaceAll("\u00a0", " ");
}

function hiddenIn(html: string): string[] {
	return figuresIn(html).flatMap((f) =>
		f.kind === "percentiles" ? f.hidden.map((h) => h.text) : [],
	);
}
