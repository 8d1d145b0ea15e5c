import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { localRig } from "../../../infra/local/local.ts";
import { startSupervised } from "../../../infra/process.ts";
import { type Binaries, resolveBinaries } from "../../../infra/programs/resolve.ts";
import type { Broker } from "../../../infra/rig.ts";
import { BrokerName } from "../../brokers/index.ts";
import type { Run } from "../../model/result.ts";
import { packageFolder } from "../../package.ts";
import { readResult } from "../../result/result-files.ts";
import { makeProgress } from "../../run/progress.ts";
import { loadScenario } from "../../scenario/load.ts";
import { formatDuration } from "../../units.ts";
import type { World } from "../../world.ts";
import { cpuSeconds } from "./tools-output.ts";

/** The context of all measurements. */
export interface Bench {
	readonly world: World;
	readonly binaries: Binaries;
	/** Removed in the end. */
	readonly folder: string;
}

/** A system of a scenario, and its options. */
export type Options = Readonly<Record<string, unknown>> & { readonly broker: string };

/** Measures with a folder and mqbench's programs; Ctrl-C ends the processes that it has started. */
export async function withBench(measure: (bench: Bench) => Promise<void>): Promise<void> {
	const stop = new AbortController();
	for (const signal of ["SIGINT", "SIGTERM"] as const)
		process.once(signal, () => stop.abort(signal));
	const world = worldOf(process, stop.signal);
	const folder = mkdtempSync(path.join(os.tmpdir(), "mqbench-bench-"));
	try {
		await measure({ world, binaries: await findBinaries(world), folder });
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

/** The programs that users get, built if need be. */
export function findBinaries(world: World): Promise<Binaries> {
	return resolveBinaries(world, {
		progress: makeProgress(world, false).build,
		systems: BrokerName.options.map((broker) => ({ broker })),
	});
}

export function worldOf(of: NodeJS.Process, signal: AbortSignal): World {
	const sink = (stream: NodeJS.WriteStream) => ({
		isTTY: false,
		columns: 80,
		write: (text: string) => void stream.write(text),
	});
	return {
		stdout: sink(of.stdout),
		stderr: sink(of.stderr),
		cwd: of.cwd(),
		env: of.env,
		clock: { nowMs: Date.now, monotonicMs: () => performance.now() },
		ask: null,
		stop: signal,
	};
}

/** Starts a system on this machine, as `mqbench run` does. The caller closes it. */
export async function openBroker({ world, binaries, folder }: Bench, options: Options) {
	const text = JSON.stringify({
		systems: { theirs: options },
		workload: { pattern: "round-trip", message: "1KiB", messages: 1 },
	});
	const [system] = loadScenario("bench.yaml", text).systems;
	if (!system) throw new Error("the scenario has no system");
	const local = await localRig(world, binaries);
	const broker: Broker = await local.open({
		system,
		level: null,
		messageBytes: 1024,
		cpus: null,
		logPath: path.join(folder, `${options.broker}.log`),
	});
	return broker;
}

/** Our runs so far. */
let runs = 0;

/**
 * One system and workload, by the command line: against the broker at `url`, or one that mqbench starts if it is null. A verdict other than
 * PASS, because of a busy machine, has figures too.
 */
export async function runOurs(
	{ world, folder }: Bench,
	url: string | null,
	system: Options,
	workload: Readonly<Record<string, unknown>>,
	{ clients = 1, k6Out }: { clients?: number; k6Out?: string | undefined } = {},
): Promise<Run> {
	world.stop.throwIfAborted();
	runs++;
	const file = path.join(folder, `ours-${runs}.yaml`);
	const out = path.join(folder, `ours-${runs}`);
	// JSON is YAML; a password comes in the environment.
	const place = url === null ? {} : { url: "$" + "{BENCH_URL}" };
	const target = url === null ? "local" : "existing";
	const systems = { ours: { ...system, ...place } };
	writeFileSync(file, JSON.stringify({ name: "bench", target, clients, systems, workload }));
	const cli = path.join(packageFolder, "dist/runner/cli.js");
	const more = k6Out === undefined ? [] : ["--k6-out", k6Out];
	const { stderr } = spawnSync(
		process.execPath,
		[cli, file, "--out", out, "--no-floor", "--quiet", ...more],
		{
			stdio: ["ignore", "ignore", "pipe"],
			encoding: "utf8",
			env: { ...world.env, BENCH_URL: url ?? "" },
		},
	);
	// Lines that arrived in the meantime are read.
	await new Promise((resolve) => setImmediate(resolve));
	world.stop.throwIfAborted();
	const run = existsSync(path.join(out, "result.json")) ? readResult(out).runs[0] : undefined;
	if (run?.state !== "complete")
		throw new Error(`mqbench's own run is ${run?.state}: ${run?.why ?? ""}\n${stderr}`);
	return run;
}

/** Cores used by all load generators of a run, from the first claim to the end. */
export function coresOf({ generator }: Run): number {
	if (generator === null) return Number.NaN;
	return generator.cpuNs / (generator.endNs - generator.firstClaimNs);
}

/** A percentile of a metric, ns; null if there is none. */
export function quantile(run: Run, metric: "lag" | "response", p: number): number | null {
	return run.metrics[metric]?.percentiles.find((one) => one.p === p)?.value ?? null;
}

export interface Command {
	readonly argv: readonly string[];
	readonly env?: Readonly<Record<string, string>>;
}

/** Runs a tool to its end. Returns its output, and its CPU time from its first instruction on. */
export async function runTool(
	bench: Bench,
	{ argv, env = {} }: Command,
): Promise<{ stdout: string; cpuSeconds: number }> {
	const stdout: string[] = [];
	const stderr: string[] = [];
	const child = startSupervised({
		agent: bench.binaries.agent,
		// Node does not report a child's CPU time, a shell does.
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

/** k6's summary of a script. */
export interface Scripted {
	readonly iterations: number;
	readonly dropped: number;
	/** A value of a metric, "p(99)"; NaN if there is none. */
	value(metric: string, name: string): number;
	readonly cpuSeconds: number;
}

/** Runs a k6 script with a summary that prints its metrics; options of k6 may ask for more percentiles. */
export async function runScript(
	bench: Bench,
	k6: string,
	text: string,
	env: Readonly<Record<string, string>> = {},
): Promise<Scripted> {
	const script = path.join(bench.folder, "script.js");
	writeFileSync(
		script,
		`${text}\nexport const handleSummary = (data) => ({ stdout: "mqbench:" + JSON.stringify(data.metrics) + "\\n" });\n`,
	);
	const given = Object.entries(env).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
	const { stdout, cpuSeconds } = await runTool(bench, {
		argv: [k6, "run", "--quiet", "--no-usage-report", ...given, script],
		env: { K6_AUTO_EXTENSION_RESOLUTION: "false" },
	});
	const printed = /^mqbench:(.*)$/m.exec(stdout)?.[1];
	if (printed === undefined) throw new Error(`k6 printed no metrics:\n${stdout.slice(-2000)}`);
	const metrics: Record<string, { values: Record<string, number> }> = JSON.parse(printed);
	const value = (metric: string, name: string) => metrics[metric]?.values[name] ?? Number.NaN;
	return {
		iterations: value("iterations", "count"),
		dropped: metrics.dropped_iterations?.values.count ?? 0,
		value,
		cpuSeconds,
	};
}

/**
 * Builds a program for a comparison with mqbench into `folder`, once: users do not get it. `source` is its package, in our own folder or in
 * a module that go.mod there pins.
 */
export function buildRival(name: string, folder: string, source = `./${name}`): string {
	const program = path.join(folder, name);
	if (existsSync(program)) return program;
	execFileSync("go", ["build", "-o", program, source], {
		cwd: path.join(packageFolder, "runner/tools/bench/go"),
		env: { ...process.env, CGO_ENABLED: "0" },
		stdio: ["ignore", "inherit", "inherit"],
	});
	return program;
}

/** Prints a Markdown table, below the machine to which its figures belong. */
export function printTable(
	title: string,
	columns: readonly string[],
	rows: readonly (readonly (string | number | undefined)[])[],
): void {
	const cell = (value: unknown) =>
		String(value).replace(/\s+/g, " ").replaceAll("|", "\\|").slice(0, 200);
	const line = (cells: readonly unknown[]) => `| ${cells.map(cell).join(" | ")} |`;
	const cpu = os.cpus()[0]?.model ?? "unknown CPU";
	process.stdout.write(
		`\n${title}; ${cpu}, ${os.availableParallelism()} cores, ${os.type()} ${os.release()}, shared with the broker; load ${loadNow()}\n\n${[line(columns), line(columns.map(() => "---")), ...rows.map(line)].join("\n")}\n`,
	);
}

export function time(ns: number | null): string {
	return ns === null || Number.isNaN(ns) ? "n/a" : formatDuration(ns);
}

/** Processes that were running in the minute before, including this benchmark's. */
export function loadNow(): string {
	return (os.loadavg()[0] ?? 0).toFixed(1);
}

export function say(text: string): void {
	process.stderr.write(`${text}\n`);
}
