import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { searchFigure } from "../report/charts/rate-figure.ts";
import { renderHtml } from "../report/html.ts";
import { HOSTILE, manyResult, searchedResult } from "../report/page/pages.fake.ts";
import { fixtureResult } from "../report/stored.fake.ts";
import { livePage, pageScripts } from "./page.ts";
import { startServer } from "./server.ts";
import {
	after,
	type CurrentRun,
	emptyState,
	type RunRow,
	type Second,
	type WatchEvent,
	type WatchState,
} from "./state.ts";

/** Debian's; a machine that builds for others has to have it. */
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const missing = !existsSync(CHROMIUM) && !process.env.CI;
const PHONE = { width: 390, height: 844 };

let browser: Browser;
beforeAll(async () => {
	if (missing) return;
	browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
}, 180_000);
afterAll(async () => {
	await browser?.close();
});

const row = (index: number, parts: Partial<RunRow> = {}): RunRow => ({
	index,
	system: "core",
	case: "256B 1000/s",
	repeat: null,
	is: "waiting",
	judged: null,
	...parts,
});

const judged: RunRow["judged"] = {
	verdict: "fail",
	why: "p99 < 20ms: 7 were late",
	metric: "response",
	p50: { value: "61us", interval: "[60us, 63us]" },
	p99: { value: "~31ms", interval: "[25ms, \u221e]" },
	throughput: "1 000/s",
};

const second = (at: number): Second => ({
	at,
	p50: 60_000 + at * 1000,
	p99: 2_000_000,
	whose: "",
	rates: [
		["offered", 1000],
		["sent", 1000],
		["received", 990 + at],
	],
	inFlight: 3,
	held: 1,
	cores: [["generator", 0.4]],
});

const run: CurrentRun = {
	index: 2,
	title: "[2/3] core: 256B 2000/s",
	done: null,
	rows: [],
	frame: {
		title: "[2/3] core: 256B 2000/s",
		metric: "response",
		closed: false,
		startS: 2,
		from: -2,
		to: 10,
		marks: [
			{ from: -2, to: 0, text: "warm-up" },
			{ from: 4, to: 5, text: "pause for 1s (planned)" },
		],
		limits: [{ text: "p99 < 20ms", value: 20e6 }],
	},
	seconds: [],
};

const tick = (at: number): WatchEvent => ({
	kind: "second",
	second: second(at),
	done: at / 12,
	rows: [
		["time", [`measuring, ${at}s of 12s`, `${12 - at}s left`]],
		["response", ["p50 61us", "p99 2ms"]],
		["", ["last second:", "p50 60us"]],
	],
});

/** A search's curve, as the report draws it. */
const curve = (() => {
	const result = searchedResult();
	const [search] = result.searches;
	const figure = search && searchFigure("search-1", search, result);
	if (!figure) throw new Error("no curve");
	return figure;
})();

const log = (text: string): WatchEvent => ({
	kind: "log",
	at: Date.UTC(2026, 0, 2, 3, 4, 5),
	text,
});

const BEGUN: readonly WatchEvent[] = [
	{ kind: "runs", runs: [row(1, { is: "done", judged }), row(2), row(3)] },
	log("[1/3] core: 256B 1000/s"),
	log("Warning: few samples"),
	{ kind: "figures", figures: [curve] },
	{ kind: "begin", run },
	tick(1),
	tick(2),
];

/** What a page that is open shows, and what becomes of it. */
interface Live {
	readonly page: Page;
	/** Something happens. */
	readonly tell: (...events: WatchEvent[]) => void;
	/** It ends with this report. */
	readonly end: (html: string) => Promise<void>;
	/** A report is under way of which only this has come yet. */
	readonly half: (where: string) => void;
	readonly stop: ReturnType<typeof vi.fn>;
	/** Cuts all connections, and keeps new ones out until they are let in again. */
	readonly cut: (letIn: Promise<void>) => void;
}

async function live(
	look: (live: Live) => Promise<void>,
	{
		events = BEGUN,
		errors = [],
		...options
	}: BrowserContextOptions & {
		events?: readonly WatchEvent[];
		/** What the console may complain of. */
		errors?: RegExp[];
	} = {},
): Promise<void> {
	let state: WatchState = events.reduce(
		after,
		emptyState({ scenario: "orders", folder: "reports/1" }),
	);
	const stop = vi.fn(() => "Stopped from the page.");
	const server = await startServer({
		port: null,
		page: livePage,
		scripts: pageScripts,
		stop,
		snapshot: () => state,
	});
	// As with a port that ssh forwards: another number, another name.
	const sockets = new Set<Socket>();
	let open: Promise<void> = Promise.resolve();
	const { port } = new URL(server.url);
	const forward = createServer(async (socket) => {
		sockets.add(socket);
		socket.on("error", () => {});
		await open;
		const there = connect(Number(port), "127.0.0.1");
		there.on("error", () => socket.destroy());
		socket.pipe(there).pipe(socket);
		socket.once("close", () => there.destroy());
	});
	await new Promise<void>((r) => forward.listen(0, "127.0.0.1", r));
	const forwarded = new URL(server.url);
	forwarded.hostname = "localhost";
	forwarded.port = `${(forward.address() as AddressInfo).port}`;
	const context = await browser.newContext(options);
	context.setDefaultTimeout(60_000);
	const wrong: string[] = [];
	const asked = new Set<string>();
	try {
		const page = await context.newPage();
		page.on("console", (m) => {
			if (["error", "warning"].includes(m.type())) wrong.push(m.text());
		});
		page.on("pageerror", (error) => wrong.push(error.stack ?? `${error}`));
		page.on("dialog", (dialog) => wrong.push(dialog.message()));
		page.on("request", (request) => asked.add(new URL(request.url()).origin));
		await page.goto(forwarded.href);
		await look({
			page,
			stop,
			tell(...all) {
				for (const event of all) {
					state = after(state, event);
					server.push("event", event);
				}
			},
			half: (where) => server.push("over", where),
			async end(html) {
				server.push("over", "not shown");
				server.push("report", { html, left: "Nobody serves this page." });
				await server.close();
			},
			cut(letIn) {
				open = letIn;
				for (const socket of sockets) socket.destroy();
			},
		});
		expect(wrong.filter((w) => !errors.some((e) => e.test(w)))).toEqual([]);
		expect([...asked]).toEqual([forwarded.origin]);
	} finally {
		await context.close();
		await server.close(0);
		forward.close();
		for (const socket of sockets) socket.destroy();
	}
}

/** Rows of a table, their cells joined. */
const rows = (page: Page, table: string) =>
	page
		.locator(`${table} tr`)
		.evaluateAll((all) =>
			all.map((tr) =>
				[...tr.children]
					.map((cell) => cell.textContent?.trim().replaceAll(/\s+/g, " "))
					.join(" | "),
			),
		);
const text = (page: Page, what: string) => page.locator(what).innerText();
/** How far the lines of the picture go, and what stands in it. */
const picture = (page: Page) => page.locator("#seconds svg").textContent();

describe.skipIf(missing)("the page of a run that is under way", { timeout: 180_000 }, () => {
	test("shows all that has happened to who comes late, and fills while the run goes on", async () => {
		await live(async ({ page, tell }) => {
			await page.locator("#seconds[data-drawn] svg").waitFor();
			expect(await text(page, "h1")).toBe("orders");
			expect(await text(page, "#state")).toBe("RUNNING");
			expect(await text(page, "#title")).toBe(run.title);
			expect(await rows(page, "#figures")).toEqual([
				"time | measuring, 2s of 12s 10s left",
				"response | p50 61us p99 2ms",
				" | last second: p50 60us",
			]);
			expect(await rows(page, "#run-rows")).toEqual([
				"core: 256B 1000/s | FAIL | 61us[60us, 63us] | ~31ms[25ms, \u221e] | 1 000/s | p99 < 20ms: 7 were late",
				"core: 256B 1000/s | running |  |  |  | ",
				"core: 256B 1000/s | waiting |  |  |  | ",
			]);
			expect(await text(page, "#count")).toBe("1 of 3 done");
			expect(await page.locator("#log li span").allInnerTexts()).toEqual([
				"[1/3] core: 256B 1000/s",
				"Warning: few samples",
			]);
			await page.locator("#figure-search-1[data-drawn] svg").waitFor();
			for (const words of ["p99 < 20ms", "warm-up", "pause for 1s", "received"])
				expect(await picture(page)).toContain(words);
			const before = await page.locator("#seconds").innerHTML();

			tell(tick(3), log("a fault"));
			await expect
				.poll(() => rows(page, "#figures"))
				.toContain("time | measuring, 3s of 12s 9s left");
			await expect.poll(() => page.locator("#seconds").innerHTML()).not.toBe(before);
			expect(await page.locator("#done").getAttribute("value")).toBe("0.25");
			expect(await page.title()).toBe(`25 % ${run.title} - mqbench`);
			expect(await page.locator("#log li span").allInnerTexts()).toEqual([
				"[1/3] core: 256B 1000/s",
				"Warning: few samples",
				"a fault",
			]);

			const passed = { ...judged, verdict: "pass" as const, why: null };
			tell({ kind: "runs", runs: [row(2, { is: "done", judged: passed })] });
			await expect.poll(() => text(page, "#count")).toBe("2 of 3 done");
			expect((await rows(page, "#run-rows"))[1]).toContain("| PASS |");
		});
	});

	test("says what goes on before the first run", async () => {
		await live(
			async ({ page, tell }) => {
				await expect.poll(() => text(page, "#state")).toBe("STARTING");
				expect(await text(page, "#doing")).toBe("packages 40/800");
				for (const what of ["#curves", "#runs", "#said", "#done", "#seconds"])
					expect(await page.locator(what).isVisible(), what).toBe(false);
				tell({ kind: "status", status: null }, ...BEGUN);
				await page.locator("#seconds svg").waitFor();
				expect(await page.locator("#doing").isVisible()).toBe(false);
			},
			{ events: [{ kind: "status", status: "packages 40/800" }] },
		);
	});

	test("is there again, with all that was missed, when its connection was lost", async () => {
		await live(
			async ({ page, tell, cut }) => {
				await page.locator("#seconds svg").waitFor();
				let letIn = () => {};
				cut(
					new Promise((resolve) => {
						letIn = resolve;
					}),
				);
				await expect.poll(() => text(page, "#state")).toBe("CONNECTION LOST");
				// What it knows stays; nobody could be asked to stop.
				expect(await text(page, "#title")).toBe(run.title);
				expect(await page.locator("#stop").isVisible()).toBe(false);
				tell(tick(3), tick(4), log("missed"));
				letIn();
				await expect.poll(() => text(page, "#state")).toBe("RUNNING");
				expect((await rows(page, "#figures"))[0]).toContain("4s of 12s");
				expect(await page.locator("#log li span").allInnerTexts()).toEqual([
					"[1/3] core: 256B 1000/s",
					"Warning: few samples",
					"missed",
				]);
			},
			{ errors: [/net::ERR_/] },
		);
	});

	test("stops the command after a question, and says so", async () => {
		await live(async ({ page, tell, stop }) => {
			await page.locator("#stop").click();
			await page.getByRole("button", { name: "Go on" }).click();
			expect(await page.locator("#sure").isVisible()).toBe(false);
			expect(stop).not.toHaveBeenCalled();
			await page.locator("#stop").click();
			await page.locator("#yes").click();
			await expect.poll(() => text(page, "#news")).toBe("Stopped from the page.");
			expect(stop).toHaveBeenCalledTimes(1);
			tell({ kind: "stopping" });
			await expect.poll(() => text(page, "#state")).toBe("STOPPING");
			expect(await text(page, "#news")).toContain("as by one Ctrl-C");
			expect(await page.locator("#stop").isVisible()).toBe(false);
		});
	});

	test("takes every text for text", async () => {
		const shown = { ...run, title: HOSTILE };
		const figure = { ...curve, title: HOSTILE, facts: HOSTILE };
		await live(
			async ({ page }) => {
				await page.locator("#seconds svg").waitFor();
				await page.locator("#figure-search-1 svg").waitFor();
				expect(await page.locator("img").count()).toBe(0);
				expect(await text(page, "#title")).toContain("</script><script>");
				expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(
					390,
				);
			},
			{
				viewport: PHONE,
				events: [
					{
						kind: "runs",
						runs: [
							row(1, {
								system: HOSTILE,
								case: HOSTILE,
								is: "done",
								judged: judged && { ...judged, why: HOSTILE },
							}),
							row(2, { system: HOSTILE }),
						],
					},
					log(HOSTILE),
					{ kind: "figures", figures: [figure] },
					{
						kind: "begin",
						run: {
							...shown,
							frame: {
								...run.frame,
								limits: [{ text: HOSTILE, value: 2e6 }],
								marks: [{ from: 1, to: 2, text: HOSTILE }],
							},
						},
					},
					{ ...tick(3), rows: [[HOSTILE, [HOSTILE]]] } as WatchEvent,
				],
			},
		);
	});

	test("of hundreds of runs shows those that are done, and how many wait", async () => {
		const all = Array.from({ length: 300 }, (_, i) =>
			row(i + 1, i < 5 ? { is: "done", judged } : {}),
		);
		await live(
			async ({ page }) => {
				await expect.poll(() => text(page, "#count")).toBe("5 of 300 done");
				const shown = await rows(page, "#run-rows");
				expect(shown).toHaveLength(5 + 12 + 1);
				expect(shown.at(-1)).toBe("and 283 more");
			},
			{ events: [{ kind: "runs", runs: all }] },
		);
	});

	describe("in the end", () => {
		test.each([
			["of one run", () => fixtureResult("stall")],
			["of a hundred runs, which is packed", () => manyResult(100)],
		])("is the report %s, at the same address, without a server", async (_, result) => {
			await live(async ({ page, end }) => {
				await page.locator("#seconds svg").waitFor();
				await page.locator("button.theme").click();
				const url = page.url();
				await end(renderHtml(result(), "name: stall"));
				await page.locator(".canvas[data-drawn=dark] canvas").first().waitFor();
				expect(page.url()).toBe(url);
				expect(await page.title()).toBe(
					`${result().scenario}: ${(await text(page, "header .badge")).replace(/^\S /, "").toUpperCase()} - mqbench`,
				);
				expect(await text(page, "header")).toContain("Nobody serves this page.");
				expect(await page.locator("#verdict").isVisible()).toBe(true);
				// Nothing of the page before is left.
				expect(await page.locator("#seconds, #stop").count()).toBe(0);
			});
		});

		test("says where the report is if it does not come whole, and asks nobody any more", async () => {
			await live(
				async ({ page, half, tell, cut }) => {
					await page.locator("#seconds svg").waitFor();
					half("open reports/1/report.html.");
					// What was told before this has come, too.
					tell(log("all is here"));
					await expect.poll(() => text(page, "#log")).toContain("all is here");
					expect(await text(page, "#state")).toBe("RUNNING");
					cut(new Promise(() => {}));
					await expect.poll(() => text(page, "#state")).toBe("ENDED");
					expect(await text(page, "#news")).toBe("open reports/1/report.html.");
					let asked = 0;
					page.on("request", () => asked++);
					// Longer than it takes to ask again.
					await page.waitForTimeout(2500);
					expect(asked).toBe(0);
				},
				{ errors: [/net::ERR_/] },
			);
		});

		test("says why there is no report, and asks nobody any more", async () => {
			await live(
				async ({ page, tell, cut }) => {
					await page.locator("#seconds svg").waitFor();
					tell({ kind: "end", text: "mqbench has ended with exit code 3" });
					await expect.poll(() => text(page, "#state")).toBe("ENDED");
					expect(await text(page, "#news")).toContain("exit code 3");
					cut(new Promise(() => {}));
					let asked = 0;
					page.on("request", () => asked++);
					// Longer than it takes to ask again.
					await page.waitForTimeout(2500);
					expect(asked).toBe(0);
					expect(await text(page, "#state")).toBe("ENDED");
					expect(await page.locator("#stop").isVisible()).toBe(false);
				},
				{ errors: [/net::ERR_/] },
			);
		});
	});

	test.each(["light", "dark"] as const)(
		"axe finds nothing serious in it, %s",
		async (colorScheme) => {
			await live(
				async ({ page, tell }) => {
					await page.locator("#seconds svg").waitFor();
					tell({ kind: "stopping" });
					await page.addScriptTag({ content: AXE });
					const found = await page.evaluate(async () => {
						// biome-ignore lint/suspicious/noExplicitAny: axe puts itself there.
						const { violations } = await (window as any).axe.run();
						return (
							violations
								// biome-ignore lint/suspicious/noExplicitAny: axe's own types.
								.filter((v: any) => ["serious", "critical"].includes(v.impact))
								// biome-ignore lint/suspicious/noExplicitAny: axe's own types.
								.map((v: any) => `${v.id}: ${v.nodes[0]?.html}`)
						);
					});
					expect(found).toEqual([]);
				},
				// axe itself is what the policy would keep out; so is an icon, which there is none.
				{ colorScheme, bypassCSP: true, errors: [/status of 404/] },
			);
		},
	);
});

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
