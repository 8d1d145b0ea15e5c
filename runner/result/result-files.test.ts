import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { testFolder } from "../../infra/test-folder.fake.ts";
import { readBaseline } from "../compare/baseline-file.ts";
import { baselineOf } from "../compare/baseline-of-result.ts";
import { buildResult } from "../compare/build.ts";
import { fixtureCopy } from "../evidence/fixture.fake.ts";
import { DetailsFile, type Result, ResultFile } from "../model/result.ts";
import { FIXTURES, manyResult, searchedResult } from "../page/pages.fake.ts";
import { writeReports } from "../render/write.ts";
import { readRuns } from "./indexed.ts";
import { detailsPath, filesOfResult, readResult } from "./result-files.ts";
import { fixtureResult } from "./stored.fake.ts";

function written(result: Result): string {
	const folder = testFolder();
	for (const [path, text] of filesOfResult(result)) {
		mkdirSync(dirname(join(folder, path)), { recursive: true });
		writeFileSync(join(folder, path), text);
	}
	return folder;
}

const plain = (value: unknown) => JSON.parse(JSON.stringify(value));

const read = (folder: string, path = "result.json") =>
	JSON.parse(readFileSync(join(folder, path), "utf8"));

function change(path: string, fields: object): void {
	const text = readFileSync(path, "utf8");
	writeFileSync(path, JSON.stringify({ ...JSON.parse(text), ...fields }));
}

function folderInPlaceOf(path: string): void {
	rmSync(path);
	mkdirSync(path);
}

/** With details in each run's own folder, as those of a fake are not. */
function apart(result: Result): Result {
	const runs = result.runs.map((run) => ({ ...run, details: detailsPath(run) }));
	return { ...result, runs };
}

const RESULTS: readonly [string, Result][] = [
	...FIXTURES.map((name): [string, Result] => [name, fixtureResult(name)]),
	["a search", apart(searchedResult())],
	["4 runs", apart(manyResult(4))],
];

describe("a result", () => {
	test.each(RESULTS)("of %s is what its schemas say, and the same when read again", (_, result) => {
		const folder = written(result);
		const file = read(folder);
		expect(ResultFile.parse(file)).toEqual(file);
		for (const { details } of file.runs) {
			const beside = read(folder, details);
			expect(DetailsFile.parse(beside)).toEqual(beside);
		}
		expect(readResult(folder)).toEqual(plain(result));
	});

	test("names the details of each run, and is written after them", () => {
		const result = fixtureResult("repeats");
		const paths = [...filesOfResult(result).keys()];
		const folders = result.runs.map((run) => run.folder);
		expect(paths).toEqual([...folders.map((folder) => `${folder}/details.json`), "result.json"]);
	});
});

describe("result.json", () => {
	test("of 60 runs takes 16 kB for each, a quarter of what they take in one file", () => {
		const result = apart(manyResult(60));
		const files = filesOfResult(result);
		const bytes = Buffer.byteLength(files.get("result.json") ?? "");
		expect(bytes).toBeLessThan(60 * 16_000);
		const all = [...files.values()].map((text) => Buffer.byteLength(text));
		expect(all).toHaveLength(61);
		expect(all.reduce((a, b) => a + b)).toBeGreaterThan(4 * bytes);
		// Seconds, ticks, heat, resources and curves of a run of 45 s to 2 min.
		for (const details of all.slice(0, -1)) expect(details).toBeLessThan(200_000);
	});
});

describe("details that are missing", () => {
	test.each<[string, (file: string) => void]>([
		["deleted", (file) => rmSync(file)],
		["cut off", (file) => writeFileSync(file, '{"schema": 1, "runId"')],
		["a folder", folderInPlaceOf],
		["of a later schema", (file) => change(file, { schema: 2 })],
		["of another result", (file) => change(file, { runId: "x" })],
		[
			"left by a first try of the run",
			(file) => change(file, { startedAt: "2025-12-31T00:00:00Z" }),
		],
	])("%s: the run has all but them, and the others are whole", (_, spoil) => {
		const result = fixtureResult("repeats");
		const folder = written(result);
		const [first, ...others] = result.runs;
		spoil(join(folder, first?.details ?? ""));
		const found = readResult(folder);
		expect(found.runs.slice(1)).toEqual(plain(others));
		expect(found.runs[0]).toMatchObject({
			details: null,
			series: { seconds: [], ticks: [], heat: null },
			slowest: [],
		});
		expect(found.runs[0]?.metrics.response?.percentiles).toEqual(
			first?.metrics.response?.percentiles,
		);
		expect(found.gates).toEqual(plain(result.gates));
	});
});

describe("writing", () => {
	const failing = (path: (result: Result) => string) => {
		const folder = fixtureCopy("repeats");
		const result = buildResult(folder);
		mkdirSync(join(folder, path(result)));
		expect(() => writeReports(folder, result)).toThrow("cannot be written");
		return { folder, result };
	};

	test("where result.json cannot be written, what it would name is there whole", () => {
		const { folder, result } = failing(() => "result.json");
		for (const { details } of result.runs)
			expect(DetailsFile.parse(read(folder, details ?? "")).schema).toBe(1);
	});

	test("where details cannot be written, result.json is, and can be read", () => {
		const { folder, result } = failing(({ runs }) => runs[1]?.details ?? "");
		const found = readResult(folder).runs;
		expect(found.map(({ details }) => details)).toEqual(
			result.runs.map(({ details }, i) => (i === 1 ? null : details)),
		);
	});
});

describe("a result.json that cannot be read is one sentence, and exit code 2", () => {
	test.each<[string, (folder: string) => void, string]>([
		["is missing", () => {}, "there is no such file"],
		["is cut off", (folder) => writeFileSync(join(folder, "result.json"), "{"), "it is not JSON"],
		[
			"is of another schema",
			(folder) => {
				const other = { ...fixtureResult("stall"), schema: 3 };
				writeFileSync(join(folder, "result.json"), JSON.stringify(other));
			},
			"schema: Invalid input: expected 2",
		],
	])("where it %s", (_, prepare, reason) => {
		const folder = testFolder();
		prepare(folder);
		expect(() => readResult(folder)).toThrow(
			expect.objectContaining({
				exit: 2,
				message: expect.stringContaining(`result.json: cannot be read (${reason})`),
			}),
		);
	});
});

describe("index and comparison read result.json alone", () => {
	const alone = (result: Result) => {
		const root = testFolder();
		const folder = join(root, "x");
		cpSync(written(result), folder, { recursive: true });
		rmSync(join(folder, "runs"), { recursive: true });
		expect(readdirSync(folder)).toEqual(["result.json"]);
		return { root, folder };
	};

	test("of 60 runs the index shows what it shows of a result in one file", () => {
		const result = apart(manyResult(60));
		const { root, folder } = alone(result);
		const [entry] = readRuns(root);
		expect(entry?.problem).toBeNull();
		expect(entry?.result?.runs).toHaveLength(60);
		writeFileSync(join(folder, "result.json"), JSON.stringify(result));
		expect(readRuns(root)).toEqual([entry]);
	});

	test.each(["repeats", "failover"])("%s: a comparison has the figures of the whole", (name) => {
		const result = fixtureResult(name);
		expect(readBaseline(alone(result).folder)).toEqual(baselineOf(result));
	});
});
