import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { BrowserContextOptions, Locator, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { baselineWith } from "../compare/baseline.fake.ts";
import { comparingOf } from "../compare/comparing.ts";
import { comparingDocument } from "../document/comparing.ts";
import type { Result, Run } from "../model/result.ts";
import { renderHtml as printed } from "../render/html.ts";
import { renderHtml } from "../render/rendered.fake.ts";
import { percentile } from "../result/select.ts";
import { show } from "../result/show.ts";
import { fixtureResult, publishedFolder, publishedOnce } from "../result/stored.fake.ts";
import {
	drawnIn,
	emptyCharts,
	missing,
	PHONE,
	pixelsOf,
	seriousFindings,
	testBrowser,
	widthOf,
} from "./browser.fake.ts";
import {
	FIXTURES,
	HOSTILE,
	hostileResult,
	manyResult,
	scenarioOf,
	searchedResult,
} from "./pages.fake.ts";

const browser = testBrowser();

/** Each is written once, on first use. */
const RESULTS: Readonly<Record<string, () => Result>> = {
	...Object.fromEntries(FIXTURES.map((name) => [name, () => fixtureResult(name)])),
	"message-queue-latency": () => publishedOnce("message-queue-latency"),
	search: searchedResult,
	hostile: hostileResult,
	"100 runs": () => manyResult(100),
};
const compared = (name: string) => {
	const side = (path: string, factor: number) => ({
		path,
		baseline: baselineWith(
			{
				"response p50": [1e5, 1.1e5, 1.2e5, 1e5, 1e5],
				"response p99": [9e5, 8e5, 7e5, 9e5, 8e5].map((v) => v * factor),
				"response max": [2e6, 2e6, 2e6, 2e6, 2e6],
			},
			{
				runId: path,
				scenario: name,
				systems: { [name]: { broker: name } },
				entry: { system: name, case: `${name}, 256B` },
			},
		),
	});
	return printed(comparingDocument(comparingOf(side("a", 1), side("b", 2))));
};
/** Pages that are not the report of a result. */
const OTHERS: Readonly<Record<string, () => string>> = {
	comparison: () => compared("nats"),
	"hostile comparison": () => compared(HOSTILE),
};
const WIDE = { viewport: { width: 1200, height: 900 } };

describe.skipIf(missing)("report.html in a browser", () => {
	describe.each<[string, "light" | "dark", BrowserContextOptions, string[]]>([
		["stall", "light", WIDE, []],
		["lost", "dark", WIDE, ["long"]],
		["no-data", "light", PHONE, ["long"]],
		["failover", "dark", PHONE, []],
		["message-queue-latency", "light", PHONE, ["long"]],
		["search", "dark", WIDE, ["long"]],
		["hostile", "light", PHONE, ["long"]],
		["comparison", "dark", WIDE, []],
		["hostile comparison", "light", PHONE, []],
	])("of %s, %s", (name, colorScheme, options, tags) => {
		test("asks nobody for anything, draws every chart that is seen, fits its width, and axe finds nothing serious", {
			tags,
		}, async () => {
			await opened(name, { ...options, colorScheme }, async (page) => {
				const folded = page.locator("details.run > summary");
				if ((await folded.count()) > 0) await folded.first().click();
				const charts = await page.locator("figure[data-figure]:visible").all();
				if (name !== "no-data") expect(charts.length).toBeGreaterThan(0);
				for (const chart of charts) await drawnIn(chart);
				expect(await emptyCharts(page)).toEqual([]);
				expect(await widthOf(page)).toBeLessThanOrEqual(options.viewport?.width ?? 0);
				for (const fold of await page.locator(".numbers:visible > summary").all())
					await fold.click();
				expect(await seriousFindings(page)).toEqual([]);
			});
		});
	});

	test("of 100 runs draws only what is seen, the rest when it is opened", {
		tags: "long",
	}, async () => {
		await opened("100 runs", {}, async (page) => {
			await drawnIn(page.locator("#overview figure").first());
			expect(await page.locator(".canvas").count()).toBeLessThan(5);
			await page.locator("#run-77 > summary").click();
			await drawnIn(page.locator("#run-77 figure").first());
			// Tables are built on demand.
			await page.locator("#run-77 .numbers > summary").first().click();
			await page.locator("#run-77 .numbers[open] tbody td").nth(3).waitFor();
			// A chart has an address even when folded.
			const other = await page.locator("#run-50 figure").first().getAttribute("id");
			await page.evaluate((id) => location.assign(`#${id}`), other);
			await drawnIn(page.locator(`[id="${other}"]`));
		});
	});

	test("charts are updated in place: switches, scale and width keep the canvas", async () => {
		await opened("repeats", { ...WIDE, colorScheme: "light" }, async (page) => {
			const chart = page.locator("#overview figure").first();
			const canvas = await drawnIn(chart);
			const own = canvas.locator("canvas").first();
			await own.evaluate((element) => {
				element.dataset.kept = "1";
			});
			const first = await pixelsOf(canvas);
			const both = chart.locator(".legend button");
			expect(await both.allTextContents()).toEqual(["nats", "kafka"]);
			const nats = both.first();
			expect(await nats.getAttribute("aria-pressed")).toBe("true");
			await nats.click();
			expect(await nats.getAttribute("aria-pressed")).toBe("false");
			expect(await both.last().getAttribute("aria-pressed")).toBe("true");
			await shows(canvas, "another", first);
			await nats.press("Enter");
			await shows(canvas, "the same", first);

			const scale = chart.getByRole("button", { name: "Logarithmic" });
			const before = await scale.getAttribute("aria-pressed");
			await scale.click();
			expect(await scale.getAttribute("aria-pressed")).not.toBe(before);
			await shows(canvas, "another", first);
			await scale.click();
			await shows(canvas, "the same", first);

			await page.setViewportSize({ width: 700, height: 900 });
			const width = () => own.evaluate((element) => element.clientWidth);
			await expect.poll(width).toBeLessThan(700);
			await page.setViewportSize(WIDE.viewport);
			await shows(canvas, "the same", first);
			expect(await canvas.locator("canvas").count()).toBe(1);
			expect(await own.getAttribute("data-kept")).toBe("1");
		});
	});

	test("the pointer tells the numbers of result.json", async () => {
		await opened("stall", WIDE, async (page, result) => {
			const chart = page.locator("figure").first();
			const canvas = await drawnIn(chart);
			const box = await canvas.boundingBox();
			if (box === null) throw new Error("no chart");
			const p99 = show(percentile(result.runs[0] as Run, "response", 99));
			let found = "";
			// p99 is somewhere from left to right.
			for (let x = 80; x < box.width && !found.startsWith("p99\n"); x += 40) {
				await page.mouse.move(box.x + x, box.y + box.height / 2);
				found = await chart.locator(".tip").innerText();
			}
			expect(found).toMatch(/^p99\n/);
			expect(found).toContain(p99);
			await page.mouse.move(0, 0);
			await expect.poll(() => chart.locator(".tip").isVisible()).toBe(false);
		});
	});

	test("a drag zooms, a button shows all again; the wheel scrolls", async () => {
		await opened("stall", WIDE, async (page) => {
			const chart = page.locator("figure[id$=-time]").first();
			const canvas = await drawnIn(chart);
			// It still zooms after a redraw.
			await canvas.hover();
			const scale = chart.getByRole("button", { name: "Logarithmic" });
			for (const _ of [1, 2]) await scale.click();
			await page.mouse.move(0, 0);
			const whole = await pixelsOf(canvas);
			const back = async (act: () => Promise<void>) => {
				await shows(canvas, "another", whole);
				await act();
				await shows(canvas, "the same", whole);
			};
			const at = (x: number) => canvas.hover({ position: { x, y: 90 } });
			await at(300);
			await page.mouse.down();
			await at(400);
			await at(500);
			await page.mouse.up();
			await shows(canvas, "another", whole);
			const zoomed = await pixelsOf(canvas);
			for (const _ of [1, 2]) await scale.click();
			await shows(canvas, "the same", zoomed);
			await back(() => chart.getByRole("button", { name: "Reset zoom" }).click());

			await at(300);
			const before = await page.evaluate(() => scrollY);
			await page.mouse.wheel(0, 200);
			await expect.poll(() => page.evaluate(() => scrollY)).toBeGreaterThan(before);
			await shows(canvas, "the same", whole);
		});
	});

	test("on a phone the first tap tells the values: at most 12, within the page, and they stay", async () => {
		await opened("stall", PHONE, async (page) => {
			const chart = page.locator("figure[id$=-time]").first();
			const canvas = await drawnIn(chart);
			await canvas.tap({ position: { x: 250, y: 120 } });
			const tip = chart.locator(".tip");
			await tip.waitFor();
			expect(await tip.locator("tr").count()).toBe(12);
			expect(await tip.innerText()).toMatch(/^\S+s to \S+s\n[\s\S]*and \d+ more$/);
			const box = await tip.boundingBox();
			expect(box?.x).toBeGreaterThanOrEqual(0);
			expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(390);
			expect(await widthOf(page)).toBeLessThanOrEqual(390);
			// Longer than a mouse's tooltip stays.
			await page.waitForTimeout(1500);
			expect(await tip.isVisible()).toBe(true);
		});
	});

	test("a chart is handed over as SVG, PNG and CSV of what it shows", async () => {
		await opened("stall", WIDE, async (page, result) => {
			const chart = page.locator("figure").first();
			await drawnIn(chart);
			const file = async (name: string) => {
				const [download] = await Promise.all([
					page.waitForEvent("download"),
					chart.getByRole("button", { name: `as ${name}` }).click(),
				]);
				// Away from its page, its name needs the scenario.
				expect(download.suggestedFilename()).toMatch(
					new RegExp(`^${result.scenario}-.*percentiles\\.${name.toLowerCase()}$`),
				);
				return readFileSync(await download.path());
			};
			const svg = `${await file("SVG")}`;
			expect(svg).toMatch(/^<svg/);
			expect(svg).toContain("Latency by percentile");
			expect(svg).not.toContain("<script");
			const png = await file("PNG");
			expect(png.subarray(1, 4).toString()).toBe("PNG");
			// Width and height at twice the pixels.
			expect(png.readUInt32BE(16)).toBeGreaterThan(1440);
			const p99 = show(percentile(result.runs[0] as Run, "response", 99));
			expect(`${await file("CSV")}`).toMatch(new RegExp(`^percentile,.*,p99,.*\n.*,"${p99} \\[`));
		});
	});

	test("Tab reaches every button, link and fold, in their order, and each shows that it is reached", async () => {
		await opened("stall", WIDE, async (page) => {
			// The buttons appear with the charts, so all are drawn first.
			for (const chart of await page.locator("figure:visible").all()) await drawnIn(chart);
			await page.evaluate(() => scrollTo(0, 0));
			await page.locator("body").press("Tab");
			expect(await page.locator(":focus").textContent()).toBe("Skip to the results");
			const wanted = await page.evaluate(
				() =>
					[
						...document.querySelectorAll<HTMLElement>("a[href],button,summary,[tabindex='0']"),
					].filter((e) => e.checkVisibility()).length,
			);
			const reached: number[] = [];
			for (let i = 0; i < wanted; i++) {
				reached.push(
					await page.evaluate(() => {
						const at = document.activeElement as HTMLElement;
						const all = [...document.querySelectorAll("*")];
						const seen = getComputedStyle(at).outlineStyle !== "none";
						return seen ? all.indexOf(at) : -1;
					}),
				);
				await page.keyboard.press("Tab");
			}
			expect(new Set(reached).size).toBe(wanted);
			expect(reached).toEqual(reached.toSorted((a, b) => a - b));
			expect(reached).not.toContain(-1);
		});
	});

	test("without JavaScript tables hold every percentile, and a sentence says what is missing", async () => {
		const options = { javaScriptEnabled: false };
		await opened("stall", options, async (page, result) => {
			expect(await page.locator("noscript").innerText()).toContain("mqbench report --svg");
			expect(await page.locator("figure:visible").count()).toBe(0);
			expect(await page.locator("button:visible").count()).toBe(0);
			const tables = (await page.locator("table:visible").allInnerTexts()).join();
			expect(tables).toContain(show(percentile(result.runs[0] as Run, "response", 99)));
		});
	});

	test("on paper charts are there, light, and what is folded stands open", {
		tags: "long",
	}, async () => {
		const paper = { colorScheme: "dark", viewport: PAPER } as const;
		await opened("repeats", paper, async (page) => {
			await page.locator(".canvas[data-drawn=dark]").first().waitFor();
			await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
			await page.emulateMedia({ media: "print" });
			expect(await page.locator(".canvas[data-drawn=light] canvas").count()).toBe(
				await page.locator("figure[data-figure]").count(),
			);
			expect(await emptyCharts(page)).toEqual([]);
			expect(await page.locator(".tools:visible").count()).toBe(0);
			expect(await widthOf(page)).toBeLessThanOrEqual(PAPER.width);
			expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe(
				"rgb(255, 255, 255)",
			);
			const pdf = await page.pdf({ format: "A4" });
			expect(pdf.subarray(0, 5).toString()).toBe("%PDF-");
			await page.emulateMedia({ media: "screen" });
			await page.evaluate(() => dispatchEvent(new Event("afterprint")));
			await page.locator(".canvas[data-drawn=dark]").first().waitFor();
		});
	});

	test("a name of markup, quotes, lines and 300 letters stays a name, also in what the script makes", async () => {
		await opened("hostile", PHONE, async (page) => {
			expect(await page.locator("h1").innerText()).toContain("</script><script>");
			expect(await page.title()).toContain("<img src=x");
			const chart = page.locator("#overview figure").first();
			const canvas = await drawnIn(chart);
			await canvas.hover();
			expect(await chart.locator(".tip").innerText()).toContain(HOSTILE.slice(0, 30));
			expect(await page.locator("img").count()).toBe(0);
		});
	});
});

// --- internal ---

/** A4 less its margins. */
const PAPER = { width: 718, height: 1000 };

/** Waits for the same or another picture, with the mouse elsewhere. */
async function shows(canvas: Locator, what: "the same" | "another", before: string): Promise<void> {
	await canvas.page().mouse.move(0, 0);
	const shown = expect.poll(() => pixelsOf(canvas));
	await (what === "the same" ? shown : shown.not).toBe(before);
}

async function opened(
	name: string,
	options: BrowserContextOptions,
	look: (page: Page, result: Result) => Promise<void>,
): Promise<void> {
	const result = RESULTS[name]?.();
	const file = join(browser.folder, `${name}.html`);
	if (!existsSync(file))
		writeFileSync(
			file,
			result === undefined
				? (OTHERS[name]?.() ?? "")
				: renderHtml(result, scenarioOf(publishedFolder("nats-stall"))),
		);
	await browser.opened(pathToFileURL(file).href, options, (page) => look(page, result as Result));
}
