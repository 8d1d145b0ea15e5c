/**
 * How long the way from a run's files to its verdict takes: read and check them, merge the histograms, judge. 1000 recorded runs
 * (the fixtures in turn), each read anew. Prints a table, judges nothing: figures belong to the machine. Goal: merge plus
 * verdict of 1000 runs in under 2 s.
 *
 *   npm run build && node dist/runner/tools/bench/verdict.js [--runs 1000] [--of <folder of runs>]
 */
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { buildResult } from "../../compare/build.ts";
import { collect } from "../../evidence/collect.ts";
import { packageFolder } from "../../package.ts";
import { factsOf, UNKNOWN } from "../../verdict/facts.ts";
import { judgeRun } from "../../verdict/run.ts";

const { values } = parseArgs({
	options: {
		runs: { type: "string", default: "1000" },
		of: { type: "string", default: "runner/tests/fixtures" },
	},
});
const root = path.resolve(packageFolder, values.of);
const folders = readdirSync(root)
	.map((name) => path.join(root, name))
	.filter((folder) => existsSync(path.join(folder, "runs")));
const runs = folders.flatMap((folder) =>
	readdirSync(path.join(folder, "runs")).map((name) => path.join(folder, "runs", name)),
);
const wanted = Number(values.runs);
const spent = { read: 0, merge: 0, judge: 0 };
/** Twice, as the first round compiles. */
for (const round of ["warm-up", "measured"] as const) {
	for (const key of ["read", "merge", "judge"] as const) spent[key] = 0;
	for (let i = 0; i < (round === "warm-up" ? runs.length : wanted); i++) {
		const start = performance.now();
		const collected = collect(runs[i % runs.length] as string);
		const read = performance.now();
		const facts = factsOf(collected, UNKNOWN);
		const merged = performance.now();
		judgeRun(facts);
		spent.read += read - start;
		spent.merge += merged - read;
		spent.judge += performance.now() - merged;
	}
}
const start = performance.now();
for (const folder of folders) buildResult(folder);
const whole = performance.now() - start;

const ms = (value: number) => `${value.toFixed(0).padStart(6)} ms`;
process.stdout.write(
	[
		`${wanted} runs of ${runs.length} recorded ones`,
		`read and check the files  ${ms(spent.read)}`,
		`merge the histograms      ${ms(spent.merge)}`,
		`judge                     ${ms(spent.judge)}`,
		`merge and judge           ${ms(spent.merge + spent.judge)}`,
		`whole results of ${String(runs.length).padStart(3)} runs  ${ms(whole)}`,
		"",
	].join("\n"),
);
