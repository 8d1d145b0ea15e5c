import { mkdirSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import type { StartedSystem } from "../../runner/brokers/process.ts";
import { script, testFolder } from "../test-folder.fake.ts";
import { findProgram } from "./program.ts";

function find(binary: string | null, folder: string, option?: "command") {
	const env = { PATH: `/nowhere:${folder}` };
	return findProgram({ key: "mine", binary, option } as StartedSystem, env, {
		name: "mqbench-own",
		install: "apt",
	});
}

describe("a broker's program", () => {
	test("is the one of its name that is on PATH", () => {
		const folder = testFolder();
		const own = script(path.join(folder, "mqbench-own"), "");
		expect(find(null, folder)).toBe(own);
	});

	test("is the one that the scenario names, by path or by name", () => {
		const folder = testFolder();
		const own = script(path.join(folder, "own"), "");
		expect(find(own, "/nowhere")).toBe(own);
		expect(find("own", folder)).toBe(own);
	});

	test("that is missing is a sentence with the way to install it", () => {
		expect(() => find(null, testFolder())).toThrow(
			expect.objectContaining({
				code: "broker-missing",
				exit: 3,
				message:
					"mine: mqbench-own is not on PATH. Install it: apt; or name one that you have: binary: /path/to/mqbench-own.",
			}),
		);
	});

	test("that is a folder, or not there, is none", () => {
		const folder = testFolder();
		mkdirSync(path.join(folder, "mqbench-own"));
		expect(() => find(null, folder)).toThrow("is not on PATH");
		expect(() => find(folder, folder)).toThrow(
			`${folder} (binary) is not a program that can be run. Correct binary`,
		);
		expect(() => find("own", folder)).toThrow("own (binary) is not on PATH");
		expect(() => find("own", folder, "command")).toThrow(
			"own (command) is not on PATH. Correct command.",
		);
	});
});
