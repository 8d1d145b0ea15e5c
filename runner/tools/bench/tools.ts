/**
 * `npm run bench`: the cost of a message in mqbench and in each broker's own tool, on one and the same broker, in turns. Prints a table,
 * judges nothing: figures belong to the machine.
 *
 *   npm run build && node dist/runner/tools/bench/tools.js [nsq mqtt ...] [--messages 100000] [--rounds 3]
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { treeOf } from "../../../infra/pid.ts";
import type { Broker } from "../../../infra/rig.ts";
import { reasonOf } from "../../reason.ts";
import { sum } from "../../stats/sum.ts";
import { type Bench, openBroker, printTable, runOurs, runTool, say, withBench } from "./bench.ts";
import { BYTES, contests, type Rival } from "./rivals.ts";
import { median } from "./tools-output.ts";

/** Messages per second, and CPU seconds of client and broker per million messages. */
interface Speed {
	readonly perSecond: number;
	readonly cpu: number;
	readonly brokerCpu: number;
}

const { values, positionals } = parseArgs({
	allowPositionals: true,
	options: {
		messages: { type: "string" },
		rounds: { type: "string", default: "3" },
	},
});
const rounds = Number(values.rounds);
const known = Object.keys(contests);
const systems = positionals.length > 0 ? positionals : known;
const unknown = systems.find((system) => !known.includes(system));
if (unknown) throw new Error(`${unknown} is none of ${known.join(", ")}`);

/** The tools' runs so far. */
let runs = 0;

await withBench(async (bench) => {
	const rows: string[][] = [];
	const gaps: string[] = [];
	/** A failure leaves a gap, and the others go on. */
	const attempt = async (what: string, measured: () => Promise<unknown>) => {
		try {
			await measured();
		} catch (error) {
			bench.world.stop.throwIfAborted();
			gaps.push(`${what}: ${reasonOf(error)}`);
			say(gaps.at(-1) ?? "");
		}
	};
	for (const system of systems) {
		const { rig, rivals } = contests[system] ?? { rig: { broker: system }, rivals: [] };
		await attempt(system, async () => {
			const broker = await openBroker(bench, rig);
			try {
				for (const rival of rivals)
					await attempt(`${system}, ${rival.tool}, ${rival.what}`, async () =>
						rows.push(await compare(bench, system, broker, rival)),
					);
			} finally {
				await broker.close();
			}
		});
	}
	printTable(
		`1 KiB, one connection, medians of ${rounds} rounds`,
		[
			"system",
			"tool",
			"tool msg/s",
			"mqbench msg/s",
			"ratio",
			"tool CPU",
			"its broker's",
			"mqbench CPU",
			"its broker's",
			"what",
		],
		rows,
	);
	process.stdout.write(
		"\nCPU: seconds of client and broker per million messages. CPU of a tool, and the time of one in Java, are without its start: a short run is\nsubtracted.\n",
	);
	if (gaps.length > 0) process.stdout.write(`\nNot measured:\n${gaps.join("\n")}\n`);
});

// --- internal ---

/**
 * In turns, so a disturbance affects both. First each runs once unmeasured, because brokers warm up too, then the tool runs briefly: the
 * cost of its start, in CPU and for tools with a slow start also in time, is subtracted from the others.
 */
async function compare(
	bench: Bench,
	system: string,
	broker: Broker,
	rival: Rival,
): Promise<string[]> {
	const messages = Number(values.messages ?? rival.messages);
	say(`${system}: ${rival.what}, ${messages} messages`);
	await runRival(bench, broker, rival, messages);
	await runBeside(bench, broker, rival, messages);
	const start = await runRival(bench, broker, rival, Math.round(messages / 4));
	const theirs: Speed[] = [];
	const ours: Speed[] = [];
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
		theirs.push({
			perSecond: rest / seconds,
			cpu: ((whole.cpuSeconds - start.cpuSeconds) / rest) * 1e6,
			brokerCpu: (whole.brokerSeconds / whole.messages) * 1e6,
		});
		ours.push(await runBeside(bench, broker, rival, messages));
	}
	const middle = (speeds: readonly Speed[], what: keyof Speed) =>
		median(speeds.map((speed) => speed[what]));
	const [tool, mqbench] = [theirs, ours].map((speeds) => middle(speeds, "perSecond")) as [
		number,
		number,
	];
	return [
		system,
		rival.tool,
		tool.toFixed(0),
		mqbench.toFixed(0),
		(mqbench / tool).toFixed(2),
		...[theirs, ours].flatMap((speeds) => [
			middle(speeds, "cpu").toFixed(2),
			middle(speeds, "brokerCpu").toFixed(2),
		]),
		rival.what,
	];
}

async function runRival(bench: Bench, { url, pids }: Broker, rival: Rival, messages: number) {
	runs++;
	const at = { url, run: runs };
	const command = await rival.command(bench, at, messages);
	const used = cpuOf(pids);
	const { stdout, cpuSeconds } = await runTool(bench, command);
	const brokerSeconds = used();
	const sent = rival.sent?.(stdout) ?? messages;
	await rival.after?.(bench, at, sent);
	return { messages: sent, seconds: sent / rival.rate(stdout, sent), cpuSeconds, brokerSeconds };
}

async function runBeside(
	bench: Bench,
	{ url, pids }: Broker,
	{ system, pattern, inFlight }: Rival,
	messages: number,
): Promise<Speed> {
	const warmup = Math.round(messages / 10);
	const used = cpuOf(pids);
	const { throughput, generator } = await runOurs(bench, url, system, {
		pattern,
		message: `${BYTES}B`,
		// The tools send the same bytes each time.
		payload: "zeros",
		messages,
		warmup: `${warmup} messages`,
		inFlight,
	});
	return {
		perSecond: (pattern === "publish" ? throughput.sent : throughput.received) ?? 0,
		cpu: ((generator?.cpuNs ?? Number.NaN) / 1e9 / (messages + warmup)) * 1e6,
		brokerCpu: (used() / (messages + warmup)) * 1e6,
	};
}

/** Starts to count, and returns the CPU seconds that a broker has used until asked; NaN without /proc. */
function cpuOf(brokerPids: readonly number[]): () => number {
	const now = () => sum(brokerPids.flatMap(treeOf).flatMap(cpuTicks)) / 100;
	const before = now();
	return () => now() - before;
}

/** utime, stime, and the times of ended children, in hundredths of a second (proc(5), fields 14 to 17; field 2 may contain blanks). */
function cpuTicks(pid: number): number[] {
	try {
		const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
		return stat.slice(stat.lastIndexOf(")")).split(" ").slice(12, 16).map(Number);
	} catch {
		return [Number.NaN];
	}
}
