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
import { buildResult } from "../compare/build.ts";
import { MqbenchError } from "../errors.ts";
import { firstRun, fixtureCopy } from "../evidence/fixture.fake.ts";
import { writeReports } from "../render/write.ts";
import { addResult, emptyFolder, resultOf } from "../result/indexed.fake.ts";
import { readResult } from "../result/result-files.ts";
import { fakeWorld } from "../world.fake.ts";
import { report } from "./report.ts";

describe("mqbench report", () => {
	test("writes every report from the files, prints the verdict, and gives its exit code", async () => {
		const folder = fixtureCopy("stall");
		const world = fakeWorld({ cwd: folder });
		expect(await report({ folders: ["."] }, world)).toBe(99);
		expect(world.out()).toMatch(/FAIL {2}report\.html\n$/);
		const result = readResult(folder);
		expect(result.verdict).toBe("fail");
		expect(readFileSync(join(folder, "report.md"), "utf8")).toContain("# stall: FAIL");
		expect(readFileSync(join(folder, "report.html"), "utf8")).toContain("<!doctype html>");
		const files = readdirSync(firstRun(folder)).filter((f) => f.endsWith(".hgrm"));
		expect(files).toEqual(["lag.hgrm", "queued.hgrm", "response.hgrm", "service.hgrm"]);
	});

	test("gives the same bytes again, and leaves no temporary files", async () => {
		const folder = fixtureCopy("repeats");
		const read = () =>
			["result.json", "report.md", "report.html"].map((f) => readFileSync(join(folder, f), "utf8"));
		await report({ folders: [folder] }, fakeWorld());
		const first = read();
		await report({ folders: [folder] }, fakeWorld());
		expect(read()).toEqual(first);
		expect(
			readdirSync(folder, { recursive: true }).filter((f) => String(f).endsWith(".part")),
		).toEqual([]);
	});

	test("of a folder that is none of a run is one sentence and exit code 2", async () => {
		const error = await report({ folders: ["/nowhere/at/all"] }, fakeWorld()).catch((e) => e);
		expect(error).toBeInstanceOf(MqbenchError);
		expect(error.exit).toBe(2);
		expect(error.message).toContain("/nowhere/at/all: is not the folder of a run");
	});

	test("of a folder that cannot be written says where, what and what to do: exit code 3", async () => {
		const folder = fixtureCopy("healthy");
		// A folder in the place of a file fails for everybody; rights alone would not stop root.
		mkdirSync(join(folder, "report.md"));
		const error = await report({ folders: [folder] }, fakeWorld()).catch((e) => e);
		expect(error).toBeInstanceOf(MqbenchError);
		expect(error.exit).toBe(3);
		expect(error.message).toMatch(
			/report\.md: cannot be written \(it is a folder\).*mqbench report /,
		);
		expect(readdirSync(folder).filter((f) => f.endsWith(".part"))).toEqual([]);
		// The others are written all the same.
		expect(existsSync(join(folder, "result.json"))).toBe(true);
	});
});

describe("mqbench report of a folder with a result and no measured files", () => {
	/** All that is kept of a run of some time ago: its result.json, and what `keep` says. */
	const kept = (name: string, keep: RegExp) => {
		const whole = fixtureCopy(name);
		writeReports(whole, buildResult(whole));
		const folder = emptyFolder();
		for (const file of ["result.json", ...filesIn(whole)])
			if (file === "result.json" || keep.test(file)) cpSync(join(whole, file), join(folder, file));
		return { whole, folder };
	};
	const filesIn = (folder: string) => readdirSync(folder, { recursive: true, encoding: "utf8" });
	const REPORTS = ["comment.md", "junit.xml", "report.md", "result.csv"];

	test("makes the same reports from it and the details of its runs, and leaves those as they are", async () => {
		const { whole, folder } = kept("repeats", /details\.json$/);
		const result = readFileSync(join(folder, "result.json"), "utf8");
		const world = fakeWorld({ cwd: folder });
		expect(await report({ folders: ["."] }, world)).toBe(6);
		for (const file of REPORTS)
			expect([file, readFileSync(join(folder, file), "utf8")]).toEqual([
				file,
				readFileSync(join(whole, file), "utf8"),
			]);
		expect(readFileSync(join(folder, "result.json"), "utf8")).toBe(result);
		expect(filesIn(folder).filter((f) => /hgrm|baseline/.test(f))).toEqual([]);
	});

	test("without the details says once what is lost, and has the same verdict and exit code", async () => {
		const { folder } = kept("stall", /scenario/);
		const world = fakeWorld({ cwd: folder });
		expect(await report({ folders: ["."] }, world)).toBe(99);
		expect(world.out().replaceAll(/\s+/g, " ")).toContain(
			"The details.json of 1 of 1 run is missing",
		);
		expect(readFileSync(join(folder, "report.html"), "utf8")).toContain("400ms");
		expect(filesIn(folder).filter((f) => f.startsWith("runs"))).toEqual([]);
	});

	test("draws the pictures that are left", async () => {
		const { folder } = kept("stall", /details\.json$/);
		const world = fakeWorld({ cwd: folder });
		expect(await report({ folders: ["."], svg: true }, world)).toBe(0);
		expect(world.out()).toContain("-heat.svg");
	});

	test("that is cut off is one sentence, and exit code 2", async () => {
		const folder = emptyFolder();
		writeFileSync(join(folder, "result.json"), "{");
		const error = await report({ folders: [folder] }, fakeWorld()).catch((e) => e);
		expect(error).toBeInstanceOf(MqbenchError);
		expect(error.exit).toBe(2);
		expect(error.message).toBe(
			`${join(folder, "result.json")}: cannot be read (it is not JSON), and there are no measured files (runs/*/plan.json) to make it anew. Give a folder that has them`,
		);
	});
});

describe("mqbench report of a folder of runs", () => {
	test("writes its index.html, judges nothing, and leaves the runs as they are", async () => {
		const cwd = emptyFolder();
		addResult(cwd, "reports/a", resultOf("stall"));
		addResult(cwd, "reports/published/b", resultOf("healthy"));
		const before = statSync(join(cwd, "reports/a/result.json")).mtimeMs;
		const world = fakeWorld({ cwd });
		expect(await report({ folders: ["reports"] }, world)).toBe(0);
		expect(world.out()).toBe("2 results: reports/index.html\n");
		expect(world.err()).toBe("");
		const html = readFileSync(join(cwd, "reports", "index.html"), "utf8");
		expect(html.includes('<a href="a/report.html">stall</a>')).toBe(true);
		expect(html.includes('<a href="published/b/report.html">')).toBe(true);
		expect(statSync(join(cwd, "reports/a/result.json")).mtimeMs).toBe(before);
		expect(readdirSync(join(cwd, "reports")).sort()).toEqual(["a", "index.html", "published"]);
	});

	test("lists what cannot be read, says why, and is no error for that", async () => {
		const folder = emptyFolder();
		addResult(folder, "good", resultOf("stall"));
		mkdirSync(join(folder, "cut"));
		writeFileSync(join(folder, "cut", "result.json"), '{"schema":');
		cpSync(fixtureCopy("healthy"), join(folder, "unfinished"), { recursive: true });
		const world = fakeWorld();
		expect(await report({ folders: [folder] }, world)).toBe(0);
		expect(world.out()).toContain("3 results, 2 of them unreadable: ");
		expect(world.err().split("\n")).toEqual([
			"unfinished: The result.json cannot be read: there is no such file; mqbench report on this folder makes it anew.",
			"cut: The result.json cannot be read: it is not JSON; the measured files are not there to make it anew.",
			"",
		]);
	});

	test("that holds none is one sentence that says what to do, and exit code 2", async () => {
		const folder = emptyFolder();
		const error = await report({ folders: [folder] }, fakeWorld()).catch((e) => e);
		expect(error).toBeInstanceOf(MqbenchError);
		expect(error.exit).toBe(2);
		expect(error.message).toBe(
			`${folder}: is neither the folder of a run (there is no runs/*/plan.json in it) nor one that holds some. Measure something, e.g. mqbench scenarios/quickstart.yaml, and then: mqbench report reports`,
		);
		expect(readdirSync(folder)).toEqual([]);
	});
});
