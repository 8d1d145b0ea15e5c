import { spawnSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { testFolder } from "../../infra/test-folder.fake.ts";
import { report } from "../commands/report.ts";
import { buildResult } from "../compare/build.ts";
import { fixtureCopy } from "../evidence/fixture.fake.ts";
import { writeReports } from "../render/write.ts";
import { fakeWorld } from "../world.fake.ts";
import { readResult } from "./result-files.ts";

function given(): { folder: string; runs: readonly string[] } {
	const folder = fixtureCopy("repeats");
	return { folder, runs: readdirSync(path.join(folder, "runs")).sort() };
}

/** Nothing may change this user's file. */
function mine(): { folder: string; file: string } {
	const folder = testFolder();
	const file = path.join(folder, "mine");
	writeFileSync(file, "precious");
	return { folder, file };
}

async function reported(folder: string) {
	const world = fakeWorld({ cwd: path.dirname(folder) });
	const code = await report({ folders: [folder] }, world);
	return { code, out: world.out() + world.err() };
}

describe("the folder of somebody else", () => {
	test("has links in place of reports, of their temporary files and of folders: nothing is written through them", async () => {
		const { folder } = given();
		const { folder: elsewhere, file } = mine();
		for (const name of ["report.html", "result.json.tmp", "result.json.part"]) {
			rmSync(path.join(folder, name), { force: true });
			symlinkSync(file, path.join(folder, name));
		}
		for (const name of ["svg", "export"]) symlinkSync(elsewhere, path.join(folder, name));
		await reported(folder);
		const world = fakeWorld({ cwd: folder });
		await expect(report({ folders: ["."], svg: true }, world)).rejects.toMatchObject({
			code: "report-unwritable",
		});
		expect(readFileSync(file, "utf8")).toBe("precious");
		expect(readdirSync(elsewhere)).toEqual(["mine"]);
	});

	test("has a run that is a link to another folder: it is left out, and said", async () => {
		const { folder, runs } = given();
		const [first = ""] = runs;
		const { folder: elsewhere } = mine();
		const run = path.join(folder, "runs", first);
		cpSync(run, path.join(elsewhere, first), { recursive: true });
		rmSync(run, { recursive: true });
		symlinkSync(path.join(elsewhere, first), run);
		const before = readdirSync(path.join(elsewhere, first));
		const { code, out } = await reported(folder);
		expect(code).toBe(3);
		expect(out).toContain(`runs/${first}/plan.json`);
		expect(out).toContain("symbolic link");
		expect(readdirSync(path.join(elsewhere, first))).toEqual(before);
	});

	test.each(["../../dev/zero", "../mine", "/dev/zero", "runs/link/mine", "runs/pipe"])(
		"names the details %s: they are none, and nobody waits for them",
		(details) => {
			const { folder } = given();
			const result = buildResult(folder);
			writeReports(folder, result);
			const file = path.join(folder, "result.json");
			const text = readFileSync(file, "utf8");
			const { folder: elsewhere } = mine();
			symlinkSync(elsewhere, path.join(folder, "runs", "link"));
			spawnSync("mkfifo", [path.join(folder, "runs", "pipe")]);
			const own = result.runs[0]?.details ?? "";
			cpSync(path.join(folder, own), path.join(elsewhere, "mine"));
			cpSync(path.join(folder, own), path.join(folder, "..", "mine"));
			writeFileSync(file, text.replace(own, details));
			const [first, second] = readResult(folder).runs;
			expect(first?.details).toBe(null);
			expect(second?.details).not.toBe(null);
			rmSync(path.join(folder, "..", "mine"));
		},
	);

	test.each([
		["scenario.yaml", 0],
		["command.json", 0],
		["environment.json", 3],
	])("has %s as a link: nothing of what it leads to is read", async (name, exit) => {
		const { folder } = given();
		const { file } = mine();
		const sane = (await reported(folder)).code;
		rmSync(path.join(folder, name), { force: true });
		symlinkSync(file, path.join(folder, name));
		const { code, out } = await reported(folder);
		expect(code).toBe(exit || sane);
		const page = readFileSync(path.join(folder, "report.html"), "utf8");
		expect(page + out).not.toContain("precious");
	});
});

describe("a folder with a damaged file", () => {
	const damage = (file: string) => writeFileSync(file, "");

	test("run.json: the run has its figures, and is an error that says what is not known", async () => {
		const { folder, runs } = given();
		damage(path.join(folder, "runs", runs[0] ?? "", "run.json"));
		const { runs: all, damaged } = buildResult(folder);
		expect(damaged).toBeUndefined();
		expect(all[0]).toMatchObject({
			verdict: "error",
			state: "crashed",
			why: expect.stringContaining(
				"run.json cannot be read (it is empty), so how the run ended is not known",
			),
			window: expect.anything(),
		});
		expect(all[0]?.metrics.response?.count).toBeGreaterThan(0);
		expect(all[1]?.verdict).not.toBe("error");
		expect((await reported(folder)).code).toBe(3);
	});

	test.each([
		["plan.json of a run", "runs", "this run is left out"],
		["environment.json", "environment.json", "the machine is not known"],
		["against.json", "against.json", "nothing is compared with the baseline"],
	])("%s: the rest is reported, with what is missing", async (_, what, words) => {
		const { folder, runs } = given();
		const name = what === "runs" ? `runs/${runs[0]}/plan.json` : what;
		damage(path.join(folder, name));
		const { code, out } = await reported(folder);
		expect(code).toBe(3);
		expect(out).toContain(name);
		expect(out.replaceAll(/\s+/g, " ")).toContain(words);
		expect(out).not.toMatch(/Make the run again/);
		const { damaged, runs: left } = readResult(folder);
		expect(damaged).toEqual([{ file: name, why: expect.stringContaining(words) }]);
		expect(left).toHaveLength(what === "runs" ? runs.length - 1 : runs.length);
		for (const file of ["report.md", "report.html", "junit.xml"])
			expect(readFileSync(path.join(folder, file), "utf8")).toContain(name);
	});

	test("every plan.json: the reports are made from result.json, if that is whole", async () => {
		const { folder, runs } = given();
		const { code } = await reported(folder);
		for (const run of runs) damage(path.join(folder, "runs", run, "plan.json"));
		expect((await reported(folder)).code).toBe(code);
		rmSync(path.join(folder, "result.json"));
		await expect(reported(folder)).rejects.toMatchObject({
			code: "run-file-unreadable",
			message: expect.stringMatching(/plan\.json: cannot be read \(it is empty\)\. Copy it again/),
		});
	});
});
