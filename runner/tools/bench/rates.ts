/**
 * `npm run bench`: the highest rate that each system carries on this machine, of round trips of 1 KiB on a broker with its own settings. Prints a
 * table, judges nothing: figures belong to the machine.
 *
 *   npm run build && node dist/runner/tools/bench/rates.js [nsq amqp-classic ...] [--seconds 5] [--connections 25]
 */
import { setMaxListeners } from "node:events";
import { parseArgs } from "node:util";
import type { Broker } from "../../../infra/rig.ts";
import { brokerOf, hasProcess, realBrokers, SystemOptions } from "../../brokers/index.ts";
import type { Run } from "../../model/result.ts";
import { reasonOf } from "../../reason.ts";
import {
	type Bench,
	type Options,
	openBroker,
	printTable,
	quantile,
	runOurs,
	say,
	time,
	withBench,
} from "./bench.ts";
import { climb, type Found } from "./ladder.ts";

/** Everything that mqbench can start, with its own settings, and the second server of systems that have two. */
const systems: Readonly<Record<string, Options>> = {
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
const chosen = positionals.length > 0 ? positionals : Object.keys(systems);

const RATES = [100, 1_000, 5_000, 20_000, 50_000, 100_000, 200_000, 400_000];
const FROM = 20_000;
const WARMUP_SECONDS = 2;
/** A JVM is slow until it has compiled its hot code. */
const WARMUP_SECONDS_JVM = 8;
/** Lag of a generator that is on time. */
const LAG_NS = 1e6;
/** Part of a rate that must be reached. */
const REACHED = 0.99;

interface Tried {
	/** null if there is none. */
	readonly run: Run | null;
	/** Why the rate is not carried; null if it is. */
	readonly problem: string | null;
}

const unknown = chosen.find((name) => !(name in systems));
if (unknown) throw new Error(`${unknown} is none of ${Object.keys(systems).join(", ")}`);
await withBench(async (bench) => {
	// Every broker listens to it.
	setMaxListeners(0, bench.world.stop);
	const rows: string[][] = [];
	for (const name of chosen) rows.push(await measure(bench, name, systems[name] as Options));
	printTable(
		`The highest rate of round trips of 1 KiB on ${values.connections} connections, ${values.seconds} s each`,
		[
			"system",
			"durability",
			"rate",
			"lag p99",
			"received/s",
			"response p50",
			"response p99",
			"next rate",
			"why not",
		],
		rows,
	);
	process.stdout.write(
		"\nA rate is carried if 99 % of it are sent, nothing is lost, 99 % of it come back in the window, and lag p99 is below 1 ms.\n",
	);
});

// --- internal ---

/** One system, on one broker. After a rate that was not carried the broker is restarted, because it may still be busy with the rest. */
async function measure(bench: Bench, name: string, options: Options): Promise<string[]> {
	const system = SystemOptions.parse(options);
	const { traits, durability } = brokerOf(system);
	const first = traits(system).jvm ? WARMUP_SECONDS_JVM : WARMUP_SECONDS;
	let warmup = first;
	let broker: Broker | null = null;
	const end = async () => {
		await broker?.close();
		broker = null;
		warmup = first;
	};
	const attempt = async (rate: number): Promise<Tried> => {
		try {
			if (hasProcess(system)) broker ??= await openBroker(bench, options);
			const run = await runOurs(bench, broker?.url ?? null, options, {
				pattern: "round-trip",
				message: "1KiB",
				rate: `${rate}/s`,
				connections: Number(values.connections),
				duration: `${values.seconds}s`,
				warmup: `${warmup}s`,
				drain: "3s",
			});
			warmup = WARMUP_SECONDS;
			return { run, problem: problemOf(run, rate) };
		} catch (error) {
			bench.world.stop.throwIfAborted();
			return { run: null, problem: reasonOf(error) };
		}
	};
	const climbed = climb(RATES, FROM, async (rate) => {
		let tried = await attempt(rate);
		// Another process for 30 ms is enough: only a generator that is late twice is too slow.
		if (tried.problem?.startsWith("lag")) tried = await attempt(rate);
		say(`${name}, ${rate}/s: ${tried.problem ?? "carried"}`);
		if (tried.problem !== null) await end();
		return tried;
	});
	const { carried, tooHigh } = await climbed.finally(end);
	return [
		name,
		durability(system, true).text,
		...figuresOf(carried),
		`${tooHigh?.rate ?? "none"}`,
		tooHigh?.step.problem ?? "the ladder ends",
	];
}

function problemOf(run: Run, rate: number): string | null {
	const { achieved, received } = run.throughput;
	const missing = run.intended - (run.received ?? 0);
	const lag = quantile(run, "lag", 99);
	if ((achieved ?? 0) < REACHED * rate) return `${Math.round(achieved ?? 0)}/s were sent`;
	if (missing > 0) return `${missing} of ${run.intended} did not come back`;
	if ((received ?? 0) < REACHED * rate) return `${Math.round(received ?? 0)}/s came back in time`;
	return lag === null || lag >= LAG_NS ? `lag p99 ${time(lag)}` : null;
}

function figuresOf(carried: Found<Tried> | null): string[] {
	const run = carried?.step.run;
	if (!carried || !run) return ["none", "n/a", "n/a", "n/a", "n/a"];
	return [
		`${carried.rate}`,
		time(quantile(run, "lag", 99)),
		(run.throughput.received ?? 0).toFixed(0),
		time(quantile(run, "response", 50)),
		time(quantile(run, "response", 99)),
	];
}
