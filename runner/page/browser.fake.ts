import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
	type Browser,
	type BrowserContextOptions,
	chromium,
	type Locator,
	type Page,
} from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";

/** For tests: one browser for all tests of a file, a folder for its pages, and everything that a page may not do. */

/** Debian's path. */
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
export const missing = !existsSync(CHROMIUM) && !process.env.CI;

export const PHONE: BrowserContextOptions = {
	viewport: { width: 390, height: 800 },
	hasTouch: true,
	isMobile: true,
};

interface TestBrowser {
	readonly folder: string;
	/** Opens an address. The page must not fail, or load anything but itself. */
	opened(
		url: string,
		options: BrowserContextOptions,
		look: (page: Page) => Promise<void>,
	): Promise<void>;
	/** The same, but it may go to other pages; `may` matches allowed console output. */
	browsing(
		options: BrowserContextOptions,
		look: (page: Page) => Promise<void>,
		may?: RegExp,
	): Promise<void>;
}

export function testBrowser(): TestBrowser {
	const folder = mkdtempSync(join(tmpdir(), "mqbench-pages-"));
	let browser: Browser;
	beforeAll(async () => {
		if (!missing)
			browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
	}, 180_000);
	afterAll(async () => {
		await browser?.close();
		rmSync(folder, { recursive: true, force: true });
	});
	const browsing: TestBrowser["browsing"] = async (options, look, may = /^$/) => {
		const context = await browser.newContext(options);
		// With busy cores a second's work may take ten.
		context.setDefaultTimeout(60_000);
		const wrong: string[] = [];
		try {
			const page = await context.newPage();
			page.on("console", (said) => {
				if (["error", "warning"].includes(said.type()) && !may.test(said.text()))
					wrong.push(said.text());
			});
			page.on("pageerror", (error) => wrong.push(error.stack ?? `${error}`));
			page.on("dialog", (dialog) => {
				wrong.push(`dialog: ${dialog.message()}`);
				void dialog.dismiss();
			});
			await look(page);
			expect(wrong).toEqual([]);
		} finally {
			await context.close();
		}
	};
	return {
		folder,
		browsing,
		opened: (url, options, look) =>
			browsing(options, async (page) => {
				const asked: string[] = [];
				page.on("request", (request) => asked.push(request.url()));
				await page.goto(url);
				await look(page);
				const others = asked.filter((one) => !one.startsWith("data:") && one.split("?")[0] !== url);
				expect(others).toEqual([]);
			}),
	};
}

export async function drawnIn(chart: Locator): Promise<Locator> {
	await chart.scrollIntoViewIfNeeded();
	const canvas = chart.locator(".canvas");
	await canvas.and(chart.locator("[data-drawn]")).waitFor();
	await canvas.locator("canvas").first().waitFor();
	return canvas;
}

// Scripts for the page are strings, because these tests have no DOM types.

/** A canvas as text: equal for equal pictures. */
export function pixelsOf(canvas: Locator): Promise<string> {
	return canvas
		.locator("canvas")
		.first()
		.evaluate((element) => (element as unknown as { toDataURL(): string }).toDataURL());
}

/** IDs of empty charts: without text, axes and data, less than a hundredth is drawn. */
export function emptyCharts(page: Page): Promise<string[]> {
	return page.evaluate<string[]>(`[...document.querySelectorAll("figure[data-figure]")]
		.filter((block) => {
			if (block.querySelector(".canvas") === null) return false;
			const canvas = block.querySelector("canvas");
			if (canvas === null) return true;
			const { width, height } = canvas;
			const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
			let inked = 0;
			for (let i = 3; i < data.length; i += 4) if (data[i] > 0) inked++;
			return inked < (width * height) / 100;
		})
		.map((block) => block.dataset.figure)`);
}

export function widthOf(page: Page): Promise<number> {
	return page.evaluate<number>("document.documentElement.scrollWidth");
}

/** Serious axe findings. Injected by the debugger, because the page's policy allows no other script. */
export async function seriousFindings(page: Page): Promise<unknown> {
	const require = createRequire(import.meta.url);
	const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
	const session = await page.context().newCDPSession(page);
	await session.send("Runtime.evaluate", { expression: axe });
	const { result } = await session.send("Runtime.evaluate", {
		expression: `axe.run().then(({ violations }) => JSON.stringify(violations
			.filter((v) => ["serious", "critical"].includes(v.impact))
			.map((v) => [v.id, v.nodes.slice(0, 3).map((n) => n.html.slice(0, 300))])))`,
		awaitPromise: true,
	});
	return JSON.parse(String(result.value));
}
