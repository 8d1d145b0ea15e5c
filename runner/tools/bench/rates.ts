/**
 * `npm run bench`: what each system carries on this machine. Round trips of 1 KiB at constant rates, on a broker with its own settings: 20 000/s, or
 * the highest rate below that is carried; and the highest rate at which the generator is still on time (lag p99 below 1 ms). Prints a Markdown
 * table, judges nothing: figures belong to the machine.
 *
 *   npm run build && node dist/runner/tools/bench/rates.js [nsq amqp-classic ...] [--seconds 5] [--connections 25]
 */
import { setMaxListeners } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import type { Broker } from "../../../infra/rig.ts";
import { brokerOf, hasProcess, realBrokers } from "../../brokers/index.ts";
import type { Run } from "../../model/result.ts";
import { reasonOf } from "../../reason.ts";
import { formatDuration } from "../../units.ts";
import { openBroker, systemOf } from "./broker.ts";
import { climb, type Found, once, type Step } from "./ladder.ts";
import { findBinaries, worldOf } from "./programs.ts";
import { quantile } from "./tools-rates.ts";
import { type Bench, runOurs } from "./tools-run.ts";

/** All that mqbench can start, with its own settings, and the second server where a system has two. */
const systems: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
	...Object.fromEntries(realBrokers.map((broker) => [broker, { broker }])),
	"amqp-classic": { broker: "amqp", server: "classic" },
};

const { values, positionals } = parseArgs({
	allowPositionals: true,
	options: {
		seconds: { type: "string", default: "5" },
		connections: { type: "string", default: "25" },
	},
});
const seconds = Number(values.seconds);
const connections = Number(values.connections);
const chosen = positionals.length > 0 ? positionals : Object.keys(systems);

const RATE = 20_000;
const UP_TO_IT = [100, 200, 500, 1_000, 2_000, 5_000, 10_000, RATE];
const HIGHER = [100, 1_000, 5_000, RATE, 50_000, 100_000, 200_000, 400_000];
const BYTES = 1024;
const WARMUP_SECONDS = 2;
/** A JVM is slow until it has compiled what is used often. */
const WARMUP_SECONDS_JVM = 8;
/** Lag of a generator that is on time. */
const LAG_NS = 1e6;
/** Part of a rate that is to be reached. */
const REACHED = 0.99;

/** Of a run, or why there is none. */
interface Tried extends Step {
	readonly run: Run | null;
	/** Why its lag is too high; null: it is not. */
	readonly late: string | null;
}

interface Row {
	readonly system: string;
	readonly durability: string;
	/** At 20 000/s. */
	readonly full: Tried;
	/** The highest rate that is carried up to that. */
	readonly carried: Found<Tried> | null;
	readonly onTime: Found<Tried> | null;
	readonly late: Found<Tried> | null;
	readonly load: number;
}

const unknown = chosen.find((name) => !(name in systems));
if (unknown) throw new Error(`${unknown} is none of ${Object.keys(systems).join(", ")}`);
const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort(signal));
// Every run listens to it.
setMaxListeners(0, stop.signal);
const world = worldOf(process, stop.signal);
const folder = mkdtempSync(path.join(os.tmpdir(), "mqbench-bench-"));
try {
	const bench = { world, binaries: await findBinaries(world), folder };
	const rows: Row[] = [];
	const failed: [string, string][] = [];
	for (const name of chosen)
		try {
			rows.push(await measure(bench, name, systems[name] ?? {}));
		} catch (error) {
			stop.signal.throwIfAborted();
			say(`${name}: ${reasonOf(error)}`);
			failed.push([name, reasonOf(error)]);
		}
	print(rows, failed);
} finally {
	rmSync(folder, { recursive: true, force: true });
}

// --- internal ---

/** One system, on one broker. It is started anew after a rate that it did not carry, as it may still be busy with what is left. */
async function measure(
	bench: Bench,
	name: string,
	options: Readonly<Record<string, unknown>>,
): Promise<Row> {
	const load = os.loadavg()[0] ?? 0;
	const system = systemOf(options);
	const { traits, durability } = brokerOf(system.options);
	const first = traits(system.options).jvm ? WARMUP_SECONDS_JVM : WARMUP_SECONDS;
	let warmup = first;
	let broker: Broker | null = null;
	const end = async () => {
		await broker?.close();
		broker = null;
		warmup = first;
	};
	const attempt = async (rate: number): Promise<Tried> => {
		try {
			if (hasProcess(system.options)) broker ??= await openBroker(bench, name, system, BYTES);
			const { run } = await runOurs(bench, broker?.url ?? null, options, {
				pattern: "round-trip",
				message: `${BYTES}B`,
				rate: `${rate}/s`,
				connections,
				duration: `${seconds}s`,
				warmup: `${warmup}s`,
				drain: "3s",
			});
			warmup = WARMUP_SECONDS;
			const tried = judged(run, rate);
			if (tried.problem !== null) await end();
			return tried;
		} catch (error) {
			stop.signal.throwIfAborted();
			await end();
			const problem = reasonOf(error);
			return { run: null, problem, late: problem };
		}
	};
	const tell = async (rate: number) => {
		const tried = await attempt(rate);
		say(`${name}, ${rate}/s: ${wordsOf(tried)}`);
		return tried;
	};
	const at = once(tell);
	try {
		const full = await at(RATE);
		const { carried } = await climb(UP_TO_IT, RATE, at);
		const { carried: onTime, tooHigh: late } = await climb(
			HIGHER,
			RATE,
			once(async (rate) => {
				const before = await at(rate);
				// Another process for 30 ms is enough: the generator is late for good when it is so twice.
				const again = isLateOnly(before) ? await tell(rate) : before;
				return { ...again, problem: again.late };
			}),
		);
		const text = durability(system.options, true).text;
		return { system: name, durability: text, full, carried, onTime, late, load };
	} finally {
		await end();
	}
}

function judged(run: Run, rate: number): Tried {
	const achieved = run.throughput.achieved ?? 0;
	const received = run.throughput.received ?? 0;
	const missing = run.intended - (run.received ?? 0);
	const lag = quantile(run, "lag", 99);
	const slow = achieved < REACHED * rate ? `${Math.round(achieved)}/s were sent` : null;
	let problem = slow;
	if (missing > 0) problem ??= `${missing} of ${run.intended} did not come back`;
	if (received < REACHED * rate) problem ??= `${Math.round(received)}/s came back in time`;
	const late = lag === null || lag >= LAG_NS ? `lag p99 ${time(lag)}` : null;
	return { run, problem, late: slow ?? late };
}

function isLateOnly({ run, late }: Tried): boolean {
	return run !== null && late?.startsWith("lag") === true;
}

function wordsOf({ run, problem }: Tried): string {
	if (run === null) return `failed: ${problem}`;
	return `${problem ?? "carried"}; lag p99 ${time(quantile(run, "lag", 99))}, response p50 ${time(quantile(run, "response", 50))}, p99 ${time(quantile(run, "response", 99))}`;
}

function print(rows: readonly Row[], failed: readonly (readonly [string, string])[]): void {
	const cpu = os.cpus()[0]?.model ?? "unknown CPU";
	process.stdout.write(`
${cpu}, ${os.availableParallelism()} cores, ${os.type()} ${os.release()}; broker and generator share them.
Round trips of 1 KiB at a constant rate on ${connections} connections, ${seconds} s after ${WARMUP_SECONDS} s (after a start on a JVM ${WARMUP_SECONDS_JVM} s); brokers with their own settings.

At 20 000/s, or at the highest lower rate that is carried:

| system | durability | rate | sent/s | received/s | lag p99 | response p50 | response p99 | lost | verdict | at 20 000/s | load |
|---|---|---|---|---|---|---|---|---|---|---|---|
${rows.map(carriedRow).join("\n")}

The highest rate with lag p99 below 1 ms:

| system | rate | lag p99 | received/s | response p50 | response p99 | carried | next rate | why not |
|---|---|---|---|---|---|---|---|---|
${rows.map(onTimeRow).join("\n")}

A rate is carried if 99 % of it are sent, nothing is lost, and 99 % of it come back in the window. lost: of the messages that were acknowledged, or of those that were sent where nothing is. verdict: INVALID with
the check that says so. load: of the machine in the minute before.
${failed.map(([name, why]) => `${name} was not measured: ${oneLine(why)}`).join("\n")}
`);
}

function carriedRow({ system, durability, full, carried, load }: Row): string {
	const shown = carried ?? { rate: RATE, step: full };
	return row(
		system,
		durability,
		carried ? carried.rate : "none",
		...figuresOf(shown.step.run),
		shown.step.run?.lost ?? "n/a",
		verdictOf(shown.step.run),
		full.problem ?? "carried",
		load.toFixed(1),
	);
}

function onTimeRow({ system, onTime, late }: Row): string {
	const run = onTime?.step.run ?? null;
	const carries = run && onTime ? (judged(run, onTime.rate).problem ?? "yes") : "n/a";
	const [, received, lag, p50, p99] = figuresOf(run);
	return row(
		system,
		onTime?.rate ?? "none",
		lag,
		received,
		p50,
		p99,
		carries,
		late?.rate ?? "none",
		late?.step.problem ?? "the ladder ends",
	);
}

function figuresOf(run: Run | null): string[] {
	if (run === null) return ["n/a", "n/a", "n/a", "n/a", "n/a"];
	return [
		(run.throughput.achieved ?? 0).toFixed(0),
		(run.throughput.received ?? 0).toFixed(0),
		time(quantile(run, "lag", 99)),
		time(quantile(run, "response", 50)),
		time(quantile(run, "response", 99)),
	];
}

function verdictOf(run: Run | null): string {
	if (run === null) return "error";
	const checks = run.validity
		.filter(({ status }) => status === "invalid")
		.map(({ check }) => check);
	return checks.length > 0 ? `INVALID (${checks.join(", ")})` : run.verdict;
}

function row(...cells: readonly (string | number | undefined)[]): string {
	return `| ${cells.map((cell) => oneLine(String(cell))).join(" | ")} |`;
}

function oneLine(text: string): string {
	return text.replace(/\s+/g, " ").replaceAll("|", "\\|").slice(0, 200);
}

function time(ns: number | null): string {
	return ns === null ? "n/a" : formatDuration(ns);
}

function say(text: string): void {
	process.stderr.write(`${text}\n`);
}
