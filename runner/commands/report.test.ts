import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { MqbenchError } from "../errors.ts";
import { Result } from "../report/summary.ts";
import { firstRun, fixtureCopy } from "../run/fixture.fake.ts";
import { fakeWorld } from "../world.fake.ts";
import { report } from "./report.ts";

describe("mqbench report", () => {
	test("writes every report from the files, prints the verdict, and gives its exit code", async () => {
		const folder = fixtureCopy("stall");
		const world = fakeWorld({ cwd: folder });
		expect(await report({ folder: "." }, world)).toBe(99);
		expect(world.out()).toMatch(/FAIL {2}report\.html\n$/);
		const result = Result.parse(
			JSON.parse(readFileSync(join(folder, "result.json"), "utf8")),
		);
		expect(result.verdict).toBe("fail");
		expect(readFileSync(join(folder, "report.md"), "utf8")).toContain(
			"# stall: FAIL",
		);
		expect(readFileSync(join(folder, "report.html"), "utf8")).toContain(
			"<!doctype html>",
		);
		const files = readdirSync(firstRun(folder)).filter((f) =>
			f.endsWith(".hgrm"),
		);
		expect(files).toEqual([
			"lag.hgrm",
			"queued.hgrm",
			"response.hgrm",
			"service.hgrm",
		]);
	});

	test("gives the same bytes again, and leaves no temporary files", async () => {
		const folder = fixtureCopy("repeats");
		const read = () =>
			["result.json", "report.md", "report.html"].map((f) =>
				readFileSync(join(folder, f), "utf8"),
			);
		await report({ folder }, fakeWorld());
		const first = read();
		await report({ folder }, fakeWorld());
		expect(read()).toEqual(first);
		expect(
			readdirSync(folder, { recursive: true }).filter((f) =>
				String(f).endsWith(".tmp"),
			),
		).toEqual([]);
	});

	test("of a folder that is none of a run is one sentence and exit code 2", async () => {
		const error = await report(
			{ folder: "/nowhere/at/all" },
			fakeWorld(),
		).catch((e) => e);
		expect(error).toBeInstanceOf(MqbenchError);
		expect(error.exit).toBe(2);
		expect(error.message).toContain(
			"/nowhere/at/all: is not the folder of a run",
		);
	});

	test("of a folder that cannot be written says where, what and what to do: exit code 3", async () => {
		const folder = fixtureCopy("healthy");
		// A folder in the place of a file fails for everybody; rights alone would not stop root.
		mkdirSync(join(folder, "report.md"));
		const error = await report({ folder }, fakeWorld()).catch((e) => e);
		expect(error).toBeInstanceOf(MqbenchError);
		expect(error.exit).toBe(3);
		expect(error.message).toMatch(
			/report\.md: cannot be written \(EISDIR\).*mqbench report /,
		);
		expect(existsSync(join(folder, "report.md.tmp"))).toBe(false);
		expect(existsSync(join(folder, "result.json"))).toBe(false);
	});
});
