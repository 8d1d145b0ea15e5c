import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { buildResult } from "../../compare/build.ts";
import { editJson, firstRun, fixtureCopy } from "../../evidence/fixture.fake.ts";
import { unpack } from "./archive.ts";
import { copyPublished } from "./copy.ts";

const HERE = { "bench-7": "this machine", "/home/me": "a folder of this machine" };
const COMMIT = "0123abcd";

/** Copies a run folder to a new folder beside it, after an edit. */
function copied(edit: (folder: string) => void = () => {}) {
	const folder = fixtureCopy("healthy");
	edit(folder);
	const target = path.join(folder, "published", "x");
	return { ...copyPublished(folder, target, COMMIT, HERE), folder, target };
}

const note = (text: string) => (folder: string) =>
	editJson(path.join(firstRun(folder), "run.json"), (file) => {
		file.notes = [text];
	});

describe("what is published", () => {
	test("is what figures are computed from, and the reports: no logs, nothing else that lies there", () => {
		const { folder, target, bytes, refused } = copied((of) => {
			writeFileSync(path.join(firstRun(of), "broker.log"), "bench-7 is up");
			writeFileSync(path.join(of, "notes.txt"), "bench-7");
		});
		expect(refused).toEqual([]);
		const names = readdirSync(target).sort();
		expect(names).toEqual([
			"environment.json",
			"report.html",
			"report.md",
			"result.json",
			"runs.tar.gz",
			"scenario.yaml",
		]);
		const raw = path.join(folder, "unpacked");
		mkdirSync(raw);
		unpack(target, raw);
		expect(readdirSync(raw).sort()).toEqual([
			"environment.json",
			"floors",
			"published.json",
			"runs",
			"scenario.yaml",
		]);
		expect(readdirSync(firstRun(raw))).not.toContain("broker.log");
		expect(bytes).toBeGreaterThan(10_000);
		expect(buildResult(raw)).toEqual(buildResult(folder));
		const about = readFileSync(path.join(raw, "published.json"), "utf8");
		expect(JSON.parse(about)).toEqual({ schema: 1, commit: COMMIT });
	});

	test.each([
		["the name of this machine", "started on bench-7", "this machine"],
		["a folder", "log in /home/me/x", "a folder of this machine"],
		["an address", "from 10.0.3.17:4222", "10.0.3.17"],
	])("never names %s", (_, text, what) => {
		const { refused, target } = copied(note(text));
		expect(refused).toContainEqual(
			expect.stringMatching(new RegExp(`^runs/.*/run\\.json names ${what}: take it out`)),
		);
		expect(existsSync(target)).toBe(false);
		expect(existsSync(`${target}.part`)).toBe(false);
	});

	test("may name what only begins like this machine, and addresses of this machine alone", () => {
		const { refused } = copied(note("bench-70 on 127.0.0.1:4222, 0.0.0.0"));
		expect(refused).toEqual([]);
	});

	test("is not larger than a repository can keep", () => {
		const { refused, target } = copied((folder) =>
			writeFileSync(path.join(firstRun(folder), "client-9.ledger"), randomBytes(33 * 2 ** 20)),
		);
		expect(refused).toEqual([
			expect.stringMatching(/^x has 3\d(\.\d)? ?MiB, and 32 ?MiB is the most/),
		]);
		expect(existsSync(target)).toBe(false);
	});
});
