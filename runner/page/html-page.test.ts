import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { Figure } from "../chart/figure.ts";
import { builtScript, figureBlock, renderPage } from "./html-page.ts";
import { markup } from "./markup.ts";
import { figuresIn } from "./pages.fake.ts";

const percentiles: Figure = {
	id: "x-1",
	title: "a title",
	facts: "on 4 cores",
	x: { scale: "nines", title: "", unit: null, names: null, from: null, to: null, step: 0 },
	panels: [
		{
			title: "",
			unit: "ns",
			log: null,
			limits: [],
			series: [
				{
					...{ key: "k", name: "nats p99", group: "nats", color: 0, dash: 0, thin: false },
					draw: "line",
					data: [{ x: 50, y: 2e5, text: "200us" }],
					end: { x: 99.9, y: 5e8 },
				},
			],
		},
	],
	spans: [],
};

describe("a page", () => {
	const page = () =>
		renderPage({
			title: "<t>",
			header: markup`<h1>x</h1>`,
			main: markup`${figureBlock(percentiles)}`,
			figures: [percentiles],
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

	test("holds the figures' data word for word, though they hold markup, and compressed", () => {
		const many = Array.from({ length: 40 }, (_, i) => ({
			...percentiles,
			id: `x-${i}`,
			title: "</script><script>alert(1)</script>",
			facts: `${i} ${"all the numbers in words. ".repeat(2000)}`,
		}));
		const html = renderPage({
			title: "large",
			header: markup`<h1>x</h1>`,
			main: markup`${many.map(figureBlock)}`,
			figures: many,
		});
		expect(Buffer.byteLength(html)).toBeLessThan(420_000);
		expect(figuresIn(html)).toEqual(many);
		expect(html).not.toContain("<script>alert");
	});

	test("has two charts beside each other where half of it is wide enough for one panel", () => {
		const of = (figure: Figure) => figureBlock(figure).text;
		expect(of(percentiles)).toContain('class="chart narrow"');
		const [panel] = percentiles.panels;
		if (panel === undefined) throw new Error("no panel");
		expect(of({ ...percentiles, panels: [panel, panel] })).toContain('class="chart"');
		const over = (x: Partial<Figure["x"]>) => of({ ...percentiles, x: { ...percentiles.x, ...x } });
		expect(over({ scale: "seconds", step: 1 })).toContain('class="chart"');
		const names = ["a", "b", "c", "d"];
		expect(over({ scale: "names", names })).toContain('class="chart narrow"');
		expect(over({ scale: "names", names: [...names, "e"] })).toContain('class="chart"');
	});
});
