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
	type Locator,
	type Page,
} from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Result, Run } from "../../model/result.ts";
import { renderHtml } from "../html.ts";
import {
	fixtureResult,
	publishedFolder,
	storedResult,
} from "../stored.fake.ts";
import { intervalText, percentileValue } from "../words.ts";
import {
	FIXTURES,
	HOSTILE,
	hostileResult,
	manyResult,
	scenarioOf,
	searchedResult,
} from "./pages.fake.ts";

/** Debian's; a machine that builds for others has to have it. */
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const missing = !existsSync(CHROMIUM) && !process.env.CI;

const folder = mkdtempSync(join(tmpdir(), "mqbench-pages-"));
let browser: Browser;

/** Each is written once, when a test first asks for it. */
const RESULTS: Readonly<Record<string, () => Result>> = {
	...Object.fromEntries(
		FIXTURES.map((name) => [name, () => fixtureResult(name)]),
	),
	"message-queue-latency": () =>
		storedResult(publishedFolder("message-queue-latency")),
	search: searchedResult,
	"breached repeats": breachedRepeats,
	hostile: hostileResult,
	"100 runs": () => manyResult(100),
};
const results = new Map<string, Result>();

beforeAll(async () => {
	if (missing) return;
	browser = await chromium.launch({
		executablePath: CHROMIUM,
		args: ["--no-sandbox"],
	});
}, 180_000);
afterAll(async () => {
	await browser?.close();
	rmSync(folder, { recursive: true, force: true });
});

// Other tests may have the cores: what usually takes a second may take ten.
describe.skipIf(missing)(
	"report.html in a browser",
	{ timeout: 180_000 },
	() => {
		describe.each(Object.keys(RESULTS))("of %s", (name) => {
			test("asks nobody for anything, says no error, draws every chart that is seen, and fits a phone", async () => {
				await opened(name, { viewport: PHONE }, async (page) => {
					await openFirst(page);
					const blocks = await page
						.locator("figure[data-figure]:visible")
						.all();
					if (name !== "no-data") expect(blocks.length).toBeGreaterThan(0);
					for (const block of blocks) {
						await block.scrollIntoViewIfNeeded();
						await block.locator(".canvas[data-drawn] svg").waitFor();
					}
					expect(await emptyCharts(page)).toEqual([]);
					expect(await page.evaluate(widthOfPage)).toBeLessThanOrEqual(390);
				});
			});
		});

		test("of 100 runs draws only what is seen, the rest when it is opened", async () => {
			await opened("100 runs", {}, async (page) => {
				await page.locator("#overview .canvas[data-drawn]").first().waitFor();
				expect(await page.locator(".canvas").count()).toBeLessThan(5);
				await page.locator("#run-77 > summary").click();
				await page.locator("#run-77 .canvas[data-drawn]").first().waitFor();
				// Which opens a run that is folded, and whose tables are made when asked for.
				await page.locator("#run-77 .numbers > summary").first().click();
				await page.locator("#run-77 .numbers[open] tbody tr").nth(3).waitFor();
			});
		});

		describe("switches", () => {
			test("take curves of a system away, and bring them back", async () => {
				await opened("repeats", {}, async (page) => {
					const chart = page.locator("#overview figure").first();
					await chart.locator(".canvas[data-drawn]").waitFor();
					const curves = () =>
						chart.locator(".canvas svg path[fill=none]").count();
					const all = await curves();
					const group = chart.locator("fieldset", { hasText: "Systems" });
					const button = group.locator("button").first();
					expect(await button.getAttribute("aria-pressed")).toBe("true");
					await button.click();
					expect(await button.getAttribute("aria-pressed")).toBe("false");
					expect(await curves()).toBeLessThan(all);
					await button.press("Enter");
					expect(await curves()).toBe(all);
				});
			});

			test("change the scale of values, and the colours of page and charts", async () => {
				await opened("stall", { colorScheme: "light" }, async (page) => {
					const chart = page.locator("figure").first();
					const text = () => chart.locator(".canvas svg").textContent();
					await chart.locator(".canvas[data-drawn=light]").waitFor();
					expect(await text()).toContain("logarithmic");
					const scale = chart.getByRole("button", { name: "Logarithmic" });
					expect(await scale.getAttribute("aria-pressed")).toBe("true");
					await scale.click();
					expect(await scale.getAttribute("aria-pressed")).toBe("false");
					expect(await text()).not.toContain("logarithmic");
					await page.getByRole("button", { name: "Dark" }).click();
					await chart.locator(".canvas[data-drawn=dark]").waitFor();
					const colour = await page.evaluate(
						() => getComputedStyle(document.body).backgroundColor,
					);
					expect(colour).toBe("rgb(18, 22, 28)");
				});
			});
		});

		describe.each(["breached repeats", "stall"])("of %s, a chart", (name) => {
			test("that was looked at in many ways is the one that was drawn first", async () => {
				await opened(name, {}, async (page) => {
					const kinds = new Set<string>();
					for (const chart of await page.locator("figure:visible").all()) {
						// Those of each run are drawn by the same code: one of each kind.
						const id = await chart.getAttribute("data-figure");
						const kind = (id ?? "").replaceAll(/\d+/g, "");
						if (kinds.has(kind)) continue;
						kinds.add(kind);
						await chart.scrollIntoViewIfNeeded();
						await chart.locator(".canvas[data-drawn]").waitFor();
						const canvas = chart.locator(".canvas");
						const switches = await chart.locator("button.switch").all();
						const first = await drawn(canvas);
						const states = await Promise.all(
							switches.map((one) => one.getAttribute("aria-pressed")),
						);
						// Within the page: a click from outside takes longer than all that is drawn for it.
						const pressAll = async () => {
							for (const texts of await chart.evaluate(pressEach))
								expect(repeated(limitLabels(texts))).toEqual([]);
						};
						await pressAll();
						await chart.getByRole("button", { name: "Zoom in" }).click();
						await pressAll();
						await pressAll();
						await chart.getByRole("button", { name: "Show all" }).click();
						await pressAll();
						// With nothing on, a scale that is its own choice is another one: each is as it was.
						for (const [i, one] of switches.entries())
							if ((await one.getAttribute("aria-pressed")) !== states[i])
								await one.click();
						expect(await drawn(canvas)).toEqual(first);
					}
				});
			}, 240_000);
		});

		test("of few runs draws all charts, also those nobody has scrolled to", async () => {
			await opened("stall", {}, async (page) => {
				const all = await page.locator("figure[data-figure]").count();
				expect(all).toBeGreaterThan(2);
				await expect
					.poll(() => page.locator(".canvas[data-drawn]").count())
					.toBe(all);
				expect(await page.evaluate(() => scrollY)).toBe(0);
			});
		});

		test("on a phone the theme's switch covers neither name nor verdict, and scales say what they are", async () => {
			await opened("hostile", { viewport: PHONE }, async (page) => {
				const box = (what: string) => page.locator(what).first().boundingBox();
				const button = await box("button.theme");
				for (const what of ["h1", "header .badge"]) {
					const other = await box(what);
					if (!button || !other) throw new Error(`no ${what}`);
					expect(other.x + other.width).toBeLessThanOrEqual(button.x);
				}
			});
			await opened("stall", { viewport: PHONE }, async (page) => {
				const chart = page.locator("figure", { hasText: "over time" }).first();
				await chart.scrollIntoViewIfNeeded();
				await chart.locator(".canvas[data-drawn]").waitFor();
				const scale = chart.getByRole("button", { name: "Logarithmic" });
				expect(await scale.getAttribute("aria-pressed")).toBe("true");
			});
		});

		describe("the pointer", () => {
			test("under the mouse tells the numbers of result.json", async () => {
				await opened("stall", {}, async (page, result) => {
					const chart = page.locator("figure").first();
					const canvas = chart.locator(".canvas[data-drawn]");
					await canvas.scrollIntoViewIfNeeded();
					const box = await canvas.boundingBox();
					if (box === null) throw new Error("no chart");
					const p99 = percentile(result.runs[0] as Run, 99);
					let found = "";
					// From left to right: somewhere is p99.
					for (
						let x = 10;
						x < box.width && !found.startsWith("p99\n");
						x += 25
					) {
						await page.mouse.move(box.x + x, box.y + box.height / 2);
						found = await chart.locator(".tip").innerText();
					}
					expect(found).toMatch(/^p99\n/);
					expect(found).toContain(p99);
					await page.mouse.move(0, 0);
					await expect
						.poll(() => chart.locator(".tip").isVisible())
						.toBe(false);
				});
			});

			test("goes by arrow keys, and says aloud what is there", async () => {
				await opened("stall", {}, async (page, result) => {
					const chart = page.locator("figure").first();
					const canvas = chart.locator(".canvas");
					await canvas.focus();
					const said = chart.locator("[aria-live]");
					const p99 = percentile(result.runs[0] as Run, 99);
					const texts: string[] = [];
					for (let i = 0; i < 8; i++) {
						await canvas.press("ArrowRight");
						texts.push((await said.textContent()) ?? "");
					}
					expect(new Set(texts).size).toBeGreaterThan(3);
					expect(texts.some((text) => text.includes(p99))).toBe(true);
					await canvas.press("Home");
					expect(await said.textContent()).toBe(texts[0]);
					expect(await chart.locator(".tip").isVisible()).toBe(true);
					await canvas.press("Escape");
					expect(await chart.locator(".tip").isVisible()).toBe(false);
				});
			});
		});

		test("charts are zoomed by keys, buttons, a drag and the wheel with Ctrl; the wheel alone scrolls", async () => {
			await opened("stall", {}, async (page) => {
				const chart = page.locator("figure", { hasText: "over time" }).first();
				const canvas = chart.locator(".canvas");
				await chart.scrollIntoViewIfNeeded();
				const labels = () => canvas.locator("svg").textContent();
				const whole = await labels();
				const back = async () => {
					await chart.getByRole("button", { name: "Show all" }).click();
					expect(await labels()).toBe(whole);
				};
				await canvas.focus();
				await canvas.press("+");
				const closer = await labels();
				expect(closer).not.toBe(whole);
				await canvas.press("Shift+ArrowRight");
				expect(await labels()).not.toBe(closer);
				await canvas.press("0");
				expect(await labels()).toBe(whole);
				await chart.getByRole("button", { name: "Zoom in" }).click();
				expect(await labels()).toBe(closer);
				await back();
				await canvas.hover({ position: { x: 300, y: 60 } });
				await page.mouse.down();
				await canvas.hover({ position: { x: 500, y: 60 } });
				expect(await chart.locator(".band").isVisible()).toBe(true);
				await page.mouse.up();
				expect(await labels()).not.toBe(whole);
				await back();
				await canvas.hover({ position: { x: 300, y: 60 } });
				await page.keyboard.down("Control");
				await page.mouse.wheel(0, -100);
				await page.keyboard.up("Control");
				await expect.poll(labels).not.toBe(whole);
				await back();
				await canvas.hover({ position: { x: 300, y: 60 } });
				const before = await page.evaluate(() => scrollY);
				await page.mouse.wheel(0, 200);
				await expect
					.poll(() => page.evaluate(() => scrollY))
					.toBeGreaterThan(before);
				expect(await labels()).toBe(whole);
			});
		});

		test("a chart is handed over as an .svg of what is shown, with its title", async () => {
			await opened("stall", {}, async (page, result) => {
				const chart = page.locator("figure").first();
				await chart.locator(".canvas[data-drawn]").waitFor();
				const [download] = await Promise.all([
					page.waitForEvent("download"),
					chart.getByRole("button", { name: "Download" }).click(),
				]);
				// It leaves its page, so it says of which scenario it is.
				expect(download.suggestedFilename()).toMatch(
					new RegExp(`^${result.scenario}-.*percentiles\\.svg$`),
				);
				const svg = readFileSync(await download.path(), "utf8");
				expect(svg).toMatch(/^<svg/);
				expect(svg).toContain("Latency by percentile");
				expect(svg).not.toContain("<script");
			});
		});

		test("Tab reaches every button, chart, link and fold, in their order, and each shows that it is reached", async () => {
			await opened("stall", {}, async (page) => {
				// All are drawn first: their buttons come with them.
				for (const block of await page.locator("figure").all()) {
					await block.scrollIntoViewIfNeeded();
					await block.locator(".canvas[data-drawn]").waitFor();
				}
				await page.evaluate(() => scrollTo(0, 0));
				await page.locator("body").press("Tab");
				expect(await page.locator(":focus").textContent()).toBe(
					"Skip to the results",
				);
				const wanted = await page.evaluate(
					() =>
						[
							...document.querySelectorAll<HTMLElement>(
								"a[href],button,summary,[tabindex='0']",
							),
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
			await opened(
				"stall",
				{ javaScriptEnabled: false },
				async (page, result) => {
					expect(await page.locator("noscript").innerText()).toContain(
						"mqbench report --svg",
					);
					expect(await page.locator(".plot:visible").count()).toBe(0);
					expect(await page.locator("button:visible").count()).toBe(0);
					const tables = (
						await page.locator("table:visible").allInnerTexts()
					).join();
					for (const run of result.runs)
						for (const metric of Object.values(run.metrics))
							for (const p of metric?.percentiles ?? []) {
								expect(tables).toContain(percentileValue(p, run));
								expect(tables).toContain(intervalText(p));
							}
				},
			);
		});

		test("on paper charts are there, light, and what is folded stands open", async () => {
			const paper = { colorScheme: "dark", viewport: PAPER } as const;
			await opened("repeats", paper, async (page) => {
				await page.locator(".canvas[data-drawn=dark]").first().waitFor();
				await page.emulateMedia({ media: "print" });
				await expect
					.poll(() => page.locator(".canvas[data-drawn=light] svg").count())
					.toBe(await page.locator("figure[data-figure]").count());
				expect(await emptyCharts(page)).toEqual([]);
				expect(await page.locator(".tools:visible").count()).toBe(0);
				expect(await page.evaluate(widthOfPage)).toBeLessThanOrEqual(
					PAPER.width,
				);
				// Without switches a legend tells the curves apart.
				expect(
					await page.locator("#overview .canvas svg").first().textContent(),
				).toMatch(/nats.*kafka/);
				const colour = await page.evaluate(
					() => getComputedStyle(document.body).backgroundColor,
				);
				expect(colour).toBe("rgb(255, 255, 255)");
				const pdf = await page.pdf({ format: "A4" });
				expect(pdf.subarray(0, 5).toString()).toBe("%PDF-");
				await page.emulateMedia({ media: "screen" });
				await page.locator(".canvas[data-drawn=dark]").first().waitFor();
			});
		});

		test("a name of markup, quotes, lines and 300 letters stays a name", async () => {
			await opened("hostile", {}, async (page) => {
				expect(await page.locator("h1").innerText()).toContain(
					"</script><script>",
				);
				expect(await page.locator("img").count()).toBe(0);
				expect(await page.title()).toContain("<img src=x");
				// And in what the script makes: switches, the pointer's words.
				const chart = page.locator("#overview figure").first();
				await chart.scrollIntoViewIfNeeded();
				await chart.locator(".canvas").press("End");
				expect(await chart.locator(".tip").innerText()).toContain(
					HOSTILE.slice(0, 30),
				);
				expect(await page.locator("img").count()).toBe(0);
			});
		});

		test.each([
			["stall", "light", { width: 1200, height: 900 }],
			["stall", "dark", { width: 390, height: 800 }],
			["repeats", "light", { width: 390, height: 800 }],
			["search", "dark", { width: 1200, height: 900 }],
			["lag", "light", { width: 1200, height: 900 }],
		] as const)(
			"axe finds nothing serious in %s, %s",
			async (name, colorScheme, viewport) => {
				// axe itself is what the policy would keep out.
				const options = { colorScheme, viewport, bypassCSP: true };
				await opened(name, options, async (page) => {
					await openFirst(page);
					for (const block of await page.locator("figure:visible").all()) {
						await block.scrollIntoViewIfNeeded();
						await block.locator(".canvas[data-drawn]").waitFor();
					}
					for (const fold of await page
						.locator(".numbers:visible > summary")
						.all())
						await fold.click();
					await page.addScriptTag({ path: AXE });
					const found = await page.evaluate(async () => {
						// biome-ignore lint/suspicious/noExplicitAny: axe puts itself there.
						const { violations } = await (window as any).axe.run();
						return violations.map(
							// biome-ignore lint/suspicious/noExplicitAny: axe's own types.
							(v: any) =>
								`${v.impact} ${v.id}: ${v.nodes
									.slice(0, 3)
									// biome-ignore lint/suspicious/noExplicitAny: axe's own types.
									.map((n: any) => n.html.slice(0, 160))
									.join(" | ")}`,
						) as string[];
					});
					expect(
						found.filter((text) => /^(serious|critical)/.test(text)),
					).toEqual([]);
				});
			},
		);
	},
);

// --- internal ---

/** Three runs of two systems, with a limit that lies below most of what was measured. */
function breachedRepeats(): Result {
	const result = fixtureResult("repeats");
	return {
		...result,
		gates: result.gates.map((gate) =>
			gate.limitNs === null
				? gate
				: {
						...gate,
						sla: gate.sla.replace("20ms", "1ms"),
						limitNs: 1e6,
						verdict: "fail",
					},
		),
	};
}

/** Everything that a picture is made of, in any order; without the numbers of its clips. */
function drawn(canvas: Locator): Promise<string[]> {
	return canvas.evaluate((element) =>
		[...element.querySelectorAll("svg path, svg text, svg polygon, svg circle")]
			.map((part) =>
				[
					part.tagName,
					"d",
					"points",
					"cx",
					"cy",
					"x",
					"y",
					"transform",
					"stroke",
					"fill",
				]
					.map((name, i) => (i === 0 ? name : part.getAttribute(name)))
					.concat(part.tagName === "text" ? (part.textContent ?? "") : "")
					.join("|"),
			)
			.sort(),
	);
}

/** Presses each switch of a figure, and gives back what its chart says after each. */
function pressEach(figure: Element): string[][] {
	return [...figure.querySelectorAll<HTMLElement>("button.switch")].map(
		(button) => {
			button.click();
			return [...figure.querySelectorAll(".canvas svg text")].map(
				(text) => text.textContent ?? "",
			);
		},
	);
}

function limitLabels(texts: readonly string[]): string[] {
	return texts.filter((text) => /^(?:response |ack )?p\d.* < /.test(text));
}

/** Of a time figure each limit is in one panel only: no text is there twice. */
function repeated(texts: readonly string[]): string[] {
	return texts.filter((text, i) => texts.indexOf(text) !== i);
}

/** A4 less its margins. */
const PAPER = { width: 718, height: 1000 };
const PHONE = { width: 390, height: 800 };
const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/** Opens the report of this kind; afterwards nothing may have gone wrong in it, and nothing may have been asked for. */
async function opened(
	name: string,
	options: BrowserContextOptions,
	look: (page: Page, result: Result) => Promise<void>,
): Promise<void> {
	const result = results.get(name) ?? RESULTS[name]?.();
	if (result === undefined) throw new Error(`no result ${name}`);
	const file = join(folder, `${name}.html`);
	if (!results.has(name)) {
		const published = publishedFolder("nats-stall");
		writeFileSync(file, renderHtml(result, scenarioOf(published)));
		results.set(name, result);
	}
	const context = await browser.newContext(options);
	context.setDefaultTimeout(60_000);
	const wrong: string[] = [];
	const asked: string[] = [];
	try {
		const page = await context.newPage();
		page.on("console", (m) => {
			if (["error", "warning"].includes(m.type())) wrong.push(m.text());
		});
		page.on("pageerror", (error) => wrong.push(error.stack ?? `${error}`));
		page.on("dialog", (dialog) => wrong.push(dialog.message()));
		page.on("request", (request) => asked.push(request.url()));
		const url = pathToFileURL(file).href;
		await page.goto(url);
		await look(page, result);
		expect(wrong).toEqual([]);
		expect(asked.filter((one) => !one.startsWith("data:image/svg"))).toEqual([
			url,
		]);
	} finally {
		await context.close();
	}
}

/** The first of many runs, where they are folded. */
async function openFirst(page: Page): Promise<void> {
	const folded = page.locator("details.run > summary");
	if ((await folded.count()) > 0) await folded.first().click();
}

/** Ids of charts that are drawn but hold no path. */
function emptyCharts(page: Page): Promise<(string | undefined)[]> {
	return page.evaluate(() =>
		[...document.querySelectorAll<HTMLElement>("figure[data-figure]")]
			.filter((block) => block.querySelector(".canvas"))
			.filter(
				(block) =>
					![...block.querySelectorAll(".canvas svg path")].some(
						(path) => (path.getAttribute("d") ?? "").length > 5,
					),
			)
			.map((block) => block.dataset.figure),
	);
}

function widthOfPage(): number {
	return document.documentElement.scrollWidth;
}

function percentile(run: Run, p: number): string {
	const found = run.metrics.response?.percentiles.find((x) => x.p === p);
	if (found === undefined) throw new Error(`no p${p}`);
	return percentileValue(found, run);
}
