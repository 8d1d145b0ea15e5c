import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { testFolder } from "../../infra/test-folder.fake.ts";
import type { Run } from "../model/result.ts";
import { figuresIn, HOSTILE } from "../page/pages.fake.ts";
import { renderHtml } from "../render/html.ts";
import { addResult, resultOf, withP99 } from "../result/indexed.fake.ts";
import { type Entry, readRuns } from "../result/indexed.ts";
import { indexDocument } from "./index.ts";

const day = (n: number) => new Date(Date.UTC(2026, 0, n, 12)).toISOString();

/** The page without its script, which holds libraries. */
const SCRIPT = /<script>[\s\S]*<\/script>/;
const page = (root: string) => renderHtml(indexDocument(readRuns(root))).replace(SCRIPT, "");

const rowsOf = (html: string) =>
	[
		...(/<table class="results">[\s\S]*?<\/table>/.exec(html)?.[0] ?? "").matchAll(
			/<tr><th scope="row"[\s\S]*?<\/tr>/g,
		),
	].map(([row]) =>
		[...row.matchAll(/<t[dh][^>]*>([\s\S]*?)<\/t[dh]>/g)].map(([, cell]) =>
			(cell ?? "")
				.replaceAll(/<[^>]*>/g, " ")
				.replaceAll(/\s+/g, " ")
				.trim(),
		),
	);

describe("the index", () => {
	test("has a row for each result, the newest first: verdict, scenario, when, figures, machine, commit", () => {
		const root = testFolder();
		addResult(root, "old", resultOf("stall", { startedAt: day(1), cpu: "Other CPU" }));
		addResult(
			root,
			"published/new",
			resultOf("healthy", {
				startedAt: day(2),
				run: withP99(1_230_000),
				git: { commit: "0123456789".repeat(4), dirty: true },
			}),
		);
		const html = page(root);
		const p99 = resultOf("stall").runs[0]?.metrics.response?.percentiles.find((p) => p.p === 99);
		expect(rowsOf(html)).toEqual([
			[
				"healthy published/new",
				"✓ PASS",
				"2026-01-02 12:00 UTC",
				"nats response p99 ~1.23ms",
				"machine B",
				"012345678901 with uncommitted changes",
			],
			[
				"stall old",
				"✗ FAIL",
				"2026-01-01 12:00 UTC",
				`nats response p99 ~${Math.round((p99?.value ?? 0) / 1e6)}ms`,
				"machine A",
				"not known",
			],
		]);
		expect(html).toContain('<a href="published/new/report.html">healthy</a>');
		expect(html).toContain('<a href="old/report.html">stall</a>');
		expect(html).toContain("The newest is from 2026-01-02 12:00 UTC.");
		expect(html).toMatch(/A<\/th><td>linux x64, kernel 6\.1.*Other CPU/);
	});

	test("every link leads to a file below it, so that the folder can be published as it is", () => {
		const root = testFolder();
		for (const n of [1, 2]) addResult(root, `r${n}`, resultOf("healthy", { startedAt: day(n) }));
		const html = page(root);
		const links = [...html.matchAll(/(?:href="|"href":")([^"]*)"/g)].map(([, href]) => href);
		expect(links.length).toBeGreaterThanOrEqual(4);
		for (const href of links) expect(href).toMatch(/^(#[\w-]+|r[12]\/report\.html)$/);
		expect(html.includes(root)).toBe(false);
	});

	test("lists what cannot be read with its reason", () => {
		const root = testFolder();
		mkdirSync(join(root, "cut"));
		writeFileSync(join(root, "cut", "result.json"), '{"schema":1');
		expect(rowsOf(page(root))).toEqual([
			[
				"cut",
				"NO RESULT",
				"not known",
				"The result.json cannot be read: it is not JSON; the measured files are not there to make it again.",
				"not known",
				"not known",
			],
		]);
	});

	test("names from outside do no harm", () => {
		const root = testFolder();
		const named = (run: Run): Run => ({
			...run,
			system: HOSTILE,
			case: HOSTILE,
			load: { ...run.load, durability: HOSTILE },
		});
		for (const n of [1, 2])
			addResult(
				root,
				`<img src=x onerror="alert(${n})">`,
				resultOf("healthy", { startedAt: day(n), scenario: HOSTILE, cpu: HOSTILE, run: named }),
			);
		const html = page(root);
		expect(/<script>alert|<img/.test(html)).toBe(false);
		expect(html.includes(HOSTILE)).toBe(false);
	});
});

describe("500 results", () => {
	const many = (count: number): string => {
		const root = testFolder();
		for (const name of ["healthy", "repeats", "stall"]) addResult(root, name, resultOf(name));
		const sources = readRuns(root);
		const entries = Array.from({ length: count }, (_, i): Entry => {
			const source = sources[i % 3] as Entry;
			const { result } = source;
			const startedAt = day(count - i);
			return {
				...source,
				folder: `r${i}`,
				at: Date.parse(startedAt),
				result: result && { ...result, runs: result.runs.map((run) => ({ ...run, startedAt })) },
			};
		});
		return renderHtml(indexDocument(entries)).replace(SCRIPT, "");
	};

	test("take less than 1.5 MB besides the script, and each is there", () => {
		const html = many(500);
		expect(rowsOf(html)).toHaveLength(500);
		expect(html.length).toBeLessThan(1_500_000);
		// One run of two of the sources, six of the third: each is a point, and a row of a table.
		const all = 167 + 167 * 6 + 166;
		const data = figuresIn(html).flatMap(({ panels }) =>
			panels.flatMap(({ series }) => series.flatMap((one) => one.data)),
		);
		expect(data).toHaveLength(all);
	});
});
