import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { BrowserContextOptions, Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { indexDocument } from "../document/index.ts";
import { renderHtml } from "../render/html.ts";
import { addResult, resultOf, withP99 } from "../result/indexed.fake.ts";
import { readRuns } from "../result/indexed.ts";
import {
	drawnIn,
	emptyCharts,
	missing,
	PHONE,
	seriousFindings,
	testBrowser,
	widthOf,
} from "./browser.fake.ts";

const browser = testBrowser();
const { folder } = browser;

const day = (n: number) => new Date(Date.UTC(2026, 0, n, 12)).toISOString();

beforeAll(() => {
	for (const n of [1, 2, 3]) {
		const startedAt = day(n);
		addResult(folder, `h${n}`, resultOf("healthy", { startedAt, run: withP99(n * 1e6) }));
		addResult(folder, `published/r${n}`, resultOf("repeats", { startedAt }));
	}
	addResult(folder, "s", resultOf("stall", { startedAt: day(4) }));
	addResult(folder, "cut", null);
	writeFileSync(join(folder, "cut", "result.json"), "{");
	writeFileSync(join(folder, "index.html"), renderHtml(indexDocument(readRuns(folder))));
});

describe.skipIf(missing)("the index in a browser", () => {
	test.each([
		[390, "light"],
		[1280, "dark"],
	] as const)(
		"%d wide, %s: asks nobody for anything, draws its trends, and axe finds nothing serious",
		async (width, colorScheme) => {
			const options = { viewport: { width, height: 900 }, colorScheme };
			await opened("index.html", options, async (page) => {
				const trends = await page.locator("#over-time figure").all();
				expect(trends).toHaveLength(2);
				for (const trend of trends) await drawnIn(trend);
				expect(await emptyCharts(page)).toEqual([]);
				expect(await widthOf(page)).toBeLessThanOrEqual(width);
				expect(await seriousFindings(page)).toEqual([]);
			});
		},
	);

	test("a row opens its report, and so does a point of a trend, by mouse and by the link that a tap shows", async () => {
		const there = (name: string) => pathToFileURL(join(folder, name)).href;
		const look = async (page: Page) => {
			await page.goto(there("index.html"));
			return drawnIn(
				page.locator("#over-time > section", { hasText: "healthy" }).locator("figure"),
			);
		};
		/** The newest run is at the right: 28 pixels of margin, and 2 % of the axis. */
		const newest = async (page: Page) => {
			const box = await (await look(page)).boundingBox();
			if (box === null) throw new Error("no chart");
			const x = box.x + box.width - 28 - 0.02 * (box.width - 92);
			return [x, box.y + box.height / 2] as const;
		};
		await browser.browsing({}, async (page) => {
			await page.goto(there("index.html"));
			await page.locator(".results a").nth(1).click();
			await page.waitForURL(there("published/r3/report.html"));

			const [x, y] = await newest(page);
			// A click next to the point opens nothing.
			await page.mouse.click(x - 40, y);
			await page.mouse.click(x, y - 148);
			expect(page.url()).toBe(there("index.html"));
			// The point is somewhere above or below the middle.
			for (let up = 0; up < 150 && page.url() === there("index.html"); up += 4)
				for (const at of [y - up, y + up])
					if (page.url() === there("index.html")) await page.mouse.click(x, at);
			await page.waitForURL(there("h3/report.html"));
		});
		await browser.browsing(PHONE, async (page) => {
			await page.touchscreen.tap(...(await newest(page)));
			const tip = page.locator(".tip:visible");
			await tip.waitFor();
			expect(page.url()).toBe(there("index.html"));
			await tip.locator("a").first().tap();
			await page.waitForURL(there("h3/report.html"));
		});
	});
});

// --- internal ---

function opened(
	name: string,
	options: BrowserContextOptions,
	look: (page: Page) => Promise<void>,
): Promise<void> {
	return browser.opened(pathToFileURL(join(folder, name)).href, options, look);
}
