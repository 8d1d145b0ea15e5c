import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { EnvironmentFile } from "../model/environment-file.ts";
import type { Result, Run } from "../model/result.ts";
import { readableJson } from "./json.ts";
import { fixtureResult } from "./stored.fake.ts";

export interface Changes {
	/** For the first run; the others began 10 s after each other. */
	readonly startedAt?: string;
	readonly scenario?: string;
	readonly cpu?: string;
	readonly rig?: EnvironmentFile["rig"];
	readonly quick?: boolean;
	readonly git?: EnvironmentFile["git"];
	readonly environment?: null;
	readonly run?: (run: Run) => Run;
}

/** For tests: the result of a stored run (2026-01-01, "Example CPU"), with some changes. */
export function resultOf(name: string, changes: Changes = {}): Result {
	const base = fixtureResult(name);
	const first = Date.parse(changes.startedAt ?? "2026-01-01T00:00:00Z");
	const { run = (r: Run) => r } = changes;
	return {
		...base,
		scenario: changes.scenario ?? base.scenario,
		quick: changes.quick ?? false,
		environment:
			changes.environment === null
				? null
				: {
						schema: 1,
						mqbench: "0.1.0",
						startedAt: new Date(first).toISOString(),
						os: "linux x64",
						kernel: "6.1.0",
						cpu: changes.cpu ?? "Example CPU",
						cores: 4,
						memoryBytes: 8 * 1024 ** 3,
						clockSource: "tsc",
						governor: null,
						cpuQuotaCores: null,
						bootId: null,
						...(changes.git ? { git: changes.git } : {}),
						...(changes.rig ? { rig: changes.rig } : {}),
						node: "v20",
						k6: "v1",
						go: null,
						systems: {},
					},
		runs: base.runs.map((r, i) =>
			run({ ...r, startedAt: new Date(first + i * 10_000).toISOString() }),
		),
	};
}

/** For tests: a run folder with a result and a report. */
export function addResult(
	root: string,
	folder: string,
	result: unknown,
	{ report = true } = {},
): void {
	const where = join(root, folder);
	mkdirSync(where, { recursive: true });
	writeFileSync(join(where, "result.json"), readableJson(result));
	if (report) writeFileSync(join(where, "report.html"), "<!doctype html>");
}

/** For tests: sets the p99 of the main metric of every run. */
export function withP99(ns: number): (run: Run) => Run {
	return (run) => {
		const main = run.metrics[run.main];
		if (main === null) return run;
		const percentiles = main.percentiles.map((p) => (p.p === 99 ? { ...p, value: ns } : p));
		return { ...run, metrics: { ...run.metrics, [run.main]: { ...main, percentiles } } };
	};
}
