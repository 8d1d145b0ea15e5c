import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { testFolder } from "../../infra/test-folder.fake.ts";
import { fixture } from "../evidence/fixture.fake.ts";
import { addResult, resultOf } from "./indexed.fake.ts";
import { holdsRuns, readRuns } from "./indexed.ts";

describe("the runs of a folder", () => {
	test("are found in it and one level deeper, the newest first", () => {
		const root = testFolder();
		const on = (day: number) => resultOf("healthy", { startedAt: `2026-01-0${day}T00:00:00Z` });
		addResult(root, "b", on(2));
		addResult(root, "a", on(3));
		addResult(root, "published/old", on(1));
		addResult(root, "published/new", on(4));
		addResult(root, "too/deep/by-one", on(5));
		addResult(root, ".hidden", on(6));
		expect(readRuns(root).map(({ folder }) => folder)).toEqual([
			"published/new",
			"a",
			"b",
			"published/old",
		]);
	});

	test("are not looked for within a run, nor behind a link, which would show them twice", () => {
		const root = testFolder();
		addResult(root, "a", resultOf("healthy"));
		addResult(root, "a/inner", resultOf("healthy"));
		symlinkSync(join(root, "a"), join(root, "latest"));
		expect(readRuns(root).map(({ folder }) => folder)).toEqual(["a"]);
	});

	test("have what their result.json says, and nothing computed anew", () => {
		const root = testFolder();
		const result = resultOf("repeats", {
			startedAt: "2026-01-02T03:04:05Z",
			scenario: "other name",
		});
		addResult(root, "x", result);
		const [entry] = readRuns(root);
		expect(entry).toMatchObject({
			folder: "x",
			href: "x/report.html",
			at: Date.parse("2026-01-02T03:04:05Z"),
			result: { scenario: "other name", verdict: "inconclusive" },
			problem: null,
		});
		expect(entry?.result?.runs).toHaveLength(result.runs.length);
		entry?.result?.runs.forEach((run, i) => {
			expect(run.metrics.response?.percentiles).toEqual(
				result.runs[i]?.metrics.response?.percentiles,
			);
		});
	});

	test("whose result has fields that are not known yet are read all the same", () => {
		const root = testFolder();
		const result = resultOf("healthy");
		addResult(root, "x", {
			...result,
			later: 1,
			runs: result.runs.map((r) => ({ ...r, later: { a: 1 } })),
		});
		expect(readRuns(root)[0]?.problem).toBeNull();
	});

	test("names that mean something in a link are encoded, segment by segment", () => {
		const root = testFolder();
		addResult(root, `a#b?c%20"'<i>/é\u{1F4A5} &`, resultOf("healthy"));
		expect(readRuns(root)[0]?.href).toBe(
			"a%23b%3Fc%2520%22'%3Ci%3E/%C3%A9%F0%9F%92%A5%20%26/report.html",
		);
		const scheme = testFolder();
		addResult(scheme, "javascript:alert(1)", resultOf("healthy"));
		expect(readRuns(scheme)[0]?.href).toBe("javascript%3Aalert(1)/report.html");
	});

	test("without a report.html open report.md, or nothing", () => {
		const root = testFolder();
		addResult(root, "none", resultOf("healthy"), { report: false });
		addResult(root, "md", resultOf("healthy"), { report: false });
		writeFileSync(join(root, "md", "report.md"), "# x");
		expect(Object.fromEntries(readRuns(root).map((e) => [e.folder, e.href]))).toEqual({
			none: null,
			md: "md/report.md",
		});
	});
});

describe("a result.json that cannot be shown is listed with a sentence", () => {
	const problemOf = (write: (folder: string) => void) => {
		const root = testFolder();
		const folder = join(root, "x");
		mkdirSync(folder);
		write(folder);
		const entries = readRuns(root);
		expect(entries).toHaveLength(1);
		expect(entries[0]?.result).toBeNull();
		return entries[0];
	};
	const text = (json: unknown) => (folder: string) =>
		writeFileSync(
			join(folder, "result.json"),
			typeof json === "string" ? json : JSON.stringify(json),
		);

	const healthy = () => resultOf("healthy");
	const { main: _, ...old } = resultOf("stall").runs[0] ?? {};
	test.each([
		["cut off", text(JSON.stringify(healthy()).slice(0, 1000)), "it is not JSON"],
		["empty", text(""), "it is empty"],
		["no text", text("\u0000"), "it is not JSON"],
		["a folder", (folder: string) => mkdirSync(join(folder, "result.json")), "it is a folder"],
		["of an older version", text({ ...healthy(), runs: [old] }), /^runs\.0\.main: /],
		["of a newer schema", text({ ...healthy(), schema: 3 }), /^schema: /],
		...[null, 5, "[]", {}, { runs: 5, verdict: "great" }].map(
			(json) => [JSON.stringify(json), text(json), /./] as const,
		),
	] as const)("%s", (_, write, reason) => {
		const [, why] =
			/^The result\.json cannot be read: (.*); the measured files are not there to make it again$/.exec(
				problemOf(write)?.problem ?? "",
			) ?? [];
		expect(why).toMatch(reason);
	});

	test("with its raw files there, from which it can be made", () => {
		const entry = problemOf((folder) => cpSync(fixture("stall"), folder, { recursive: true }));
		expect(entry?.problem).toMatch(
			/: there is no such file; npx mqbench report on this folder makes it$/,
		);
	});
});

test("only a folder with runs/*/plan.json can be computed again", () => {
	expect(holdsRuns(fixture("healthy"))).toBe(true);
	expect(holdsRuns(fixture(""))).toBe(false);
	expect(holdsRuns("/nowhere/at/all")).toBe(false);
	expect(readRuns("/nowhere/at/all")).toEqual([]);
});
