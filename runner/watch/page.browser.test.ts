import { connect, createServer, type Socket } from "node:net";
import type { BrowserContextOptions, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { missing, seriousFindings, testBrowser, widthOf } from "../page/browser.fake.ts";
import { builtScript, renderPage } from "../page/html-page.ts";
import { markup } from "../page/markup.ts";
import { HOSTILE } from "../page/pages.fake.ts";
import { renderHtml } from "../render/rendered.fake.ts";
import { fixtureResult } from "../result/stored.fake.ts";
import { startServer } from "./server.ts";
import { livePart, type Strip, stripMarkup, watchPolicy } from "./strip.ts";

const PLAN = (version: number) =>
	renderPage({
		title: "orders - mqbench",
		header: markup`<h1>orders</h1>`,
		main: markup`<section><h2>Runs</h2></section>`,
		figures: [],
		live: livePart(version),
	});

const strip: Strip = {
	title: "[1/2] nats",
	doing: "",
	rows: [["time", ["7s/15s measuring"]]],
	over: 0,
};

interface Live {
	readonly page: Page;
	readonly show: (strip: Strip) => void;
	readonly serve: (html: string, version: number) => void;
	readonly over: () => void;
	readonly report: (html: string) => Promise<void>;
	/** Cuts all connections, and refuses new ones until the promise resolves. */
	readonly cut: (letIn: Promise<void>) => void;
}

const browser = testBrowser();

async function live(
	look: (live: Live) => Promise<void>,
	options: BrowserContextOptions = {},
	errors = /^$/,
): Promise<void> {
	let html = PLAN(1);
	let stops = 0;
	const server = await startServer({
		port: null,
		page: () => html,
		policy: watchPolicy,
		scripts: { "watch.js": () => builtScript("watch.js") },
		stop: () => `stopped: ${++stops}`,
	});
	const show: Live["show"] = (strip) => server.push("strip", stripMarkup(strip).text);
	show(strip);
	// Like a port forwarded by ssh: another number, another name.
	const sockets = new Set<Socket>();
	let open: Promise<void> = Promise.resolve();
	const url = new URL(server.url);
	const to = Number(url.port);
	const forward = createServer(async (socket) => {
		sockets.add(socket);
		socket.on("error", () => {});
		await open;
		const there = connect(to, "127.0.0.1").on("error", () => socket.destroy());
		socket.pipe(there).pipe(socket);
		socket.once("close", () => there.destroy());
	});
	await new Promise<void>((r) => forward.listen(0, "127.0.0.1", r));
	url.host = `localhost:${(forward.address() as { port: number }).port}`;
	const asked = new Set<string>();
	const watched = async (page: Page) => {
		page.on("request", (request) => asked.add(new URL(request.url()).origin));
		await page.goto(url.href);
		await page.locator("#strip table").waitFor();
		await look({
			page,
			show,
			serve(page, version) {
				html = page;
				server.push("page", { version, html });
			},
			over: () => server.push("over", "open reports/1/report.html."),
			async report(html) {
				server.push("over", "not shown");
				server.push("page", { html, left: "Nobody serves this page." });
				await server.close();
			},
			cut(letIn) {
				open = letIn;
				for (const socket of sockets) socket.destroy();
			},
		});
		expect([...asked]).toEqual([url.origin]);
	};
	try {
		await browser.browsing(options, watched, errors);
	} finally {
		await server.close(0);
		forward.close();
		for (const socket of sockets) socket.destroy();
	}
}

const text = (page: Page, what: string) => page.locator(what).innerText();

describe.skipIf(missing)("the page of a command that goes on", { timeout: 180_000 }, () => {
	test("shows the plan and the current seconds, then the report so far with its charts, then the whole one", async () => {
		await live(async ({ page, show, serve, report }) => {
			expect(await text(page, "h1")).toBe("orders");
			show({ ...strip, rows: [["time", ["8s/15s measuring"]]] });
			await expect.poll(() => text(page, "#strip")).toContain("8s/15s");
			for (const version of [2, 3]) {
				serve(renderHtml(fixtureResult("stall"), "name: stall", livePart(version)), version);
				show({ ...strip, title: `[${version}/3] nats` });
				await page.locator(`[data-version="${version}"]`).waitFor();
				await page.locator(".canvas[data-drawn] canvas").first().waitFor();
				await expect.poll(() => text(page, "#strip")).toContain(`[${version}/3] nats`);
			}
			// In the overwritten document the button still asks, then stops.
			const answers = (yes: boolean) => page.evaluate(`window.confirm = () => ${yes}`);
			await answers(false);
			await page.locator("#stop").click();
			expect(await page.locator("#news").isVisible()).toBe(false);
			await answers(true);
			await page.locator("#stop").click();
			await expect.poll(() => text(page, "#news")).toBe("stopped: 1");
			show({ ...strip, title: "the last second" });
			expect(await text(page, "#news")).toBe("stopped: 1");
			await expect.poll(() => text(page, "#strip")).toContain("the last second");
			await report(renderHtml(fixtureResult("stall"), "name: stall"));
			await expect.poll(() => text(page, "header")).toContain("Nobody serves this page.");
			await page.locator(".canvas[data-drawn] canvas").first().waitFor();
			expect(await page.locator("#live, #stop").count()).toBe(0);
		});
	});

	test("is there again when its connection was lost", { tags: "long" }, async () => {
		await live(
			async ({ page, show, cut }) => {
				let letIn = () => {};
				cut(
					new Promise((resolve) => {
						letIn = resolve;
					}),
				);
				await expect.poll(() => text(page, "#news")).toContain("Connection lost");
				show({ ...strip, title: "missed" });
				letIn();
				await expect.poll(() => text(page, "#strip")).toContain("missed");
				expect(await page.locator("#news").isVisible()).toBe(false);
			},
			{},
			/net::ERR_/,
		);
	});

	test("says where the report is, or why there is none, if it does not come, and asks nobody any more", async () => {
		await live(
			async ({ page, over, cut }) => {
				over();
				await page.waitForTimeout(200);
				cut(new Promise(() => {}));
				await expect.poll(() => text(page, "#news")).toBe("open reports/1/report.html.");
				let asked = 0;
				page.on("request", () => asked++);
				// Longer than a reconnection takes.
				await page.waitForTimeout(2500);
				expect(asked).toBe(0);
				expect(await text(page, "h1")).toBe("orders");
			},
			{},
			/net::ERR_/,
		);
	});

	test.each(["light", "dark"] as const)(
		"takes every text for text, fits a phone, and axe finds nothing serious, %s",
		async (colorScheme) => {
			await live(
				async ({ page, show }) => {
					show({ ...strip, title: HOSTILE, rows: [["time", [HOSTILE]]] });
					await expect.poll(() => text(page, "#strip")).toContain("</script><script>");
					expect(await page.locator("img").count()).toBe(0);
					expect(await widthOf(page)).toBeLessThanOrEqual(390);
					expect(await seriousFindings(page)).toEqual([]);
				},
				{ colorScheme, viewport: { width: 390, height: 844 } },
			);
		},
	);
});
