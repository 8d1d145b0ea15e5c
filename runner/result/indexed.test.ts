import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fixture } from "../evidence/fixture.fake.ts";
import { addResult, emptyFolder, resultOf } from "./indexed.fake.ts";
import { holdsRuns, readRuns } from "./indexed.ts";

describe("the runs of a folder", () => {
	test("are found in it and one level deeper, the newest first", () => {
		const root = emptyFolder();
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
		const root = emptyFolder();
		addResult(root, "a", resultOf("healthy"));
		addResult(root, "a/inner", resultOf("healthy"));
		symlinkSync(join(root, "a"), join(root, "latest"));
		expect(readRuns(root).map(({ folder }) => folder)).toEqual(["a"]);
	});

	test("have what their result.json says, and nothing computed anew", () => {
		const root = emptyFolder();
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
			scenario: "other name",
			verdict: "inconclusive",
			systems: ["nats", "kafka"],
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
		const root = emptyFolder();
		const result = resultOf("healthy");
		addResult(root, "x", {
			...result,
			later: 1,
			runs: result.runs.map((r) => ({ ...r, later: { a: 1 } })),
		});
		expect(readRuns(root)[0]?.problem).toBeNull();
	});

	test("names that mean something in a link are encoded, segment by segment", () => {
		const root = emptyFolder();
		addResult(root, `a#b?c%20"'<i>/é\u{1F4A5} &`, resultOf("healthy"));
		expect(readRuns(root)[0]?.href).toBe(
			"a%23b%3Fc%2520%22'%3Ci%3E/%C3%A9%F0%9F%92%A5%20%26/report.html",
		);
		const scheme = emptyFolder();
		addResult(scheme, "javascript:alert(1)", resultOf("healthy"));
		expect(readRuns(scheme)[0]?.href).toBe("javascript%3Aalert(1)/report.html");
	});

	test("without a report.html open report.md, or nothing", () => {
		const root = emptyFolder();
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
		const root = emptyFolder();
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

	test("missing: its raw files are there, so that it can be made", () => {
		const entry = problemOf((folder) => cpSync(fixture("stall"), folder, { recursive: true }));
		expect(entry?.problem).toBe(
			"There is no result.json: its command still runs, or was killed; mqbench report on this folder makes it anew",
		);
	});

	test("cut off, or no JSON", () => {
		const whole = JSON.stringify(resultOf("healthy"));
		for (const bad of [whole.slice(0, 1000), "", "\u0000"])
			expect(problemOf(text(bad))?.problem).toBe(
				"The result.json is not JSON; it may be cut off; the measured files are not there to make it anew",
			);
	});

	test("a folder in its place", () => {
		const entry = problemOf((folder) => mkdirSync(join(folder, "result.json")));
		expect(entry?.problem).toBe("The result.json cannot be read (EISDIR)");
	});

	test("of an older version", () => {
		const { main: _, ...old } = resultOf("stall").runs[0] ?? {};
		const entry = problemOf(text({ ...resultOf("stall"), runs: [old] }));
		expect(entry?.problem).toBe(
			"The result.json is not of this version of mqbench (runs.0.main does not fit); the measured files are not there to make it anew",
		);
	});

	test("of a newer schema", () => {
		const entry = problemOf(text({ ...resultOf("stall"), schema: 3 }));
		expect(entry?.problem).toBe(
			"The result.json has schema 3, and this mqbench knows 2: use the version that made it",
		);
	});

	test.each([null, 5, "text", [], {}, { runs: 5, verdict: "great" }])(
		"anything else: %j",
		(json) => {
			expect(problemOf(text(JSON.stringify(json)))).toMatchObject({
				scenario: null,
				verdict: null,
				systems: [],
				at: null,
			});
		},
	);
});

test("only a folder with runs/*/plan.json can be computed again", () => {
	expect(holdsRuns(fixture("healthy"))).toBe(true);
	expect(holdsRuns(fixture(""))).toBe(false);
	expect(holdsRuns("/nowhere/at/all")).toBe(false);
	expect(readRuns("/nowhere/at/all")).toEqual([]);
});
