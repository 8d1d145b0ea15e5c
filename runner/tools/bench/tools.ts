/**
 * `npm run bench`: mqbench beside each broker's own tool, on one and the same broker, in turns: what a message costs in each, and
 * what the drivers carry at exact times. Prints two tables, judges nothing: figures belong to the machine.
 *
 *   npm run build && node dist/runner/tools/bench/tools.js [nsq mqtt ...] [--part tools] [--messages 100000] [--rounds 3] [--seconds 3]
 */
import { setMaxListeners } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { localRig } from "../../../infra/local/local.ts";
import type { Broker } from "../../../infra/rig.ts";
import { processes } from "../../brokers/index.ts";
import { reasonOf } from "../../reason.ts";
import { readResources } from "../../run/resources.ts";
import { loadScenario } from "../../scenario/load.ts";
import { formatDuration } from "../../units.ts";
import { findBinaries, worldOf } from "./programs.ts";
import { contests, without } from "./rivals/index.ts";
import { BYTES, type Contest, type Rival } from "./rivals/rival.ts";
import { median } from "./tools-output.ts";
import { findRate, quantile, type Rates, runCrowd } from "./tools-rates.ts";
import { type Bench, runOurs, runTool } from "./tools-run.ts";

/** Messages per second, and CPU seconds of client and broker per million messages. */
interface Speed {
	readonly perSecond: number;
	readonly cpu: number;
	readonly brokerCpu: number;
}

interface Row {
	readonly system: string;
	readonly rival: Rival;
	readonly tool: Speed;
	readonly ours: Speed;
	readonly load: number;
	/** Cores that other processes of the machine took meanwhile. */
	readonly others: number;
}

interface RateRow {
	readonly system: string;
	readonly crowd: Awaited<ReturnType<typeof runCrowd>> | null;
	readonly rates: Rates | null;
	readonly loads: readonly [number, number];
}

/** What could not be measured, and why. */
interface Gap {
	readonly system: string;
	readonly what: string;
	readonly why: string;
}

const { values, positionals } = parseArgs({
	allowPositionals: true,
	options: {
		messages: { type: "string" },
		rounds: { type: "string", default: "3" },
		seconds: { type: "string", default: "3" },
		part: { type: "string", default: "tools,rates" },
	},
});
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const parts = values.part.split(",");
const known = [...Object.keys(contests), ...Object.keys(without)];
const systems = positionals.length > 0 ? positionals : known;
const unknown = systems.find((system) => !known.includes(system));
if (unknown) throw new Error(`${unknown} is none of ${known.join(", ")}`);

const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort(signal));
const world = worldOf(process, stop.signal);
/** Of tools, so far. */
let runs = 0;
// Every run of ours listens to it.
setMaxListeners(0, stop.signal);
const folder = mkdtempSync(path.join(os.tmpdir(), "mqbench-bench-"));
try {
	const binaries = await findBinaries(world);
	const bench: Bench = { world, binaries, folder };
	const rows: Row[] = [];
	const rates: RateRow[] = [];
	const gaps: Gap[] = [];
	for (const system of systems) {
		const contest = contests[system];
		const why = without[system];
		if (why) gaps.push({ system, what: "its own tool", why });
		if (contest) await measure(bench, system, contest, { rows, rates, gaps });
	}
	print(rows, rates, gaps);
} finally {
	rmSync(folder, { recursive: true, force: true });
}

// --- internal ---

/** All of one system, on one broker. What fails leaves a gap, and the others go on. */
async function measure(
	bench: Bench,
	system: string,
	contest: Contest,
	{ rows, rates, gaps }: { rows: Row[]; rates: RateRow[]; gaps: Gap[] },
): Promise<void> {
	const { rivals, rates: options } = contest;
	const attempt = async (what: string, measured: () => Promise<unknown>) => {
		try {
			await measured();
		} catch (error) {
			stop.signal.throwIfAborted();
			say(`${system}: ${what}: ${reasonOf(error)}`);
			gaps.push({ system, what, why: reasonOf(error) });
		}
	};
	await attempt("the broker", async () => {
		const broker = await open(bench, contest);
		try {
			if (parts.includes("tools"))
				for (const rival of rivals)
					await attempt(`${rival.tool}, ${rival.what}`, async () =>
						rows.push(await compare(bench, system, broker, rival)),
					);
			if (parts.includes("rates"))
				await attempt("rates", async () =>
					rates.push(await tryRates(bench, system, broker, options)),
				);
		} finally {
			await broker.close();
		}
	});
}

/**
 * In turns, so that a disturbance meets both. First each once for nothing, as brokers warm up too, and a short run of the tool:
 * what its start takes, of CPU and where it is slow at first also of time, is subtracted from the others.
 */
async function compare(bench: Bench, system: string, broker: Broker, rival: Rival): Promise<Row> {
	const load = loadNow();
	const messages = Number(values.messages ?? rival.messages);
	const short = Math.round(messages / 4);
	say(`${system}: ${rival.what}, ${messages} messages`);
	await runRival(bench, broker, rival, messages);
	await runBeside(bench, broker, rival, messages);
	const start = await runRival(bench, broker, rival, short);
	const tool: Speed[] = [];
	const ours: Speed[] = [];
	const others: number[] = [];
	for (let round = 1; round <= rounds; round++) {
		const whole = await runRival(bench, broker, rival, messages);
		const rest = whole.messages - start.messages;
		const seconds = rival.slowStart
			? whole.seconds - start.seconds
			: (rest / whole.messages) * whole.seconds;
		if (!(rest > 0 && seconds > 0))
			throw new Error(
				`a quarter of the messages took ${rival.tool} as long as all: they are too few, or others disturbed it`,
			);
		const one = {
			perSecond: rest / seconds,
			cpu: ((whole.cpuSeconds - start.cpuSeconds) / rest) * 1e6,
			brokerCpu: (whole.brokerSeconds / whole.messages) * 1e6,
		};
		const beside = await runBeside(bench, broker, rival, messages);
		say(`  ${rival.tool} ${one.perSecond.toFixed(0)}/s, mqbench ${beside.perSecond.toFixed(0)}/s`);
		tool.push(one);
		ours.push(beside);
		others.push(whole.others);
	}
	return { system, rival, tool: middle(tool), ours: middle(ours), load, others: median(others) };
}

async function runRival(
	bench: Bench,
	{ url, pids }: Broker,
	rival: Rival,
	messages: number,
): Promise<{
	messages: number;
	seconds: number;
	cpuSeconds: number;
	brokerSeconds: number;
	others: number;
}> {
	runs++;
	const at = { url, run: runs };
	const command = await rival.command(bench, at, messages);
	const used = useOf(pids);
	const { stdout, cpuSeconds } = await runTool(bench, command);
	const { brokerSeconds, busySeconds, ownSeconds, seconds } = used();
	const sent = rival.sent?.(stdout) ?? messages;
	await rival.after?.(bench, at, sent);
	return {
		messages: sent,
		seconds: sent / rival.rate(stdout, sent),
		cpuSeconds,
		brokerSeconds,
		others: (busySeconds - brokerSeconds - ownSeconds - cpuSeconds) / seconds,
	};
}

async function runBeside(
	bench: Bench,
	{ url, pids }: Broker,
	{ system, pattern, inFlight }: Rival,
	messages: number,
): Promise<Speed> {
	const warmup = Math.round(messages / 10);
	const used = useOf(pids);
	const { run, cpuSeconds } = await runOurs(bench, url, system, {
		pattern,
		message: `${BYTES}B`,
		// The tools send the same bytes each time.
		payload: "zeros",
		messages,
		warmup: `${warmup} messages`,
		inFlight,
	});
	const { sent, received } = run.throughput;
	return {
		perSecond: (pattern === "publish" ? sent : received) ?? 0,
		cpu: (cpuSeconds / (messages + warmup)) * 1e6,
		brokerCpu: (used().brokerSeconds / (messages + warmup)) * 1e6,
	};
}

/** Starts to count, and gives what was used until it is asked; where there is no /proc nothing is known of others than this process. */
function useOf(brokerPids: readonly number[]): () => {
	readonly seconds: number;
	readonly brokerSeconds: number;
	readonly busySeconds: number;
	readonly ownSeconds: number;
} {
	const look = () => {
		const { broker, machine } = readResources({ generatorPids: [], brokerPids }, Date.now());
		const own = process.cpuUsage();
		return {
			seconds: performance.now() / 1e3,
			brokerSeconds: (broker?.cpuNs ?? Number.NaN) / 1e9,
			busySeconds: ((machine.cpuNs ?? Number.NaN) - (machine.idleNs ?? Number.NaN)) / 1e9,
			ownSeconds: (own.user + own.system) / 1e6,
		};
	};
	const before = look();
	return () => {
		const after = look();
		return {
			seconds: after.seconds - before.seconds,
			brokerSeconds: after.brokerSeconds - before.brokerSeconds,
			busySeconds: after.busySeconds - before.busySeconds,
			ownSeconds: after.ownSeconds - before.ownSeconds,
		};
	};
}

async function tryRates(
	bench: Bench,
	system: string,
	broker: Broker,
	options: Readonly<Record<string, unknown>>,
): Promise<RateRow> {
	const before = loadNow();
	say(`${system}, 20000/s of 1KiB over 25 connections`);
	const crowd = await runCrowd(bench, broker.url, options, seconds);
	const later = loadNow();
	say(`${system}, highest rate with lag p99 below 1ms`);
	const rates = await findRate(bench, broker.url, options, seconds);
	return { system, crowd, rates, loads: [before, later] };
}

function middle(speeds: readonly Speed[]): Speed {
	return {
		perSecond: median(speeds.map(({ perSecond }) => perSecond)),
		cpu: median(speeds.map(({ cpu }) => cpu)),
		brokerCpu: median(speeds.map(({ brokerCpu }) => brokerCpu)),
	};
}

/** One broker as the local rig starts it, for all that is measured on it. */
async function open(bench: Bench, { rig, starts }: Contest): Promise<Broker> {
	const text = JSON.stringify({
		systems: { theirs: rig },
		workload: { pattern: "round-trip", message: "1KiB", messages: 1 },
	});
	const [system] = loadScenario("tools.yaml", text).systems;
	if (!system) throw new Error("the scenario has no system");
	const local = await localRig(bench.world, bench.binaries, {
		...processes,
		...(starts ? { [rig.broker]: starts } : {}),
	});
	return local.open({
		system,
		level: null,
		messageBytes: BYTES,
		cpus: null,
		logPath: path.join(bench.folder, `${system.broker}.log`),
	});
}

function print(rows: readonly Row[], rates: readonly RateRow[], gaps: readonly Gap[]): void {
	const cpu = os.cpus()[0]?.model ?? "unknown CPU";
	const out: string[] = [
		`${cpu}, ${os.availableParallelism()} cores, ${os.type()} ${os.release()}; broker and client share them`,
	];
	if (rows.length > 0)
		out.push(
			"",
			`1 KiB, one connection, medians of ${rounds} rounds; CPU: seconds of client and broker per million messages; cores: what both take at that rate`,
			"",
			"system         tool                       tool msg/s  mqbench msg/s  ratio  tool CPU  broker  mqbench CPU  broker  cores: client broker others  load  what",
			...rows.map(({ system, rival, tool, ours, load, others }) =>
				[
					system.padEnd(14),
					rival.tool.padEnd(24),
					tool.perSecond.toFixed(0).padStart(12),
					ours.perSecond.toFixed(0).padStart(14),
					(ours.perSecond / tool.perSecond).toFixed(2).padStart(6),
					tool.cpu.toFixed(2).padStart(9),
					tool.brokerCpu.toFixed(2).padStart(7),
					ours.cpu.toFixed(2).padStart(12),
					ours.brokerCpu.toFixed(2).padStart(7),
					cores(ours.cpu, ours).padStart(14),
					cores(ours.brokerCpu, ours).padStart(6),
					others.toFixed(2).padStart(6),
					load.toFixed(1).padStart(5),
					` ${rival.what}`,
				].join(" "),
			),
			...rows.flatMap(({ system, rival: { tool, what, unequal } }) =>
				unequal ? ["", `${system}, ${tool}, ${what}: ${unequal}.`] : [],
			),
		);
	if (rates.length > 0)
		out.push(
			"",
			`20 000/s of 1 KiB over 25 connections, ${seconds}s; and the highest rate of 256 B on one connection with lag p99 below 1 ms`,
			"",
			"system         offered  lost  lag p50     p99  response p50     p99   load | highest rate   too high   load  what is too high",
			...rates.map(({ system, crowd, rates, loads }) =>
				[
					system.padEnd(14),
					(crowd?.notOffered === 0 ? "all" : String(crowd?.notOffered)).padStart(7),
					String(crowd?.lost ?? "n/a").padStart(5),
					time(crowd && quantile(crowd, "lag", 50)).padStart(8),
					time(crowd && quantile(crowd, "lag", 99)).padStart(7),
					time(crowd && quantile(crowd, "response", 50)).padStart(13),
					time(crowd && quantile(crowd, "response", 99)).padStart(7),
					loads[0].toFixed(1).padStart(6),
					"|",
					(rates?.carried?.toFixed(0) ?? "none").padStart(12),
					(rates?.tooHigh?.toFixed(0) ?? "none").padStart(10),
					loads[1].toFixed(1).padStart(6),
					` ${rates?.limit ?? ""}`,
				].join(" "),
			),
		);
	if (gaps.length > 0)
		out.push(
			"",
			"Not measured:",
			...gaps.map(({ system, what, why }) => `${system}: ${what}: ${why}`),
		);
	process.stdout.write(
		`\n${out.join("\n")}\n\nCPU of a tool, and the time of one in Java, are without its start: a short run is subtracted.\ncores of mqbench and its broker that add up to the machine's: these limit it; those of a single-threaded broker near 1: it does. others: cores\nthat other processes took beside the tool; load: of the machine in the minute before, this benchmark's own earlier runs included.\n`,
	);
}

/** CPU seconds per million messages, at that rate. */
function cores(cpu: number, { perSecond }: Speed): string {
	return ((cpu * perSecond) / 1e6).toFixed(2);
}

function time(ns: number | null): string {
	return ns === null ? "n/a" : formatDuration(ns);
}

function loadNow(): number {
	return os.loadavg()[0] ?? 0;
}

function say(text: string): void {
	process.stderr.write(`${text}\n`);
}
