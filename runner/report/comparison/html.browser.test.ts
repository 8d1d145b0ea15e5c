import {
	existsSync,
	mkdtempSync,
	readFileSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { baselineWith } from "../../compare/baseline.fake.ts";
import { comparingOf } from "../../compare/comparing.ts";
import { HOSTILE } from "../page/pages.fake.ts";
import { comparingPage } from "./html.ts";

/** Debian's; a machine that builds for others has to have it. */
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const missing = !existsSync(CHROMIUM) && !process.env.CI;

const folder = mkdtempSync(join(tmpdir(), "mqbench-compare-"));
let browser: Browser;

beforeAll(async () => {
	if (missing) return;
	browser = await chromium.launch({
		executablePath: CHROMIUM,
		args: ["--no-sandbox"],
	});
});
afterAll(async () => {
	await browser?.close();
	rmSync(folder, { recursive: true, force: true });
});

const side = (path: string, factor: number, name = "nats") => ({
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

describe.skipIf(missing)("the page of a comparison in a browser", () => {
	test("asks nobody for anything, says no error, fits a phone, and axe finds nothing serious", async () => {
		for (const name of ["nats", HOSTILE])
			for (const width of [390, 1280])
				await opened(name, width, async (page) => {
					const chart = page.locator("figure[data-figure]").first();
					await chart.scrollIntoViewIfNeeded();
					await chart.locator(".canvas[data-drawn] canvas").waitFor();
					expect(
						await page.evaluate<number>("document.documentElement.scrollWidth"),
					).toBeLessThanOrEqual(width);
					expect(await seriousFindings(page)).toEqual([]);
				});
	});

	test("shows every ratio first, then the curves of all runs, and takes a side away when it is asked to", async () => {
		await opened("nats", 1280, async (page) => {
			const charts = page.locator("figure[data-figure]");
			await expect
				.poll(() => page.locator(".canvas[data-drawn]").count())
				.toBeGreaterThan(1);
			expect(await charts.nth(0).getAttribute("data-figure")).toMatch(
				/^ratios-/,
			);
			const curves = charts.nth(1);
			const sides = curves.locator(".legend button");
			expect(await sides.allTextContents()).toEqual(["A", "B"]);
			const table = curves.locator("thead th");
			expect((await table.allTextContents()).slice(1)).toHaveLength(10);
			await sides.nth(1).click();
			expect(
				await curves.locator(".legend [aria-pressed=true]").allTextContents(),
			).toEqual(["A"]);
		});
	});
});

async function opened(
	name: string,
	width: number,
	look: (page: Page) => Promise<void>,
): Promise<void> {
	const file = join(folder, `${name.length}-${width}.html`);
	writeFileSync(
		file,
		comparingPage(comparingOf(side("a", 1, name), [side("b", 2, name)])),
	);
	const context = await browser.newContext({
		viewport: { width, height: 800 },
	});
	try {
		const page = await context.newPage();
		const wrong: string[] = [];
		page.on("console", (said) => {
			if (said.type() === "error") wrong.push(said.text());
		});
		page.on("pageerror", (error) => wrong.push(String(error)));
		page.on("dialog", (dialog) => {
			wrong.push(`dialog: ${dialog.message()}`);
			void dialog.dismiss();
		});
		page.on("request", (request) => {
			if (request.url() !== pathToFileURL(file).href)
				wrong.push(request.url().slice(0, 100));
		});
		await page.goto(pathToFileURL(file).href);
		await look(page);
		expect(wrong).toEqual([]);
	} finally {
		await context.close();
	}
}

/** By the debugger: the page's own policy lets no other script in. */
async function seriousFindings(page: Page): Promise<unknown> {
	const require = createRequire(import.meta.url);
	const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
	const session = await page.context().newCDPSession(page);
	await session.send("Runtime.evaluate", { expression: axe });
	const { result } = await session.send("Runtime.evaluate", {
		expression: `axe.run().then(({ violations }) => JSON.stringify(violations
			.filter((v) => ["serious", "critical"].includes(v.impact))
			.map((v) => [v.id, v.nodes.map((n) => n.html)])))`,
		awaitPromise: true,
	});
	return JSON.parse(String(result.value));
}
