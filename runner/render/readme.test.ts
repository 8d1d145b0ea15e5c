import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { mergeLines } from "../histogram/merge.ts";
import { rank, tail, valueAtRank } from "../histogram/percentiles.ts";
import { readLog } from "../histogram/random.fake.ts";
import { packageFolder } from "../package.ts";
import { publishedFolder } from "../result/stored.fake.ts";
import { formatCount } from "../units.ts";
import { atLeast, events } from "../verdict/statistics.ts";

// Figures and commands of reports/*.md, from the files of the published run themselves: not through our readers of run folders.
const reports = path.join(packageFolder, "reports");
const page = (name: string) => readFileSync(path.join(reports, name), "utf8");
const [, example = ""] = page("METHOD.md").replaceAll(/\s+/g, " ").split("### By hand");
const runs = path.join(publishedFolder("nats-stall"), "runs");
const run = path.join(runs, readdirSync(runs)[0] ?? "");
const file = (name: string) => readFileSync(path.join(run, name), "utf8");

const plan = JSON.parse(file("plan.json"));
const lines = file("client-0.jsonl")
	.trimEnd()
	.split("\n")
	.map((line) => JSON.parse(line));
const n: number = plan.schedule.messages - plan.schedule.warmupMessages;
const k = plan.limits.findIndex(
	(l: { metric: string; limitNs: number }) => l.metric === "response" && l.limitNs === 20e6,
);
const pieces: number[] = lines
	.filter((l) => l.type === "second" && l.second >= 0)
	.sort((a, b) => a.second - b.second)
	.flatMap((l) => l.limits[k].over);
const over = pieces.reduce((a, b) => a + b, 0);
const merged = mergeLines(readLog(file("client-0.hlog")), plan.schedule.warmupNs);
const response = merged.get("response")?.whole;
if (response === undefined) throw new Error("no response");
const sample = { distribution: response, n, min: null, max: null };

test("the example by hand has the figures of the published run", () => {
	const budget = Math.round(n * tail(99));
	const p99Ms = Math.round((valueAtRank(sample, rank(n, 99)) ?? 0) / 1e6);
	for (const said of [
		`${formatCount(n)} messages, ${over} of them over 20 ms`,
		`${formatCount(n)} x 0.01 = ${budget}`,
		`${over} is more than twice that`,
		`P(Bin(${formatCount(n)}, 0.01) >= ${over}) = ${atLeast(over, n, tail(99)).toExponential(1)}`,
		`rank ${formatCount(rank(n, 99))}: ${n - rank(n, 99)} messages are slower`,
		`p99 = ${p99Ms} ms`,
	])
		expect(example).toContain(said);
	expect(over).toBeGreaterThan(2 * budget);
	expect(events(pieces.map((o) => ({ n: 100, over: o })))).toEqual([expect.closeTo(5, -1)]);
});

test("and so has the sentence about what a closed loop would have hidden", () => {
	const service = merged.get("service")?.whole;
	if (service === undefined) throw new Error("no service");
	const value = (distribution: typeof service) =>
		valueAtRank({ ...sample, distribution }, rank(n, 99)) ?? 0;
	expect(page("README.md").replaceAll(/\s+/g, " ").replaceAll("~", "")).toContain(
		`p99 would have been ${Math.round(value(service) / 1e3)}us instead of ${Math.round(value(response) / 1e6)}ms`,
	);
});

test("P(Bin(20 000, 0.01) >= 485) agrees with a sum of its terms", () => {
	let term = 20_000 * Math.log(0.99);
	let sum = 0;
	for (let t = 0; t <= 20_000; t++) {
		if (t >= 485) sum += Math.exp(term);
		term += Math.log(((20_000 - t) / (t + 1)) * (0.01 / 0.99));
	}
	expect(atLeast(485, 20_000, 0.01) / sum).toBeCloseTo(1, 8);
});

test.skipIf(spawnSync("jq", ["--version"]).status !== 0)(
	"the jq lines for other tools run as they stand, and give the figures of the published runs",
	() => {
		const [, exports = ""] = page("FORMATS.md").split("## Exports");
		const blocks = [...exports.matchAll(/```sh\n([^`]+)```/g)].map(([, block = ""]) => block);
		const cwd = mkdtempSync(path.join(tmpdir(), "mqbench-readme-"));
		try {
			symlinkSync(path.join(reports, "published"), path.join(cwd, "reports"));
			const sh = blocks.join("").replaceAll("<run-id>", "nats-stall");
			execFileSync("sh", ["-euc", sh], { cwd });
			const made = (name: string) => readFileSync(path.join(cwd, name), "utf8");
			const result = JSON.parse(
				readFileSync(path.join(cwd, "reports/nats-stall/result.json"), "utf8"),
			);
			const of = (run: number, p: number) =>
				result.runs[run].metrics.response.percentiles.find((one: { p: number }) => one.p === p);
			const rows = made("nats.csv").trim().split("\n");
			const times = rows.slice(1).map((row) => row.split(",")[0] ?? "");
			expect(rows[0]).toBe('"time","run_id","p50_ms","p99_ms"');
			expect(times).toEqual([...times].sort());
			for (const [i, { startedAt }] of result.runs.entries())
				expect(rows).toContain(
					`"${startedAt}","${result.runId}",${of(i, 50).value / 1e6},${of(i, 99).value / 1e6}`,
				);
			const { value, low } = of(0, 99);
			expect(JSON.parse(made("bmf.json"))["nats-stall: nats, 256B 1000/s"]["p99 (ns)"]).toEqual({
				value,
				lower_value: low,
			});
		} finally {
			rmSync(cwd, { recursive: true, force: true });
		}
	},
);
