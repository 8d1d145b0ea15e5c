import { mkdirSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import type { System } from "../../runner/scenario/scenario.ts";
import { script, testFolder } from "../test-folder.fake.ts";
import { findProgram } from "./program.ts";

const INSTALL = { linux: "apt", darwin: "brew", other: "download" };

function find(binary: string | null, folder: string, platform: NodeJS.Platform = "linux") {
	return findProgram(
		{ key: "mine", binary } as System,
		["mqbench-first", "mqbench-second"],
		INSTALL,
		{ PATH: `/nowhere:${folder}` },
		platform,
	);
}

describe("a broker's program", () => {
	test("is the first of its names that is on PATH", () => {
		const folder = testFolder();
		const second = script(path.join(folder, "mqbench-second"), "");
		expect(find(null, folder)).toBe(second);
		const first = script(path.join(folder, "mqbench-first"), "");
		expect(find(null, folder)).toBe(first);
	});

	test("is the one that the scenario names, by path or by name", () => {
		const folder = testFolder();
		const own = script(path.join(folder, "own"), "");
		expect(find(own, "/nowhere")).toBe(own);
		expect(find("own", folder)).toBe(own);
	});

	test.each([
		["linux", "apt"],
		["darwin", "brew"],
		["win32", "download"],
	] as const)(
		"that is missing on %s is a sentence with the way to install it there",
		(platform, way) => {
			expect(() => find(null, testFolder(), platform)).toThrow(
				expect.objectContaining({
					code: "broker-missing",
					exit: 3,
					message: `mine: mqbench-first or mqbench-second is not on PATH. Install it: ${way}; or name one that you have: binary: /path/to/mqbench-first.`,
				}),
			);
		},
	);

	test("that is a folder, or not there, is none", () => {
		const folder = testFolder();
		mkdirSync(path.join(folder, "mqbench-first"));
		expect(() => find(null, folder)).toThrow("is not on PATH");
		expect(() => find(folder, folder)).toThrow(
			`${folder} (binary) is not a program that can be run. Correct binary`,
		);
		expect(() => find("own", folder)).toThrow("own (binary) is not on PATH");
	});
});
