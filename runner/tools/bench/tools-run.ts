import { readFileSync } from "node:fs";
import path from "node:path";
import type { Binaries } from "../../../infra/binaries/resolve.ts";
import { startSupervised } from "../../../infra/process.ts";
import { commandOf } from "../../model/command-file.ts";
import type { Run } from "../../model/result.ts";
import { runIdFor, runPipeline } from "../../pipeline.ts";
import { expand } from "../../plan/expand.ts";
import { makeProgress } from "../../run/progress.ts";
import { loadScenario } from "../../scenario/load.ts";
import type { World } from "../../world.ts";
import { cpuSeconds } from "./tools-output.ts";

/** Of ours, so far. */
let runs = 0;

/** What all measurements share. */
export interface Bench {
	readonly world: World;
	readonly binaries: Binaries;
	/** Removed in the end. */
	readonly folder: string;
}

export interface Command {
	readonly argv: readonly string[];
	readonly env?: Readonly<Record<string, string>>;
}

/** Runs a tool to its end: what it printed, and the CPU that it took from its first instruction on. */
export async function runTool(
	bench: Bench,
	{ argv, env = {} }: Command,
): Promise<{ stdout: string; cpuSeconds: number }> {
	const stdout: string[] = [];
	const stderr: string[] = [];
	const child = startSupervised({
		agent: bench.binaries.agent,
		// Node does not tell what a child has used, a shell does.
		argv: ["/bin/sh", "-c", '"$@"; code=$?; times >&2; exit $code', "sh", ...argv],
		cwd: bench.folder,
		env: { PATH: bench.world.env.PATH ?? "", HOME: bench.folder, ...env },
		graceMs: 1_000,
		onStdout: (line) => stdout.push(line),
		onStderr: (line) => stderr.push(line),
	});
	const abandon = () => child.abandon();
	bench.world.stop.addEventListener("abort", abandon, { once: true });
	const { code } = await child.ended;
	bench.world.stop.removeEventListener("abort", abandon);
	if (code !== 0)
		throw new Error(`${argv[0]} failed:\n${[...stdout, ...stderr].slice(-20).join("\n")}`);
	return { stdout: stdout.join("\n"), cpuSeconds: cpuSeconds(stderr.join("\n")) };
}

/** One system, one workload, against the broker at `url`, as `mqbench run` measures it; null: a system without a server. */
export async function runOurs(
	bench: Bench,
	url: string | null,
	system: Readonly<Record<string, unknown>>,
	workload: Readonly<Record<string, unknown>>,
): Promise<{ run: Run; cpuSeconds: number }> {
	const { world } = bench;
	// JSON is YAML; a password comes by the environment.
	const text = JSON.stringify({
		name: "tools",
		target: url === null ? "local" : "existing",
		systems: { ours: { ...system, ...(url === null ? {} : { url: "$" + "{BENCH_URL}" }) } },
		workload,
	});
	const env = { ...world.env, BENCH_URL: url ?? "" };
	runs++;
	const out = path.join(bench.folder, `ours-${runs}`);
	const scenario = loadScenario("tools.yaml", text, {}, env);
	const runId = runIdFor(scenario, undefined, world);
	const { result } = await runPipeline(
		{
			scenario,
			scenarioText: text,
			plans: expand(scenario, { runId }),
			out,
			resume: undefined,
			floor: false,
			confirm: false,
			snapshot: null,
			command: commandOf("tools.yaml", [], world),
			onInconclusive: undefined,
			progress: makeProgress(world, true),
		},
		{ ...world, env },
	);
	const run = result.runs[0];
	if (run?.state !== "complete" || !run.generator)
		throw new Error(
			`mqbench's own run is ${run?.state}: ${run?.why ?? ""} ${run?.notes.join(" ") ?? ""}\n${logOf(out, run)}`,
		);
	return { run, cpuSeconds: run.generator.cpuNs / 1e9 };
}

// --- internal ---

function logOf(out: string, run: Run | undefined): string {
	try {
		return readFileSync(path.join(out, run?.folder ?? "", "client-0.log"), { encoding: "utf8" });
	} catch {
		return "";
	}
}
