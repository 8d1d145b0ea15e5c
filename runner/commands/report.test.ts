import {
	cpSync,
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	statSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { testFolder } from "../../infra/test-folder.fake.ts";
import { buildResult } from "../compare/build.ts";
import { firstRun, fixtureCopy } from "../evidence/fixture.fake.ts";
import { writeReports } from "../render/write.ts";
import { addResult, resultOf } from "../result/indexed.fake.ts";
import { readResult } from "../result/result-files.ts";
import { fakeWorld } from "../world.fake.ts";
import { report } from "./report.ts";

async function reported(cwd: string, folder = ".", more = {}) {
	const world = fakeWorld({ cwd });
	const code = await report({ folders: [folder], ...more }, world);
	return { code, out: world.out(), err: world.err() };
}
const read = (folder: string, file: string) => readFileSync(join(folder, file), "utf8");
const filesIn = (folder: string) => readdirSync(folder, { recursive: true, encoding: "utf8" });

describe("mqbench report", () => {
	test("writes every report from the files, prints the verdict, and gives its exit code", async () => {
		const folder = fixtureCopy("stall");
		const { code, out } = await reported(folder);
		expect(code).toBe(99);
		expect(out).toMatch(/FAIL {2}report\.html\n$/);
		expect(readResult(folder).verdict).toBe("fail");
		expect(read(folder, "report.md")).toContain("# stall: FAIL");
		expect(read(folder, "report.html")).toContain("<!doctype html>");
		const files = readdirSync(firstRun(folder)).filter((f) => f.endsWith(".hgrm"));
		expect(files).toEqual(["lag.hgrm", "queued.hgrm", "response.hgrm", "service.hgrm"]);
	});

	test("of a folder that cannot be written says where, what and what to do: exit code 3", async () => {
		const folder = fixtureCopy("healthy");
		// Unlike missing rights, a folder in the file's place also stops root.
		mkdirSync(join(folder, "report.md"));
		await expect(reported(folder)).rejects.toMatchObject({
			exit: 3,
			message: expect.stringMatching(
				/report\.md: cannot be written \(it is a folder\).*npx mqbench report /,
			),
		});
		expect(readdirSync(folder).filter((f) => f.endsWith(".part"))).toEqual([]);
		expect(existsSync(join(folder, "result.json"))).toBe(true);
	});

	test("of a folder without runs is one sentence and exit code 2", async () => {
		const [cut, empty] = [testFolder(), testFolder()];
		writeFileSync(join(cut, "result.json"), "{");
		for (const [folder, message] of [
			["/nowhere/at/all", "/nowhere/at/all: is not the folder of a run"],
			[
				cut,
				`${join(cut, "result.json")}: cannot be read (it is not JSON), and there are no measured files (runs/*/plan.json) to make it again. Give a folder that has them`,
			],
			[
				empty,
				`${empty}: is neither the folder of a run (there is no runs/*/plan.json in it) nor one that holds some. Measure something, e.g. npx mqbench scenarios/quickstart.yaml, and then: npx mqbench report reports`,
			],
		] as const)
			await expect(reported("/", folder)).rejects.toMatchObject({
				exit: 2,
				message: expect.stringContaining(message),
			});
	});
});

describe("mqbench report of a folder with a result and no measured files", () => {
	/** The rest of an old run: result.json and what `keep` matches. */
	const kept = (name: string, keep: RegExp) => {
		const whole = fixtureCopy(name);
		writeReports(whole, buildResult(whole));
		const folder = testFolder();
		for (const file of ["result.json", ...filesIn(whole)])
			if (file === "result.json" || keep.test(file)) cpSync(join(whole, file), join(folder, file));
		return { whole, folder };
	};

	test("makes the same reports from it and the details of its runs, and leaves those as they are", async () => {
		const { whole, folder } = kept("repeats", /details\.json$/);
		const result = read(folder, "result.json");
		expect((await reported(folder)).code).toBe(6);
		for (const file of ["comment.md", "junit.xml", "report.md", "result.csv"])
			expect([file, read(folder, file)]).toEqual([file, read(whole, file)]);
		expect(read(folder, "result.json")).toBe(result);
		expect(filesIn(folder).filter((f) => /hgrm|baseline/.test(f))).toEqual([]);
	});

	test("without the details says once what is lost, and has the same verdict and exit code", async () => {
		const { folder } = kept("stall", /scenario/);
		const { code, out } = await reported(folder);
		expect(code).toBe(99);
		expect(out.replaceAll(/\s+/g, " ")).toContain("The details.json of 1 of 1 run is missing");
		expect(read(folder, "report.html")).toContain("400ms");
		expect(filesIn(folder).filter((f) => f.startsWith("runs"))).toEqual([]);
	});

	test("draws the pictures that are left", async () => {
		const { folder } = kept("stall", /details\.json$/);
		const { code, out } = await reported(folder, ".", { svg: true });
		expect(code).toBe(0);
		expect(out).toContain("-heat.svg");
	});
});

describe("mqbench report of a folder of runs", () => {
	test("writes its index.html, judges nothing, and leaves the runs as they are", async () => {
		const cwd = testFolder();
		addResult(cwd, "reports/a", resultOf("stall"));
		addResult(cwd, "reports/published/b", resultOf("healthy"));
		const before = statSync(join(cwd, "reports/a/result.json")).mtimeMs;
		expect(await reported(cwd, "reports")).toEqual({
			code: 0,
			out: "2 results: reports/index.html\n",
			err: "",
		});
		const html = read(cwd, "reports/index.html");
		expect(html.includes('<a href="a/report.html">stall</a>')).toBe(true);
		expect(html.includes('<a href="published/b/report.html">')).toBe(true);
		expect(statSync(join(cwd, "reports/a/result.json")).mtimeMs).toBe(before);
		expect(readdirSync(join(cwd, "reports")).sort()).toEqual(["a", "index.html", "published"]);
	});

	test("lists what cannot be read, says why, and is no error for that", async () => {
		const folder = testFolder();
		addResult(folder, "good", resultOf("stall"));
		mkdirSync(join(folder, "cut"));
		writeFileSync(join(folder, "cut", "result.json"), '{"schema":');
		cpSync(fixtureCopy("healthy"), join(folder, "unfinished"), { recursive: true });
		const { code, out, err } = await reported(folder);
		expect(code).toBe(0);
		expect(out).toContain("3 results, 2 of them unreadable: ");
		expect(err.split("\n")).toEqual([
			"unfinished: The result.json cannot be read: there is no such file; npx mqbench report on this folder makes it.",
			"cut: The result.json cannot be read: it is not JSON; the measured files are not there to make it again.",
			"",
		]);
	});
});
