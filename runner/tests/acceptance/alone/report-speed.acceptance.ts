import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium, type Page } from "playwright-core";
import { expect, test } from "vitest";
import { manyResult } from "../../../page/pages.fake.ts";
import { renderHtml } from "../../../render/rendered.fake.ts";

/** How often each is measured; the middle one is told. */
const TIMES = 5;

test("prints how long first chart and switches of pages of 1, 20, 100 and 300 runs take", async () => {
	const folder = mkdtempSync(join(tmpdir(), "mqbench-speed-"));
	const browser = await chromium.launch({
		executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
		args: ["--no-sandbox"],
	});
	const rows: (string | number)[][] = [];
	try {
		for (const runs of [1, 20, 100, 300]) {
			const html = renderHtml(manyResult(runs));
			const file = join(folder, `${runs}.html`);
			writeFileSync(file, html);
			const url = `${pathToFileURL(file).href}${runs > 1 ? "#overview" : ""}`;
			const first: number[] = [];
			let switched: number[] = [];
			for (let i = 0; i < TIMES; i++) {
				const page = await browser.newPage();
				await page.addInitScript(WATCH_FIRST);
				await page.goto(url);
				first.push(await firstChart(page));
				if (i === 0) switched = await switches(page);
				await page.close();
			}
			rows.push([runs, (html.length / 1e6).toFixed(2), middle(first), middle(switched)]);
		}
	} finally {
		await browser.close();
		rmSync(folder, { recursive: true, force: true });
	}
	process.stdout.write(
		[["runs", "MB", "first chart, ms", "switch, ms"], ...rows]
			.map((row) => row.map((cell) => `${cell}`.padStart(15)).join(" "))
			.join("\n")
			.concat("\n"),
	);
	expect(rows.flat().map(Number).every(Number.isFinite)).toBe(true);
}, 600_000);

// --- internal ---

function middle(ms: readonly number[]): string {
	const sorted = ms.toSorted((a, b) => a - b);
	return (sorted[Math.floor(sorted.length / 2)] ?? Number.NaN).toFixed(0);
}

// What runs in the page is text: these tests know no DOM.

/** When the first chart has been drawn and painted, ms since the page was asked for. */
const WATCH_FIRST = `new MutationObserver((_, observer) => {
	if (document.querySelector(".canvas[data-drawn]") === null) return;
	observer.disconnect();
	requestAnimationFrame(() =>
		setTimeout(() => {
			document.documentElement.dataset.first = performance.now();
		}),
	);
}).observe(document, {
	subtree: true, attributes: true, childList: true, attributeFilter: ["data-drawn"],
})`;

async function firstChart(page: Page): Promise<number> {
	const root = page.locator("html[data-first]");
	await root.waitFor();
	return Number(await root.getAttribute("data-first"));
}

/** Of the first chart: its first switch, off and on, until the page has been painted. */
function switches(page: Page): Promise<number[]> {
	return page.evaluate<number[]>(`(async () => {
		const all = [];
		for (let i = 0; i < ${2 * TIMES}; i++) {
			const button = document.querySelector("figure[data-figure] button.switch");
			const began = performance.now();
			button.click();
			await new Promise((painted) =>
				requestAnimationFrame(() => setTimeout(painted)),
			);
			all.push(performance.now() - began);
		}
		return all;
	})()`);
}
