import { randomBytes } from "node:crypto";
import path from "node:path";
import { type Binaries, resolveBinaries } from "../infra/binaries/resolve.ts";
import { provision } from "../infra/provision.ts";
import type { Rig } from "../infra/rig.ts";
import { failure } from "./errors.ts";
import { packageFolder, packageVersion } from "./package.ts";
import { expand } from "./plan/expand.ts";
import type { Plan } from "./plan/plan.ts";
import { buildResult } from "./report/result.ts";
import type { Result } from "./report/summary.ts";
import { writeReports } from "./report/write.ts";
import { readClient } from "./run/client-read.ts";
import { readEnvironment } from "./run/environment.ts";
import type { EnvironmentFile } from "./run/environment-file.ts";
import {
	makeRunFolder,
	removeRunFolder,
	runPath,
	writeEnvironment,
	writeRunFile,
} from "./run/folder.ts";
import { type K6Result, runK6 } from "./run/k6.ts";
import type { Progress } from "./run/progress.ts";
import type { Scenario, System } from "./scenario/scenario.ts";
import { maskUrls } from "./secrets.ts";
import type { World } from "./world.ts";

export interface PipelineOptions {
	readonly scenario: Scenario;
	/** The scenario as it was written, kept beside the results. */
	readonly scenarioText: string;
	readonly only: string | undefined;
	/** Folder for the results; undefined: reports/<run-id> here. */
	readonly out: string | undefined;
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
	const folder = path.resolve(
		world.cwd,
		options.out ?? path.join("reports", runId),
	);
	const binaries = await resolveBinaries(world, {
		extensions: path.join(packageFolder, "extensions"),
		version: packageVersion,
		progress: progress.build,
	});
	const startedAt = new Date(world.clock.nowMs()).toISOString();
	const environment = readEnvironment(startedAt, {
		k6: "unknown",
		go: binaries.go,
	});
	makeRunFolder(folder, maskUrls(options.scenarioText), plans);
	writeEnvironment(folder, environment);
	const rig = await provision(scenario.target, world, binaries);
	let measured = 0;
	try {
		for (const plan of plans) {
			if (world.stop.aborted) break;
			progress.run(plan, plans.length);
			const system = systemOf(scenario, plan);
			await oneRun({ plan, system, folder, rig, binaries, progress }, world);
			measured++;
		}
	} catch (error) {
		if (measured === 0) removeRunFolder(folder);
		throw error;
	} finally {
		progress.done();
		await rig.teardown();
	}
	if (measured === 0) {
		removeRunFolder(folder);
		throw failure("interrupted", { signal: String(world.stop.reason) });
	}
	noteVersions(folder, environment, plans);
	const result = buildResult(folder);
	writeReports(folder, result);
	return { folder, result };
}

// --- internal ---

interface OneRun {
	readonly plan: Plan;
	readonly system: System;
	readonly folder: string;
	readonly rig: Rig;
	readonly binaries: Binaries;
	readonly progress: Progress;
}

/** One run: broker up, k6, broker down, and run.json, whatever happens in between. */
async function oneRun(one: OneRun, world: World): Promise<void> {
	const { plan, system, folder, rig, binaries, progress } = one;
	const startedAt = timestamp(world);
	const notes: string[] = [];
	const broker = await rig.open(
		system,
		path.join(runPath(folder, plan), "broker.log"),
	);
	const note = (text: string) => {
		notes.push(text);
		progress.say(`  ${text}`);
	};
	let t0Ms: number | null = null;
	void broker.died.then((how) => {
		const at =
			t0Ms === null
				? "before the first message"
				: `${((world.clock.nowMs() - t0Ms) / 1000).toFixed(1)}s after the first message was due`;
		note(`${system.key}: ${how}, ${at}`);
	});
	let result: K6Result;
	try {
		result = await runK6(
			{
				k6: binaries.k6,
				guard: binaries.guard,
				folder: runPath(folder, plan),
				plan,
				url: broker.url,
				onProgress(line) {
					if (line.mqbench === "start")
						t0Ms = Number(BigInt(line.t0UnixNs) / 1_000_000n);
					progress.tick(plan, line);
				},
			},
			world,
		);
	} finally {
		await broker.close();
	}
	progress.done();
	if (result.error !== null) progress.say(`  ${result.error}`);
	writeRunFile(folder, plan, {
		schema: 1,
		startedAt,
		endedAt: timestamp(world),
		k6Exit: result.ended.code,
		k6Signal: result.ended.signal,
		interruptedBy: world.stop.aborted ? String(world.stop.reason) : null,
		error: result.error,
		notes,
		brokerUrl: maskUrls(broker.url),
		brokerVersion: broker.version,
		brokerBinary: broker.binary && path.basename(broker.binary),
		sameHost: broker.sameHost,
	});
}

/** "quickstart-20261120-101746-3f2a": sorts by time, and no two commands share one. */
function nameRun(scenario: string, now: Date): string {
	const stamp = now
		.toISOString()
		.replaceAll(/[-:]/g, "")
		.replace("T", "-")
		.slice(0, 15);
	return `${scenario}-${stamp}-${randomBytes(2).toString("hex")}`;
}

function systemOf(scenario: Scenario, plan: Plan): System {
	const system = scenario.systems.find(({ key }) => key === plan.system);
	if (!system) throw new Error(`the plan names no system: ${plan.system}`);
	return system;
}

function timestamp(world: World): string {
	return new Date(world.clock.nowMs()).toISOString();
}

/** What only the measuring process knew: versions of k6, client library and broker, by system. */
function noteVersions(
	folder: string,
	environment: EnvironmentFile,
	plans: readonly Plan[],
): void {
	let { k6 } = environment;
	const systems: EnvironmentFile["systems"] = {};
	for (const plan of plans) {
		const client = readClient(runPath(folder, plan), 0).lines.find(
			(line) => line.type === "client",
		);
		if (!client) continue;
		k6 = client.versions.k6;
		systems[plan.system] = {
			broker: client.versions.server,
			library: client.versions.library,
		};
	}
	writeEnvironment(folder, { ...environment, k6, systems });
}
