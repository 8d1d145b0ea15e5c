import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { mergeLines } from "./merge.ts";
import { percentile, rank, valueAtRank } from "./percentiles.ts";
import { readLog } from "./random.fake.ts";

// The reference implementation reads the same files. Without Maven or Java this skips, but never in CI.
const missing = ["mvn", "java"].filter(
	(command) => spawnSync(command, ["-version"]).error !== undefined,
);
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const FILE = "repeats/runs/02-kafka-256B-500-s-1/client-1.hlog";

test.skipIf(missing.length > 0 && process.env.CI !== "true")(
	`a log is to us what it is to HdrHistogram's Java${missing.length > 0 ? ` (missing: ${missing.join(", ")})` : ""}`,
	{ tags: "long", timeout: 300_000 },
	() => {
		expect(missing, "CI needs mvn and java").toEqual([]);
		const path = here(`../tests/fixtures/${FILE}`);
		const java = readWithJava(path);
		const ours = mergeLines(readLog(readFileSync(path, "utf8")), 0);
		expect(Object.keys(java).sort()).toEqual([...ours.keys()].sort());
		for (const [tag, theirs] of Object.entries(java)) {
			const distribution = ours.get(tag)?.whole;
			if (distribution === undefined) throw new Error(`no ${tag}`);
			const sample = { distribution, n: distribution.count, min: null, max: null };
			expect(distribution.count).toBe(theirs.count);
			expect(distribution.high.at(-1)).toBe(theirs.max);
			for (const [p, value] of [
				[50, theirs.p50],
				[99, theirs.p99],
				[99.9, theirs.p999],
			] as const) {
				// Both give the upper edge of the bucket of the sample of rank ceil(n * q): equal, not just near.
				expect(valueAtRank(sample, rank(sample.n, p))).toBe(value);
				const ours = percentile(sample, p, 1).value;
				if (ours !== null) expect(ours).toBe(value);
			}
		}
	},
);

type ByTag = Record<string, { count: number; p50: number; p99: number; p999: number; max: number }>;

function readWithJava(path: string): ByTag {
	const output = mkdtempSync(join(tmpdir(), "mqbench-read-log-"));
	try {
		const { status, stdout, stderr } = spawnSync(
			"mvn",
			[
				"-q",
				"-B",
				"--strict-checksums",
				"-f",
				here("java/pom.xml"),
				`-Doutput=${output}`,
				"compile",
				"exec:java",
				`-Dexec.args='${path}'`,
			],
			{ encoding: "utf8" },
		);
		expect(status, stdout + stderr).toBe(0);
		// Maven always colours the end of its output.
		return JSON.parse(/\{.*\}/.exec(stdout)?.[0] ?? "") as ByTag;
	} finally {
		rmSync(output, { recursive: true, force: true });
	}
}
