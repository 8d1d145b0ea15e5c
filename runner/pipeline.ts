import { randomBytes } from "node:crypto";
import path from "node:path";
import { expand } from "./plan/expand.ts";
import { floors } from "./plan/floor.ts";
import { buildResult } from "./report/result.ts";
import type { Result } from "./report/summary.ts";
import { writeReports } from "./report/write.ts";
import { makeRunFolder } from "./run/folder.ts";
import { measure } from "./run/measure.ts";
import type { Progress } from "./run/progress.ts";
import type { Scenario } from "./scenario/scenario.ts";
import { maskUrls } from "./secrets.ts";
import { hopeless } from "./verdict/abort.ts";
import type { World } from "./world.ts";

export interface PipelineOptions {
	readonly scenario: Scenario;
	/** The scenario as it was written, kept beside the results. */
	readonly scenarioText: string;
	readonly only: string | undefined;
	/** Folder for the results; undefined: reports/<run-id> here. */
	readonly out: string | undefined;
	/** Measure the floor of the generator for each case, after the runs. */
	readonly floor: boolean;
	readonly progress: Progress;
}

export interface PipelineResult {
	readonly folder: string;
	readonly result: Result;
}

/** scenario -> plans -> scripts -> runs -> results -> verdict, as one sentence. */
export async function runPipeline(
	options: PipelineOptions,
	world: World,
): Promise<PipelineResult> {
	const { scenario, progress } = options;
	const runId = nameRun(scenario.name, new Date(world.clock.nowMs()));
	const plans = expand(scenario, { runId, only: options.only });
	const floorPlans = options.floor ? floors(plans) : [];
	const folder = path.resolve(
		world.cwd,
		options.out ?? path.join("reports", runId),
	);
	// Before the build: who may not write here is told now, not in two minutes.
	makeRunFolder(folder, maskUrls(options.scenarioText), plans, floorPlans);
	await measure(
		{
			scenario,
			plans,
			floors: floorPlans,
			hopeless: (plan, tick) => hopeless(plan, tick)?.sla ?? null,
			folder,
			progress,
		},
		world,
	);
	const result = buildResult(folder);
	writeReports(folder, result);
	return { folder, result };
}

// --- internal ---

/** "quickstart-20261120-101746-3f2a": sorts by time, and no two commands share one. */
function nameRun(scenario: string, now: Date): string {
	const stamp = now
		.toISOString()
		.replaceAll(/[-:]/g, "")
		.replace("T", "-")
		.slice(0, 15);
	return `${scenario}-${stamp}-${randomBytes(2).toString("hex")}`;
}
