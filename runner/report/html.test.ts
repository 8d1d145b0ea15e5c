import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
	editJson,
	editLines,
	firstRun,
	fixture,
	fixtureCopy,
} from "../run/fixture.fake.ts";
import { timeRows } from "./html/time-chart.ts";
import { renderHtml } from "./html.ts";
import { renderMarkdown } from "./markdown.ts";
import { buildResult } from "./result.ts";
import { renderTerminal } from "./terminal.ts";

const NAMES = [
	"healthy",
	"stall",
	"lost",
	"lag",
	"no-data",
	"interrupted",
	"repeats",
];

describe.each(NAMES)("report.html of %s", (name) => {
	const result = buildResult(fixture(name));
	const html = renderHtml(result);

	test("needs neither network nor script, and is below 500 kB", () => {
		expect(html).not.toMatch(
			/<script|<link|<img|<iframe|@import|url\(|\son\w+=/i,
		);
		expect(html).not.toMatch(/(?:src|href)="(?!#)/);
		expect(Buffer.byteLength(html)).toBeLessThan(500_000);
	});

	test("has no number that is none", () => {
		expect(html).not.toMatch(/NaN|Infinity|undefined|\[object|null/);
	});

	test("closes every tag", () => {
		const open: string[] = [];
		for (const [, close, tag = "", rest = ""] of html.matchAll(
			/<(\/?)([a-z][a-z0-9]*)((?:"[^"]*"|[^">])*)>/g,
		)) {
			if (["meta", "br"].includes(tag) || rest.endsWith("/")) continue;
			if (close) expect(open.pop()).toBe(tag);
			else open.push(tag);
		}
		expect(open).toEqual([]);
	});

	test("says the verdict first, and every gate with its reason", () => {
		const text = unescaped(html);
		expect(text.indexOf(result.verdict.toUpperCase())).toBeLessThan(
			text.indexOf("<main>"),
		);
		for (const gate of result.gates) {
			expect(text).toContain(gate.sla);
			expect(text).toContain(gate.why);
		}
	});
});

test("of 60 runs stays below 500 kB: repeats after the first have no charts", () => {
	const result = buildResult(fixture("repeats"));
	const runs = Array.from({ length: 10 }, (_, i) =>
		result.runs.map((run) => ({ ...run, case: `${run.case} ${i}` })),
	).flat();
	const html = renderHtml({ ...result, runs });
	expect(Buffer.byteLength(html)).toBeLessThan(500_000);
	// Two systems met each case: one chart for both.
	expect(html.match(/id="c\d+-t"/g)).toHaveLength(10);
	expect(html.match(/id="p\d+-t"/g)).toBeNull();
	const alone = runs.map((run) => ({ ...run, system: "nats" }));
	const single = renderHtml({ ...result, runs: alone });
	expect(Buffer.byteLength(single)).toBeLessThan(500_000);
	expect(single.match(/id="p\d+-t"/g)).toHaveLength(20);
	expect(html.match(/<section id="run-/g)).toHaveLength(60);
});

describe("the charts", () => {
	test("have a title, a description and a table beside them", () => {
		const html = renderHtml(buildResult(fixture("stall")));
		expect(html).toContain('role="img" aria-labelledby="p1-t p1-d"');
		expect(unescaped(html)).toContain("response: p50 207us");
		expect(html).toContain("The chart as a table");
	});

	test("draw the percentile curve of response where its values belong", () => {
		const result = buildResult(fixture("stall"));
		const html = renderHtml(result);
		const circles = [
			...html.matchAll(
				/<circle r="3" cx="([\d.]+)" cy="([\d.]+)"><title>response p([\d.]+)/g,
			),
		];
		const at = Object.fromEntries(
			circles.map(([, x, y, p]) => [p, { x: Number(x), y: Number(y) }]),
		);
		// x = log10(1/(1-p)) over log10(10 000) = 4 nines between 62 and 690.
		expect(at["90"]?.x).toBeCloseTo(62 + 628 / 4, 1);
		expect(at["99"]?.x).toBeCloseTo(62 + 628 / 2, 1);
		expect(at["99.9"]?.x).toBeCloseTo(62 + (628 * 3) / 4, 1);
		// The stall is far above the median, on an axis that grows upwards.
		expect(at["99"]?.y).toBeLessThan((at["50"]?.y ?? 0) - 100);
		expect(at["99.99"]).toBeUndefined();
	});

	test("of a long run show the worst second of each stretch", () => {
		const [run] = buildResult(fixture("healthy")).runs;
		if (run === undefined) throw new Error("no run");
		const seconds = Array.from({ length: 900 }, (_, second) => ({
			second,
			count: 10,
			p50: 5,
			p99: second === 450 ? 1000 : second % 3 === 0 ? null : 7,
			max: second,
			lag: null,
			queued: null,
		}));
		const rows = timeRows({ ...run, series: { ...run.series, seconds } }, 300);
		expect(rows).toHaveLength(300);
		expect(rows[150]).toEqual({ second: 450, p50: 5, p99: 1000, max: 452 });
		expect(rows[0]?.p99).toBe(7);
	});
});

describe("what explains a run", () => {
	const html = renderHtml(buildResult(fixture("stall")));

	test("is folded: slowest messages with their parts as bars, resources under the same axis", () => {
		expect(html).toContain("The 20 slowest messages, and what they waited for");
		expect(html.match(/class="service-part" x=/g)).toHaveLength(20);
		expect(html).toContain('aria-labelledby="r1-t r1-d"');
		expect(html).toContain("Resources as a table");
		expect(html).toContain("a tool that waits for each reply");
	});

	test("says that generator and broker shared one host, in every report", () => {
		const result = buildResult(fixture("stall"));
		const terminal = { columns: 200, colour: false, folder: "x" };
		for (const text of [
			html,
			renderMarkdown(result),
			renderTerminal(result, terminal),
		])
			expect(text.toLowerCase()).toContain(
				"generator and broker shared one host",
			);
	});

	test("names the first offender, and what to do about a warning", () => {
		const text = unescaped(renderHtml(buildResult(fixture("lost"))));
		expect(text).toContain(
			"First lost: producer 0, sequence 3000, due 2s after the window opened",
		);
		expect(text).toContain("What to do: see whether they are lost or late");
	});

	test("marks the gap that counting from the actual send would have hidden", () => {
		const result = buildResult(fixture("stall"));
		const [run] = result.runs;
		const service = run?.metrics.service;
		const omission = run?.omission;
		if (!run || !service || !omission) throw new Error("another fixture");
		const hiding = {
			...run,
			omission: {
				...omission,
				percentiles: omission.percentiles.map((x) =>
					x.p === 99 && x.response !== null
						? { ...x, service: 3e5, factor: x.response / 3e5 }
						: x,
				),
			},
		};
		const found = renderHtml({ ...result, runs: [hiding] });
		expect(found).toContain('<g class="hidden">');
		expect(found).toContain(
			"Counting from the actual send, p99 would have been 300us instead of 400ms.",
		);
		expect(html).not.toContain('<g class="hidden"><path d="M');
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
			lines.find((l) => l.type === "totals").errors = [
				{ message: evil, count: 1, firstNs: null },
			];
			return undefined;
		});
		return buildResult(copy);
	};

	test("open no tag in HTML", () => {
		const html = renderHtml(result());
		expect(html).not.toContain("<img");
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
			const text = renderTerminal(buildResult(fixture(name)), {
				columns,
				colour: false,
				folder: "reports/x",
			});
			const longest = Math.max(...text.split("\n").map((l) => l.length));
			expect(longest).toBeLessThanOrEqual(columns);
		}
	});

	test("never breaks a number at its thousands", () => {
		const result = buildResult(fixture("stall"));
		for (let columns = 40; columns < 120; columns++) {
			const options = { columns, colour: false, folder: "x" };
			expect(renderTerminal(result, options)).not.toMatch(/\d\n +000/);
		}
	});

	test("has colours only when asked for, and says the same with them", () => {
		const result = buildResult(fixture("stall"));
		const render = (colour: boolean) =>
			renderTerminal(result, { columns: 80, colour, folder: "x" });
		expect(render(false)).not.toContain("\u001b");
		expect(render(true)).toContain("\u001b[31m");
		// biome-ignore lint/suspicious/noControlCharactersInRegex: the escapes are what is taken off.
		expect(render(true).replaceAll(/\u001b\[\d+m/g, "")).toBe(render(false));
	});

	test("ends with the verdict and the path of the report", () => {
		const text = renderTerminal(buildResult(fixture("lost")), {
			columns: 80,
			colour: false,
			folder: "reports/lost",
		});
		expect(text.trimEnd().split("\n").at(-1)).toBe(
			"FAIL  reports/lost/report.html",
		);
	});
});

function unescaped(html: string): string {
	return html.replaceAll(/&#(\d+);/g, (_, code: string) =>
		String.fromCharCode(Number(code)),
	);
}

test("no label of a chart begins left of it: counts of millions, and messages that never completed early in the curve", () => {
	const result = buildResult(fixture("stall"));
	const [run] = result.runs;
	if (!run?.metrics.response) throw new Error("another fixture");
	run.load.schedule.rate = { messages: 12_000_000, perNs: 1e9 };
	run.metrics.response.censored = 9999;
	run.metrics.response.curve = run.metrics.response.curve.slice(0, 2);
	run.metrics.service = null;
	const html = renderHtml(result);
	const labels = [
		...html.matchAll(
			/<text class="label" x="([\d.]+)" y="[\d.]+" text-anchor="(start|middle|end)">([^<]*)</g,
		),
	];
	expect(html).toContain("9 999 never completed: &#62; 30s");
	expect(labels.some(([, , , text]) => text === "10 000 000")).toBe(true);
	for (const [, x, anchor, text = ""] of labels) {
		const wide = 6.7 * text.replace("&#62;", ">").length;
		const part = { start: 0, middle: 0.5, end: 1 }[anchor as "end"];
		expect(Number(x) - part * wide, text).toBeGreaterThanOrEqual(0);
	}
});
