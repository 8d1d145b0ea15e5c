import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { PercentileFigure, TimeFigure } from "../chart/old-figure.ts";
import { builtScript, figureBlock, renderPage } from "./html-page.ts";
import { markup } from "./markup.ts";
import { figuresIn } from "./pages.fake.ts";
import { tablesOf } from "./table.ts";

const base = { id: "x-1", title: "a title", facts: "on 4 cores", description: "" };
const key = { key: "k", name: "nats p99", group: "nats", colour: 0, dash: 0, hidden: false };
const percentiles: PercentileFigure = {
	...base,
	kind: "percentiles",
	panels: [{ title: "" }],
	curves: [
		{
			...key,
			panel: 0,
			metric: "response",
			points: [[0, 1e5]],
			max: { p: 99.9, value: 5e8 },
			marks: [
				{ p: 50, value: 2e5, text: "200us", interval: "[190us, 210us]", low: 19e4, high: 21e4 },
				{ p: 99, value: 4e8, text: "~400ms", interval: "[196ms, \u221e]", low: 196e6, high: null },
			],
			censored: null,
		},
		{
			...key,
			key: "s",
			name: "nats service",
			panel: 0,
			metric: "service",
			points: [],
			max: null,
			marks: [{ p: 50, value: 1e5, text: "100us", interval: "", low: null, high: null }],
			censored: "3 never completed: > 30s",
		},
	],
	hidden: [],
	limits: [],
};

describe("a page", () => {
	const page = (figure: PercentileFigure = percentiles) =>
		renderPage({
			title: "<t>",
			header: markup`<h1>x</h1>`,
			main: markup`${figureBlock(figure)}`,
			figures: [figure],
		});

	test("allows nothing but its own two scripts, the second one packed, by hash, and its style", () => {
		const html = page();
		const policy = /Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1];
		const [own, ...others] = [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)];
		expect(others).toEqual([]);
		const packed = /data-packed="script">([^<]*)</.exec(html)?.[1] ?? "";
		const script = gunzipSync(Buffer.from(packed, "base64")).toString();
		expect(script).toBe(builtScript("page.js"));
		const sums = [own?.[1] ?? "", script].map(
			(text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`,
		);
		expect(policy).toContain("default-src 'none'");
		expect(policy).toContain(`script-src ${sums.join(" ")};`);
		expect(policy?.match(/unsafe|https?:|\*/g)).toEqual(["unsafe"]);
	});

	test("holds the figures' data word for word, though they hold markup", () => {
		const evil = { ...percentiles, title: "</script><script>alert(1)</script>" };
		const html = page(evil);
		const data =
			/<script type="application\/json" data-of="x-1">(.*?)<\/script>/.exec(html)?.[1] ?? "";
		expect(data).not.toContain("<");
		expect(JSON.parse(data)).toEqual(evil);
		expect(html).not.toContain("<script>alert");
	});

	test("with many figures holds their data compressed", () => {
		const many = Array.from({ length: 40 }, (_, i) => ({
			...percentiles,
			id: `x-${i}`,
			description: `</script> ${i} ${"all the numbers in words. ".repeat(2000)}`,
		}));
		const html = renderPage({
			title: "large",
			header: markup`<h1>x</h1>`,
			main: markup`${many.map((figure) => figureBlock(figure, { table: "later" }))}`,
			figures: many,
		});
		expect(Buffer.byteLength(html)).toBeLessThan(400_000);
		expect(figuresIn(html)).toEqual(many);
		expect(html).toMatch(/<noscript>.*those over time, which are in the details.json of each run/);
	});

	test("says what to do without JavaScript", () => {
		expect(page()).toMatch(/<noscript>.*all numbers.*mqbench report --svg/);
		const none = { title: "x", header: markup``, main: markup``, figures: [] };
		expect(renderPage(none)).not.toContain("<noscript>");
	});

	test("has a skip link, one header, main and footer, and a language", () => {
		const html = page();
		expect(html).toContain('<html lang="en"');
		expect(html).toContain('<a class="skip" href="#main">');
		for (const tag of ["header", "main", "footer"])
			expect(html.match(new RegExp(`<${tag}[ >]`, "g"))).toHaveLength(1);
	});
});

describe("a figure as a table", () => {
	test("of percentiles: one row for each curve, with intervals, and what never completed in the place of a maximum", () => {
		expect(tablesOf(percentiles)).toEqual([
			{
				caption: null,
				head: ["curve", "p50", "p99", "max"],
				rows: [
					["nats p99", "200us [190us, 210us]", "~400ms [196ms, \u221e]", "500ms"],
					["nats service", "100us", "n/a", "3 never completed: > 30s"],
				],
			},
		]);
	});

	test("over time: panels with the same seconds share one, a gap is n/a and never 0", () => {
		const panel = (
			title: string,
			unit: TimeFigure["panels"][number]["unit"],
			points: [number, number | null][],
		) => ({
			title,
			unit,
			logarithmic: false,
			lines: [{ ...key, name: "p99", points, steps: false }],
			limits: [],
		});
		const figure: TimeFigure = {
			...base,
			kind: "time",
			width: 1,
			from: 0,
			to: 2,
			panels: [
				panel("response", "ns", [
					[0.5, 1e6],
					[1.5, null],
				]),
				panel("in flight", "messages", [
					[0.5, 0],
					[1.5, 1234],
				]),
				panel("CPU", "cores", [[0.7, 0.254]]),
				panel("disk", "bytes/s", [[0.7, 2048]]),
			],
			marks: [],
			unfinished: { stretches: [], beyond: "> 30s", unplaced: null },
		};
		expect(tablesOf(figure).map(({ head, rows }) => [head, rows])).toEqual([
			[
				["second", "response: p99", "in flight: p99"],
				[
					["0s to 1s", "1ms", "0"],
					["1s to 2s", "n/a", "1 234"],
				],
			],
			[["second", "CPU: p99", "disk: p99"], [["0.7s", "0.25", "2KiB/s"]]],
		]);
	});
});
