import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { Run } from "../../model/result.ts";
import { rowsOfCsv } from "../csv.fake.ts";
import { type Changes, resultOf, withP99 } from "../index/runs.fake.ts";
import { publishedFolder } from "../stored.fake.ts";
import { exported, exportedResults, PUBLISHED, publishedJson } from "./exported.fake.ts";

interface Series {
	readonly directions: Readonly<Record<string, number>>;
	readonly rows: Record<string, string>[];
	readonly numbers: Readonly<Record<string, number[]>>;
}

/**
 * Reads as Otava's CsvImporter does: the paths of its configuration from the folder that it runs in; every cell of a metric is a number, and not
 * NaN, with which it finds nothing; times are dates, ascending; attributes are copied.
 */
function read(files: Readonly<Record<string, string>>): Map<string, Series> {
	const { tests } = parse(files["otava.yaml"] ?? "");
	return new Map(
		// biome-ignore lint/suspicious/noExplicitAny: as it is written.
		Object.entries(tests as any).map(([name, test]: [string, any]) => {
			if (test.type !== "csv") throw new Error(test.type);
			if (!test.file.startsWith("out/")) throw new Error(test.file);
			const rows = rowsOfCsv(files[test.file.slice("out/".length)] ?? "");
			const column = (key: string) =>
				rows.map((row) => {
					const cell = row[key];
					if (cell === undefined) throw new Error(`Column not found: ${key}`);
					return cell;
				});
			for (const key of test.attributes) column(key);
			const times = column(test.time_column).map((cell) => Date.parse(cell));
			if (times.some((time, i) => !(time >= (times[i - 1] ?? 0))))
				throw new Error(`not in the order of time: ${times}`);
			const names = Object.keys(test.metrics);
			const numbers = names.map((key): [string, number[]] => [
				key,
				column(key).map((cell) => {
					if (cell === "" || Number.isNaN(Number(cell)))
						throw new Error(`Could not convert value in column ${key}`);
					return Number(cell);
				}),
			]);
			const directions = names.map((key) => [key, test.metrics[key].direction]);
			return [
				name,
				{ directions: Object.fromEntries(directions), rows, numbers: Object.fromEntries(numbers) },
			];
		}),
	);
}

const day = (n: number) => `2026-01-0${n}T12:00:00.000Z`;
const healthy = (n: number, more: Changes = {}) =>
	resultOf("healthy", { startedAt: day(n), ...more });
const NAME = "healthy: nats, 256B 1000/s";

describe.each(PUBLISHED)("otava's files of %s", (name) => {
	test("have a test for each run, with the figures of result.json in ms, to the nanosecond", () => {
		const tests = read(exported("otava", [publishedFolder(name)]).files);
		const result = publishedJson(name);
		const nameOf = (run: Run) => `${name}: ${run.system}, ${run.case}`;
		const runs: Run[] = result.runs;
		const git = result.environment?.git;
		expect(new Set(tests.keys())).toEqual(new Set(runs.map(nameOf)));
		for (const run of runs) {
			const found = tests.get(nameOf(run));
			const repeats = runs.filter((other) => nameOf(other) === nameOf(run));
			const row = repeats.indexOf(run);
			// What a fault did is tried in write.test.ts.
			const latencies = Object.entries(found?.numbers ?? {}).flatMap(([of, values]) =>
				of.startsWith("response") ? [[of, values[row]]] : [],
			);
			const m = run.metrics.response;
			const percentiles = m?.percentiles.filter((p) => p.value !== null) ?? [];
			expect(Object.fromEntries(latencies)).toEqual({
				...Object.fromEntries(
					percentiles.map((p) => [
						`response_p${p.p}_ms`,
						Number(((p.value ?? 0) / 1e6).toFixed(6)),
					]),
				),
				response_max_ms: Number(((m?.max ?? 0) / 1e6).toFixed(6)),
			});
			expect(found?.rows).toHaveLength(repeats.length);
			expect(found?.rows[row]).toMatchObject({
				time: run.startedAt,
				run_id: result.runId,
				repeat: `${run.repeat}`,
				commit: git ? `${git.commit}${git.dirty ? "-dirty" : ""}` : "",
				broker: run.versions?.server,
				weak: percentiles
					.filter((p) => p.support === "weak")
					.map((p) => `response_p${p.p}_ms`)
					.join(" "),
			});
			for (const direction of Object.values(found?.directions ?? {}))
				expect(direction, "less is better").toBe(-1);
		}
	});
});

test("a series goes on over reports, the oldest run first, each with its commit", () => {
	const git = (digit: string, dirty: boolean) => ({ git: { commit: digit.repeat(40), dirty } });
	const { files, out } = exportedResults(
		"otava",
		healthy(2, { run: withP99(2_500_001), ...git("b", true) }),
		healthy(3, { run: withP99(3e6) }),
		healthy(1, { run: withP99(1e6), ...git("a", false) }),
	);
	const series = read(files).get(NAME);
	expect(series?.numbers.response_p99_ms).toEqual([1, 2.500001, 3]);
	expect(series?.rows.map(({ commit }) => commit)).toEqual([
		"a".repeat(40),
		`${"b".repeat(40)}-dirty`,
		"",
	]);
	expect(series?.rows.map(({ run_id }) => run_id)).toEqual(["run-3", "run-1", "run-2"]);
	expect(out.at(-1)).toBe("otava --config-file out/otava.yaml analyze <test>");
});

test("every repeat is a row of its own; systems and cases are other series", () => {
	const passed = (run: Run): Run => ({ ...run, verdict: "pass" });
	const { files } = exportedResults(
		"otava",
		resultOf("repeats", { startedAt: day(1), run: passed }),
	);
	const tests = read(files);
	expect(tests.size).toBe(2);
	for (const { rows } of tests.values())
		expect(rows.map(({ repeat }) => repeat)).toEqual(["1", "2", "3"]);
});

test("another machine, other work or durability is another series; the oldest keeps the plain name", () => {
	const load = (changes: Partial<Run["load"]>) => (run: Run) => ({
		...run,
		load: { ...run.load, ...changes },
	});
	const all = [
		healthy(1),
		healthy(2, { cpu: "Other CPU" }),
		healthy(3, { run: load({ messageBytes: 512 }) }),
		healthy(4, { run: load({ durability: "fsync" }) }),
		healthy(5),
	];
	const first = read(exportedResults("otava", ...all).files);
	expect(first.size).toBe(4);
	expect(first.get(NAME)?.rows.map(({ time }) => time)).toEqual([day(1), day(5)]);
	// Those that are there already keep their names when results are added.
	const later = read(exportedResults("otava", ...all, healthy(6, { cpu: "A third" })).files);
	expect([...later.keys()]).toEqual(expect.arrayContaining([...first.keys()]));
});

test("on machines that nobody knows each report is a series of its own", () => {
	const { files } = exportedResults(
		"otava",
		healthy(1, { environment: null }),
		healthy(2, { environment: null }),
	);
	expect(read(files).size).toBe(2);
});

test("a percentile that some runs lack has a test of its own, of the runs that have it", () => {
	const without = (run: Run): Run => {
		const response = run.metrics.response;
		if (response === null) return run;
		const percentiles = response.percentiles.map((p) =>
			p.p === 99 ? { ...p, value: null, support: "none" as const, low: null, high: null } : p,
		);
		return { ...run, metrics: { ...run.metrics, response: { ...response, percentiles } } };
	};
	const tests = read(
		exportedResults("otava", healthy(1), healthy(2, { run: without }), healthy(3)).files,
	);
	expect(tests.get(NAME)?.rows).toHaveLength(3);
	expect(tests.get(NAME)?.numbers).not.toHaveProperty("response_p99_ms");
	const p99 = tests.get(`${NAME}: response p99`);
	expect(Object.keys(p99?.numbers ?? {})).toEqual(["response_p99_ms"]);
	expect(p99?.rows.map(({ time }) => time)).toEqual([day(1), day(3)]);
});

test("of a closed loop the throughput is watched too, and more of it is better", () => {
	const closed = (run: Run): Run => ({
		...run,
		load: { ...run.load, schedule: { ...run.load.schedule, kind: "closed" } },
	});
	const series = read(exportedResults("otava", healthy(1, { run: closed })).files).get(NAME);
	expect(series?.numbers.throughput_per_second).toEqual([healthy(1).runs[0]?.throughput.received]);
	expect(series?.directions.throughput_per_second).toBe(1);
});
