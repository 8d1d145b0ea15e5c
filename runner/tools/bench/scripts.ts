/**
 * `npm run bench`: what k6/x/nats and k6/x/kafka cost a script. The same script, interleaved, on our k6 and, given by its path, on another that has
 * a public module: iterations that were dropped, how long a call took, CPU for each message. Prints Markdown tables, judges nothing: figures belong
 * to the machine.
 *
 *   npm run build && node dist/runner/tools/bench/scripts.js [nats kafka] [--other /path/of/k6] [--seconds 10] [--rounds 3]
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { formatDuration } from "../../units.ts";
import { openBroker, systemOf } from "./broker.ts";
import { findBinaries, worldOf } from "./programs.ts";
import { median } from "./tools-output.ts";
import { type Bench, runTool } from "./tools-run.ts";

const { values, positionals } = parseArgs({
	allowPositionals: true,
	options: {
		other: { type: "string" },
		seconds: { type: "string", default: "10" },
		rounds: { type: "string", default: "3" },
		rates: { type: "string", default: "3000,10000,15000" },
	},
});
const seconds = Number(values.seconds);
const rounds = Number(values.rounds);
const chosen = positionals.length > 0 ? positionals : ["nats", "kafka"];
const BYTES = 256;
/** The script tells what it measured, so that any k6 can. */
const TELL =
	"export const handleSummary = (data) => ({ stdout: 'mqbench:' + JSON.stringify(data.metrics) + '\\n' });";

/** What a script is told of its end, by metric. */
type Metrics = Readonly<Record<string, { readonly values: Readonly<Record<string, number>> }>>;

interface Measured {
	readonly iterations: number;
	readonly dropped: number;
	readonly metrics: Metrics;
	readonly cpuSeconds: number;
}

const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort(signal));
const world = worldOf(process, stop.signal);
const folder = mkdtempSync(path.join(os.tmpdir(), "mqbench-bench-"));
try {
	const bench = { world, binaries: await findBinaries(world), folder };
	const k6s: [string, string][] = [["mqbench", bench.binaries.k6]];
	if (values.other) k6s.push(["the other k6", path.resolve(values.other)]);
	if (chosen.includes("nats")) await publishing(bench, k6s);
	if (chosen.includes("kafka")) await producing(bench, k6s);
} finally {
	rmSync(folder, { recursive: true, force: true });
}

// --- internal ---

/** One VU publishes as fast as it can; beside it one that does nothing. */
async function publishing(bench: Bench, k6s: readonly [string, string][]): Promise<void> {
	const broker = await openBroker(bench, "nats", systemOf({ broker: "nats" }), BYTES);
	try {
		const options = `export const options = { vus: 1, duration: "${seconds}s" };`;
		const script = (name: string, body: string) =>
			written(
				`${name}.js`,
				`import { Nats } from "k6/x/nats"; const nats = new Nats({ servers: [__ENV.URL] }); const text = "x".repeat(${BYTES}); ${options} export default function () { ${body} } ${TELL}`,
			);
		const empty = script("empty", "");
		const publish = script("publish", 'nats.publish("bench", text);');
		const costs = k6s.map((): [number[], number[]] => [[], []]);
		for (let round = 0; round < rounds; round++)
			for (const [i, [, k6]] of k6s.entries())
				for (const [j, file] of [empty, publish].entries()) {
					const got = await measured(bench, k6, file, { URL: broker.url });
					costs[i]?.[j]?.push((seconds * 1e9) / got.iterations);
				}
		const rows = k6s.map(([name], i) => {
			const [none = 0, one = 0] = (costs[i] ?? []).map(median);
			return [name, time(none), time(one), (one / none).toFixed(2)];
		});
		table(
			`k6/x/nats: one publish of ${BYTES} B per iteration, one VU, medians of ${rounds}`,
			["k6", "empty iteration", "with publish", "ratio"],
			rows,
		);
	} finally {
		await broker.close();
	}
}

/** One produce per iteration at constant rates. */
async function producing(bench: Bench, k6s: readonly [string, string][]): Promise<void> {
	const broker = await openBroker(bench, "kafka", systemOf({ broker: "kafka" }), BYTES);
	const brokers = broker.url.replace(/^kafka:\/\//, "");
	try {
		const rows: string[][] = [];
		for (const rate of values.rates.split(",").map(Number)) {
			const script = (name: string, body: string) =>
				written(
					`${name}.js`,
					`import { Connection, Writer } from "k6/x/kafka"; const brokers = [__ENV.BROKERS], topic = "bench-" + __ENV.RUN; const writer = new Writer({ brokers, topic, requiredAcks: 1 }); const value = new Uint8Array(${BYTES}).fill(120);
export const options = { summaryTrendStats: ["med", "p(99)"], scenarios: { produce: { executor: "constant-arrival-rate", rate: ${rate}, timeUnit: "1s", duration: "${seconds}s", preAllocatedVUs: ${Math.max(50, rate / 20)} } } };
export function setup() { new Connection({ address: brokers[0] }).createTopic({ topic }); }
export default function () { ${body} } ${TELL}`,
				);
			const scripts = [
				["nothing", script("nothing", "")],
				["produce", script("produce", "writer.produce({ messages: [{ value }] });")],
			] as const;
			for (const [what, file] of scripts) {
				const tried: Measured[][] = k6s.map(() => []);
				for (let round = 0; round < rounds; round++)
					for (const [i, [, k6]] of k6s.entries())
						tried[i]?.push(
							await measured(bench, k6, file, {
								BROKERS: brokers,
								RUN: `${rate}-${what}-${i}-${round}`,
							}),
						);
				for (const [i, [name]] of k6s.entries()) {
					const all = tried[i] ?? [];
					const of = (value: (one: Measured) => number) => median(all.map(value));
					const write = (p: string) =>
						of(({ metrics }) => metrics.kafka_writer_write_seconds?.values[p] ?? Number.NaN);
					rows.push([
						`${rate}/s`,
						name,
						what,
						`${of(({ iterations }) => iterations)}`,
						`${of(({ dropped }) => dropped)}`,
						time(write("med") * 1e6),
						time(write("p(99)") * 1e6),
						time(of(({ cpuSeconds, iterations }) => (cpuSeconds * 1e9) / iterations)),
					]);
				}
			}
		}
		table(
			`k6/x/kafka: one produce of ${BYTES} B per iteration, acks 1, one partition, ${seconds} s, medians of ${rounds}`,
			[
				"asked",
				"k6",
				"iteration",
				"iterations",
				"dropped",
				"write p50",
				"write p99",
				"CPU per iteration",
			],
			rows,
		);
	} finally {
		await broker.close();
	}
}

async function measured(
	bench: Bench,
	k6: string,
	script: string,
	env: Readonly<Record<string, string>>,
): Promise<Measured> {
	const { stdout, cpuSeconds } = await runTool(bench, {
		argv: [
			k6,
			"run",
			"--quiet",
			"--no-usage-report",
			...Object.entries(env).flatMap(([name, value]) => ["-e", `${name}=${value}`]),
			script,
		],
		env: { K6_AUTO_EXTENSION_RESOLUTION: "false" },
	});
	const told = /^mqbench:(.*)$/m.exec(stdout)?.[1];
	if (told === undefined) throw new Error(`k6 has told nothing:\n${stdout.slice(-2000)}`);
	const metrics = JSON.parse(told) as Metrics;
	const count = (name: string) => metrics[name]?.values.count ?? 0;
	process.stderr.write(
		`${path.basename(script)} ${Object.values(env).at(-1)}: ${count("iterations")} iterations, ${count("dropped_iterations")} dropped\n`,
	);
	return {
		iterations: count("iterations"),
		dropped: count("dropped_iterations"),
		metrics,
		cpuSeconds,
	};
}

function written(name: string, text: string): string {
	const file = path.join(folder, name);
	writeFileSync(file, text);
	return file;
}

function time(ns: number): string {
	return Number.isNaN(ns) ? "-" : formatDuration(ns);
}

function table(
	title: string,
	columns: readonly string[],
	rows: readonly (readonly string[])[],
): void {
	const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
	process.stdout.write(
		`\n${title}; ${os.cpus()[0]?.model ?? "unknown CPU"}, ${os.cpus().length} cores, which the broker shares\n\n${[line(columns), line(columns.map(() => "---")), ...rows.map(line)].join("\n")}\n`,
	);
}
