import { describe, expect, test } from "vitest";
import type { Result, Run } from "../model/result.ts";
import { terminalOf as terminal } from "../render/rendered.fake.ts";
import { byCase, percentile } from "../result/select.ts";
import { show } from "../result/show.ts";
import { fixtureResult } from "../result/stored.fake.ts";
import { at, type Depth, plain, type Table } from "./blocks.ts";
import { cases } from "./cases.ts";

/** 4 systems x 5 cases x 2 repeats, from stored runs. */
function matrix(): Result {
	const stored = ["healthy", "stall", "repeats", "lost"].map((name) => fixtureResult(name));
	const runs = [1, 2].flatMap((repeat) =>
		["256B", "1KiB", "5KiB", "1MiB 100/s", "1KiB 20000/s"].flatMap((name) =>
			["nats", "jetstream-fsync", "redis-streams", "kafka-acks-all"].map(
				(system, i): Run => ({ ...(stored[i]?.runs[0] as Run), system, case: name, repeat }),
			),
		),
	);
	const [healthy] = stored as [Result];
	return { ...healthy, runs, gates: healthy.gates };
}

describe("40 runs", () => {
	const result = matrix();
	const [section] = cases(result);
	const tablesAt = (depth: Depth) =>
		at(section?.blocks ?? [], depth).filter((one): one is Table => one.kind === "table");
	const tables = tablesAt(2);

	test("stand in one table for each case, systems as rows, repeats below each other", () => {
		const all = byCase(result);
		expect(all.map((t) => t.case)).toEqual(["256B", "1KiB", "5KiB", "1MiB 100/s", "1KiB 20000/s"]);
		expect(tables[0]?.columns.slice(2, -1).map(({ name }) => name)).toEqual([
			"p50",
			"p99",
			"p99.9",
			"max",
			"received/s",
			"lost",
		]);
		expect(all[0]?.rows.map((r) => r.name).slice(0, 3)).toEqual([
			"nats (1)",
			"nats (2)",
			"jetstream-fsync (1)",
		]);
	});

	test("show the figures of their own run", () => {
		for (const [i, { rows }] of byCase(result).entries())
			for (const [k, { run }] of rows.entries()) {
				const cells = tables[i]?.rows[k]?.cells ?? [];
				expect(plain(cells[3] ?? "")).toBe(show(percentile(run, "response", 99)));
				expect(plain(cells.at(-2) ?? "")).toBe(String(run.lost));
			}
	});

	test("say on a page when each began, and which checks speak against it", () => {
		const [{ columns, rows }] = tablesAt(3) as [Table];
		expect(columns.slice(-2).map(({ name }) => name)).toEqual([
			"checks against it",
			"started (UTC)",
		]);
		const [{ rows: runs } = { rows: [] }] = byCase(result);
		for (const [i, { run }] of runs.entries()) {
			const [checks = "", started = ""] = rows[i]?.cells.slice(-2).map(plain) ?? [];
			expect(started).toBe(run.startedAt?.slice(0, 16).replace("T", " "));
			const found = run.validity.filter(({ status }) =>
				["warn", "invalid", "fail"].includes(status),
			);
			expect(checks).toBe(found.map(({ check }) => check).join(", "));
		}
	});

	test("fit a terminal of 80 columns, and 110 lines", () => {
		const lines = terminal(result, 80).split("\n");
		expect(Math.max(...lines.map((l) => l.length))).toBeLessThanOrEqual(80);
		expect(lines.length).toBeLessThan(110);
		const row = lines.find((l) => l.includes("jetstream-fsync (2)"));
		expect(row).toMatch(/400ms .*500ms +1 000 +0 +FAIL$/);
	});

	test("on a narrow terminal are read one by one", () => {
		const lines = terminal(result, 44).split("\n");
		expect(Math.max(...lines.map((l) => l.length))).toBeLessThanOrEqual(44);
		expect(lines.join(" ").replaceAll(/\s+/g, " ")).toContain("nats (1): p50 ~203us, p99 ~431us");
	});
});
