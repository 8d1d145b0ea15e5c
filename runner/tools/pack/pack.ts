import { readdirSync } from "node:fs";
import path from "node:path";
import type { Result, Run } from "../../model/result.ts";
import { packageFolder } from "../../package.ts";
import { percentileAmount } from "../../result/select.ts";
import { amount, show } from "../../result/show.ts";
import { formatCount } from "../../units.ts";

/** Paths of the scenarios that come with mqbench, by name. */
export function packFiles(): string[] {
	const folder = path.join(packageFolder, "scenarios");
	return readdirSync(folder)
		.filter((name) => name.endsWith(".yaml"))
		.sort()
		.map((name) => path.join(folder, name));
}

/** Every run of these results as a line: work, verdict, p99 (or the highest supported percentile), rates and missing messages. */
export function packTable(results: readonly Result[]): string {
	const rows = results.flatMap(({ scenario, runs }) =>
		runs.map((run) => [scenario, run.system, run.case, run.verdict, ...cells(run)]),
	);
	const all = [HEAD, ...rows];
	const widths = HEAD.map((_, i) => Math.max(...all.map((row) => row[i]?.length ?? 0)));
	return `${all.map((row) => line(row, widths)).join("\n")}\n`;
}

// --- internal ---

const NAMES = ["scenario", "system", "case", "verdict"];
const HEAD = [...NAMES, "latency", "of", "sent/s", "received/s", "failed", "unknown", "lost"];

function cells(run: Run): string[] {
	const percentiles = run.metrics[run.main]?.percentiles ?? [];
	const deepest = percentiles.findLast(({ p, support }) => p <= 99 && support !== "none");
	const { sent, achieved, received } = run.throughput;
	const rate = (value: number | null) => (value === null ? "n/a" : formatCount(Math.round(value)));
	return [
		deepest ? `p${deepest.p} ${show(percentileAmount(deepest, run))}` : "n/a",
		run.main,
		rate(sent ?? achieved),
		rate(received),
		...[run.failed, run.unknown, run.lost].map((count) => show(amount(count, "messages"))),
	];
}

function line(row: readonly string[], widths: readonly number[]): string {
	return row
		.map((cell, i) =>
			i < NAMES.length ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0),
		)
		.join("  ")
		.trimEnd();
}
