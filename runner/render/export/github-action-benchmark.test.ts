import { describe, expect, test } from "vitest";
import type { Run } from "../../model/result.ts";
import { resultOf } from "../../result/indexed.fake.ts";
import { fixtureResult, publishedFolder } from "../../result/stored.fake.ts";
import { exported, exportedResults, PUBLISHED, publishedJson } from "./exported.fake.ts";

const SMALLER = "customSmallerIsBetter.json";
const BIGGER = "customBiggerIsBetter.json";

interface Entry {
	readonly name: string;
	readonly value: number;
	readonly unit: string;
	readonly range?: string;
	readonly extra?: string;
}

/** As the action reads them: an array, never an empty one, of entries with these fields alone; names tell series apart. */
function read(text: string | undefined): Entry[] {
	const entries = JSON.parse(text ?? "");
	if (!Array.isArray(entries) || entries.length === 0)
		throw new Error("No benchmark result was found");
	for (const entry of entries) {
		const { name, value, unit, range = "", extra = "", ...more } = entry;
		if (Object.keys(more).length > 0) throw new Error(`${Object.keys(more)}`);
		if (typeof value !== "number") throw new Error(`${name}: ${value}`);
		for (const of of [name, unit, range, extra])
			if (typeof of !== "string") throw new Error(`${name}: ${of}`);
	}
	const names = new Set(entries.map(({ name }) => name));
	if (names.size < entries.length) throw new Error("two of one name");
	return entries;
}

const ms = (ns: number | null) => Number(((ns ?? 0) / 1e6).toFixed(6));

describe.each(PUBLISHED)("the entries of %s", (name) => {
	test("are the latencies of result.json in ms, to the nanosecond, with their intervals", () => {
		const { files } = exported("github-action-benchmark", [publishedFolder(name)]);
		expect(Object.keys(files), "rates are none of an open loop").toEqual([SMALLER]);
		const result = publishedJson(name);
		// What a fault did is tried in write.test.ts.
		const entries = read(files[SMALLER]).filter((entry) => entry.name.includes(": response "));
		const expected = (result.runs as Run[]).flatMap((run) => {
			const m = run.metrics.response;
			const own = `${name}: ${run.system}, ${run.case}: response`;
			const which = run.repeat > 1 ? `, repeat ${run.repeat}` : "";
			return [
				...(m?.percentiles ?? [])
					.filter(({ value }) => value !== null)
					.map(({ p, value, low, high }) => ({
						name: `${own} p${p}${which}`,
						unit: "ms",
						value: ms(value),
						...(low === null
							? {}
							: high === null
								? { range: `${ms(low)} or more` }
								: { range: `${ms(low)} to ${ms(high)}` }),
					})),
				{ name: `${own} max${which}`, unit: "ms", value: ms(m?.max ?? null) },
			];
		});
		expect(entries.map(({ extra: _, ...entry }) => entry)).toEqual(expected);
		for (const { extra } of entries) expect(extra).toContain(result.runId);
		const weak = (result.runs as Run[]).flatMap(
			(run) => run.metrics.response?.percentiles.filter((p) => p.support === "weak") ?? [],
		);
		expect(entries.filter(({ extra }) => extra?.includes("weak"))).toHaveLength(weak.length);
	});
});

test("rates are in the file of what is better when it is bigger", () => {
	const closed = (run: Run): Run => ({
		...run,
		load: { ...run.load, schedule: { ...run.load.schedule, kind: "closed" } },
	});
	const { files } = exportedResults(
		"github-action-benchmark",
		resultOf("healthy", { run: closed }),
	);
	const received = resultOf("healthy").runs[0]?.throughput.received;
	expect(read(files[BIGGER])).toEqual([
		expect.objectContaining({
			name: "healthy: nats, 256B 1000/s: throughput",
			unit: "messages/s",
			value: received,
		}),
	]);
	for (const { unit } of read(files[SMALLER])) expect(unit).toBe("ms");
});

test("the first repeat has the plain name, so that a series outlives a change of repeat", () => {
	const passed = (run: Run): Run => ({ ...run, verdict: "pass" });
	const { files } = exportedResults(
		"github-action-benchmark",
		resultOf("repeats", { run: passed }),
	);
	const p99 = read(files[SMALLER]).filter(({ name }) => / p99\b(?!\.)/.test(name));
	const plain = p99.filter(({ name }) => name.endsWith("response p99"));
	expect(p99).toHaveLength(6);
	expect(plain).toHaveLength(2);
	expect(p99.filter(({ name }) => name.endsWith("response p99, repeat 3"))).toHaveLength(2);
});

test("names the commit, and says where a value is the timeout in place of a larger one", () => {
	const lost = fixtureResult("lost");
	const git = { commit: "a".repeat(40), dirty: true };
	const { files } = exportedResults("github-action-benchmark", {
		...lost,
		environment: lost.environment && { ...lost.environment, git },
		runs: lost.runs.map((run) => ({ ...run, verdict: "fail" as const })),
	});
	const timeout = ms((lost.runs[0] as Run).load.timeoutNs);
	const p999 = read(files[SMALLER]).find(({ name }) => name.endsWith(" p99.9"));
	expect(p999).toMatchObject({
		value: timeout,
		range: `more than ${timeout}`,
		extra: expect.stringContaining("aaaaaaaaaaaa with uncommitted changes"),
	});
});
