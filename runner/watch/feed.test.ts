import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fixture, fixtureCopy, runFoldersOf } from "../evidence/fixture.fake.ts";
import { Plan } from "../model/plan.ts";
import { fixtureResult } from "../result/stored.fake.ts";
import type { LiveRun } from "../run/live.ts";
import { makeFeed } from "./feed.ts";

function plansOf(folder: string): Plan[] {
	return runFoldersOf(folder).map((run) =>
		Plan.parse(JSON.parse(readFileSync(join(run, "plan.json"), "utf8"))),
	);
}

function fed(secrets: readonly string[] = []) {
	const strips: string[] = [];
	const pages: { version: number; html: string }[] = [];
	const publish = (event: string, data: unknown) =>
		void (event === "strip" ? strips : (pages as unknown[])).push(data as never);
	const feed = makeFeed({ scenario: "orders", shown: "reports/1", secrets, publish });
	return { feed, strips, pages, last: () => strips.at(-1) ?? "" };
}

const live = (plan: Plan): LiveRun => ({
	plan,
	tick: {
		mqbench: "tick",
		at: 3,
		sent: 1000,
		received: 990,
		acked: null,
		metric: "response",
		failed: 0,
		duplicated: 0,
		over: [],
		p50: 60_000,
		p99: 1_500_000,
		window: { count: 6000, p50: 61_000, p99: 1_400_000, max: 12_000_000 },
	},
	sent: 3000,
	stopping: false,
});

const words = (html: string) =>
	html
		.replaceAll(/^.*<header>|<\/main>.*$/gs, "")
		.replaceAll(/<[^>]*>/g, " ")
		.replaceAll(/\s+/g, " ")
		.trim();

describe("the strip", () => {
	const [plan] = plansOf(fixture("healthy")) as [Plan];

	test("says what goes on before a run, then the rows of the terminal", () => {
		const { feed, last } = fed();
		feed.say("  packages 40/800");
		expect(words(last())).toBe("The first run has not begun. packages 40/800");
		feed.begin("[1/2] nats");
		expect(words(last())).toBe("[1/2] nats");
		feed.second(live(plan));
		expect(words(last())).toMatch(
			/^\[1\/2\] nats time .* left rate scheduled 1\D000\/s, sent 1\D000\/s, received 990\/s response p50 61us, p99 1\.4ms, max 12ms/,
		);
		feed.begin("[2/2] nats");
		expect(words(last())).toBe("[2/2] nats");
	});

	test("takes every text for text, and holds no secret", () => {
		const { feed, strips } = fed(["hunter2"]);
		feed.begin("<img src=x> nats://me:pw@host hunter2");
		feed.say("nats://me:pw@host hunter2");
		const all = strips.join();
		expect(all).not.toMatch(/<img|me:pw|hunter2/);
		expect(all).toContain("nats://***@host");
	});
});

describe("the page", () => {
	test("is the plan, then the report of the runs that are over, and each is a new version", () => {
		const folder = fixture("stall");
		const plans = plansOf(folder);
		const { feed, last, pages } = fed();
		feed.expect(folder, plans);
		expect(words(feed.page())).toContain("orders Results: reports/1 Runs nats: ");
		feed.made(plans);
		expect(pages.map(({ version }) => version)).toEqual([1, 2]);
		expect(pages[1]?.html).toBe(feed.page());
		for (const { version, html } of pages) expect(html).toContain(`data-version="${version}"`);
		expect(words(last())).toContain("Below: the report of 1 run so far.");
		const { verdict, runs } = fixtureResult("stall");
		expect(words(feed.page())).toContain(`stall ${verdict === "fail" ? "✗" : "✓"}`);
		expect(feed.page()).toContain(`id="run-${runs[0]?.index}"`);
		// The server sends the policy: a second one would block its script.
		expect(feed.page()).not.toContain("Content-Security-Policy");
	});

	test("stays as it was if the files of a run cannot be read", () => {
		const folder = fixtureCopy("stall");
		const plans = plansOf(folder);
		const [run = ""] = runFoldersOf(folder);
		writeFileSync(join(run, "plan.json"), "{");
		const { feed, pages } = fed();
		feed.expect(folder, plans);
		const before = feed.page();
		feed.made(plans);
		expect(feed.page()).toBe(before);
		expect(pages).toHaveLength(1);
	});

	test("of the plan takes every text for text, and holds no secret", () => {
		const [plan] = plansOf(fixture("healthy")) as [Plan];
		const { feed } = fed(["hunter2"]);
		feed.expect("reports/1", [{ ...plan, system: "<img src=x>", case: "hunter2" }]);
		const [main] = /<main.*<\/main>/s.exec(feed.page()) ?? [""];
		expect(main).toContain("img src=x");
		expect(main).not.toMatch(/<img|hunter2/);
	});
});
