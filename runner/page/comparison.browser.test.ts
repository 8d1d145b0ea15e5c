import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { baselineWith } from "../compare/baseline.fake.ts";
import { comparingOf } from "../compare/comparing.ts";
import { comparingPage } from "../render/comparison/html.ts";
import {
	drawnIn,
	emptyCharts,
	missing,
	seriousFindings,
	testBrowser,
	widthOf,
} from "./browser.fake.ts";
import { HOSTILE } from "./pages.fake.ts";

const browser = testBrowser();

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
	test.each([
		["letters", 1280, "nats"],
		["markup", 390, HOSTILE],
	])(
		"of a name of %s, %d wide: asks nobody for anything, says no error, and axe finds nothing serious",
		async (_, width, name) => {
			await opened(name, width, async (page) => {
				for (const chart of await page.locator("figure[data-figure]").all()) await drawnIn(chart);
				expect(await emptyCharts(page)).toEqual([]);
				expect(await widthOf(page)).toBeLessThanOrEqual(width);
				expect(await seriousFindings(page)).toEqual([]);
			});
		},
	);
});

function opened(name: string, width: number, look: (page: Page) => Promise<void>): Promise<void> {
	const file = join(browser.folder, `${name.length}-${width}.html`);
	writeFileSync(file, comparingPage(comparingOf(side("a", 1, name), [side("b", 2, name)])));
	const viewport = { width, height: 800 };
	return browser.opened(pathToFileURL(file).href, { viewport }, look);
}
