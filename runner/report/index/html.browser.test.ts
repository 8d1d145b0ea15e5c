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
import {
	type Browser,
	type BrowserContextOptions,
	chromium,
	type Page,
} from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Run } from "../../model/result.ts";
import { HOSTILE } from "../page/pages.fake.ts";
import { renderIndex } from "./html.ts";
import { addResult, resultOf, withP99 } from "./runs.fake.ts";
import { type Entry, readRuns } from "./runs.ts";

/** Debian's; a machine that builds for others has to have it. */
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const missing = !existsSync(CHROMIUM) && !process.env.CI;

const folder = mkdtempSync(join(tmpdir(), "mqbench-index-"));
let browser: Browser;

const day = (n: number) => new Date(Date.UTC(2026, 0, n, 12)).toISOString();

beforeAll(async () => {
	if (missing) return;
	for (const n of [1, 2, 3]) {
		const startedAt = day(n);
		addResult(
			folder,
			`h${n}`,
			resultOf("healthy", { startedAt, run: withP99(n * 1e6) }),
		);
		addResult(folder, `published/r${n}`, resultOf("repeats", { startedAt }));
	}
	addResult(folder, "s", resultOf("stall", { startedAt: day(4) }));
	addResult(folder, "cut", null);
	writeFileSync(join(folder, "cut", "result.json"), "{");
	writeFileSync(join(folder, "index.html"), renderIndex(readRuns(folder)));
	browser = await chromium.launch({
		executablePath: CHROMIUM,
		args: ["--no-sandbox"],
	});
});
afterAll(async () => {
	await browser?.close();
	rmSync(folder, { recursive: true, force: true });
});

describe.skipIf(missing)("the index in a browser", () => {
	test.each([390, 1280])(
		"%d wide: asks nobody for anything, draws its trends, and axe finds nothing serious",
		async (width) => {
			for (const colorScheme of ["light", "dark"] as const)
				await opened(
					"index.html",
					{ viewport: { width, height: 900 }, colorScheme },
					async (page) => {
						const trends = await page.locator("#over-time figure").all();
						expect(trends).toHaveLength(2);
						for (const trend of trends) {
							await trend.scrollIntoViewIfNeeded();
							await trend.locator(".canvas[data-drawn] canvas").waitFor();
						}
						expect(
							await page.evaluate<number>(
								"document.documentElement.scrollWidth",
							),
						).toBeLessThanOrEqual(width);
						expect(await seriousFindings(page)).toEqual([]);
					},
				);
		},
	);

	test("filters rows by text, scenario, system and verdict, and trends with them", async () => {
		await opened("index.html", {}, async (page) => {
			const rows = () =>
				page.locator(".results tbody tr:visible small").allTextContents();
			const trends = () =>
				page.locator("#over-time figcaption b:visible").allTextContents();
			const said = () => page.locator(".filter output").textContent();
			const all = await rows();
			expect(all).toHaveLength(8);
			expect(await said()).toBe("8 of 8 shown");

			await page.getByLabel("Text").fill("published  R2");
			expect(await rows()).toEqual(["published/r2"]);
			expect(await said()).toBe("1 of 8 shown");
			await page.getByRole("button", { name: "All results" }).click();
			expect(await rows()).toEqual(all);

			await page.getByLabel("Scenario").selectOption("healthy");
			expect(await rows()).toEqual(["h3", "h2", "h1"]);
			expect(await trends()).toEqual(["healthy, 256B 1000/s: response p99"]);
			await page.getByLabel("Scenario").selectOption("");

			await page.getByLabel("System").selectOption("kafka");
			expect(await rows()).toEqual(
				["3", "2", "1"].map((n) => `published/r${n}`),
			);
			expect(await trends()).toEqual(["repeats, 256B 500/s: response p99"]);
			await page.getByLabel("Verdict").selectOption("pass");
			expect(await rows()).toEqual([]);
			expect(await said()).toBe("0 of 8 shown");
			await page.getByLabel("System").selectOption("");
			expect(await rows()).toEqual(["h3", "h2", "h1"]);
			await page.getByLabel("Verdict").selectOption("no result");
			expect(await rows()).toEqual(["cut"]);
		});
	});

	test("a row opens its report, and so does a point of a trend, by mouse and by keys", async () => {
		const there = (name: string) => pathToFileURL(join(folder, name)).href;
		const look = async (page: Page) => {
			await page.goto(there("index.html"));
			const trend = page.locator("#over-time figure", { hasText: "healthy" });
			await trend.scrollIntoViewIfNeeded();
			await trend.locator(".canvas[data-drawn] canvas").waitFor();
			return trend.locator(".canvas");
		};
		await browsing({}, async (page) => {
			await page.goto(there("index.html"));
			await page.locator(".results a").nth(1).click();
			await page.waitForURL(there("published/r3/report.html"));

			const keys = await look(page);
			expect(await keys.getAttribute("aria-label")).toContain(
				"Enter opens the report",
			);
			await keys.focus();
			await page.keyboard.press("End");
			await page.keyboard.press("ArrowLeft");
			await page.keyboard.press("Enter");
			await page.waitForURL(there("h2/report.html"));

			const mouse = await look(page);
			const box = await mouse.boundingBox();
			if (box === null) throw new Error("no chart");
			await page.mouse.click(box.x + box.width - 30, box.y + box.height / 2);
			await page.waitForURL(there("h3/report.html"));
		});
	});

	test("without JavaScript shows all rows and links, no filter, and the numbers of the trends", async () => {
		await opened("index.html", { javaScriptEnabled: false }, async (page) => {
			expect(await page.locator(".results tbody tr:visible").count()).toBe(8);
			expect(await page.locator(".results a:visible").count()).toBe(8);
			expect(await page.locator(".filter").isVisible()).toBe(false);
			await page.locator("#over-time summary").first().click();
			expect(
				await page.locator("#over-time tbody tr:visible").count(),
			).toBeGreaterThan(2);
		});
	});

	test("names that harm whoever does not escape them do none, and fit a phone", async () => {
		const named = (run: Run): Run => ({
			...run,
			system: HOSTILE,
			case: HOSTILE,
		});
		const entries = (["stall", "healthy"] as const).flatMap((name) => {
			const where = mkdtempSync(join(folder, "hostile-"));
			for (const n of [1, 2])
				addResult(
					where,
					`<img src=x onerror="alert(${n})">`,
					resultOf(name, {
						startedAt: day(n),
						scenario: HOSTILE,
						cpu: HOSTILE,
						run: named,
					}),
				);
			return readRuns(where);
		});
		writeFileSync(join(folder, "hostile.html"), renderIndex(entries));
		const viewport = { width: 390, height: 800 };
		await opened("hostile.html", { viewport }, async (page) => {
			await page.locator("#over-time figure").first().scrollIntoViewIfNeeded();
			await page.locator(".canvas[data-drawn] canvas").first().waitFor();
			await page.getByLabel("System").selectOption({ index: 1 });
			expect(await page.locator(".results tbody tr:visible").count()).toBe(4);
			expect(
				await page.evaluate<number>("document.documentElement.scrollWidth"),
			).toBeLessThanOrEqual(390);
		});
	});

	test("of 500 results shows all, and filters them", async () => {
		const sources = readRuns(folder).filter(({ result }) => result !== null);
		const entries = Array.from({ length: 500 }, (_, i): Entry => {
			const source = sources[i % sources.length] as Entry;
			return { ...source, folder: `r${i}` };
		});
		writeFileSync(join(folder, "many.html"), renderIndex(entries));
		await opened("many.html", {}, async (page) => {
			expect(await page.locator(".results tbody tr:visible").count()).toBe(500);
			await page.getByLabel("Scenario").selectOption("stall");
			expect(await page.locator(".results tbody tr:visible").count()).toBe(
				entries.filter(({ scenario }) => scenario === "stall").length,
			);
		});
	});
});

// --- internal ---

/** Opens a file; afterwards nothing may have gone wrong in it, and nothing may have been asked for. */
async function opened(
	name: string,
	options: BrowserContextOptions,
	look: (page: Page) => Promise<void>,
): Promise<void> {
	const url = pathToFileURL(join(folder, name)).href;
	await browsing(options, async (page) => {
		const asked: string[] = [];
		page.on("request", (request) => asked.push(request.url()));
		await page.goto(url);
		await look(page);
		expect(asked).toEqual([url]);
	});
}

async function browsing(
	options: BrowserContextOptions,
	look: (page: Page) => Promise<void>,
): Promise<void> {
	const context = await browser.newContext(options);
	context.setDefaultTimeout(10_000);
	const wrong: string[] = [];
	try {
		const page = await context.newPage();
		page.on("console", (said) => {
			if (["error", "warning"].includes(said.type())) wrong.push(said.text());
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
