import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { buildResult } from "../compare/build.ts";
import { editJson, editLines, firstRun, fixture, fixtureCopy } from "../evidence/fixture.fake.ts";
import type { Run } from "../model/result.ts";
import { writeReports } from "../render/write.ts";

test.each(["healthy", "stall", "lost", "lag"])(
	"a run that is recorded two seconds at a time says of the window what it says by the second: %s",
	(name) => {
		const folder = fixtureCopy(name);
		coarsen(firstRun(folder));
		const result = buildResult(folder);
		writeReports(folder, result);
		const [one, two] = [buildResult(fixture(name)).runs[0], result.runs[0]];
		expect(of(two as Run)).toEqual(of(one as Run));
		const seconds = two?.series.seconds.filter((s) => s.second >= 0) ?? [];
		expect(seconds.every((s) => s.second % 2 === 0 && s.seconds === 2)).toBe(true);
	},
);

// --- internal ---

/** What does not depend on where clusters are told apart. */
function of(run: Run) {
	const { metrics, throughput, sent, received, lost, verdict, main } = run;
	return {
		throughput,
		sent,
		received,
		lost,
		verdict,
		values: metrics[main]?.percentiles.map(({ p, value }) => [p, value]),
		exact: [metrics[main]?.mean, metrics[main]?.max, metrics[main]?.censored],
		checks: run.validity
			// Too few intervals to show a drift.
			.filter(({ check }) => check !== "steady")
			.map(({ check, status }) => [check, status]),
		missing: run.series.seconds.reduce((n, s) => n + (s.missing ?? 0), 0),
		cells: run.series.heat?.cells.reduce((n, [, , count]) => n + count, 0),
	};
}

/** As if the plan had said so. Histograms of one interval may be in several lines. */
function coarsen(run: string): void {
	let warmupS = 0;
	editJson(join(run, "plan.json"), (plan) => {
		plan.intervalSeconds = 2;
		warmupS = plan.schedule.warmupNs / 1e9;
	});
	const [hlog, jsonl] = [join(run, "client-0.hlog"), join(run, "client-0.jsonl")];
	const lines = readFileSync(hlog, "utf8").trimEnd().split("\n");
	const trailer = lines.pop() ?? "";
	const body = lines
		.map((line) =>
			line.replace(/^(Tag=[^.,]+),([\d.]+),/, (_, tag, start) => {
				const second = Number(start) - warmupS;
				return `${tag},${(Number(start) - (second % 2)).toFixed(3)},`;
			}),
		)
		.map((line) => `${line}\n`)
		.join("");
	const sum = createHash("sha256").update(body).digest("hex");
	const old = /sha256=(\w+)/.exec(trailer)?.[1] ?? "";
	writeFileSync(hlog, `${body}${trailer.replace(old, sum)}\n`);
	writeFileSync(jsonl, readFileSync(jsonl, "utf8").replace(old, sum));
	editLines(jsonl, (all) =>
		all.flatMap((line) => {
			if (line.type === "second" && line.second >= 0) {
				const odd = line.second % 2;
				const pieces = (counts: number[]) =>
					counts.map((_, k) => {
						const at = 2 * k - 10 * odd;
						return (counts[at] ?? 0) + (counts[at + 1] ?? 0);
					});
				const limits = line.limits.map((limit: Record<string, number[]>) =>
					Object.fromEntries(Object.entries(limit).map(([key, n]) => [key, pieces(n)])),
				);
				return [{ ...line, second: line.second - odd, seconds: 2, limits }];
			}
			if (line.type !== "tick" || line.at <= warmupS) return [line];
			const ticks = all.filter(({ type }) => type === "tick");
			const at = ticks.indexOf(line);
			const odd = (line.at - Math.ceil(warmupS)) % 2 === 1;
			if (odd && ticks[at + 1] !== undefined) return [];
			const before = odd ? null : ticks[at - 1];
			if (before === null) return [line];
			const both = { ...line, seconds: 2 };
			for (const key of ["sent", "acked", "received", "cpuNs", "gcPauseNs"])
				both[key] = line[key] === null ? null : line[key] + before[key];
			for (const key of ["backlog", "held"])
				if (Array.isArray(line[key]))
					both[key] = [...before[key], ...line[key]].filter((_, k) => k % 2 === 1);
			return [both];
		}),
	);
}
