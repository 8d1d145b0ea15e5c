/**
 * `npm run bench`: the cost of k6/x/nats and k6/x/kafka in a script. The same script, interleaved, on our k6 and, given by its path, on
 * another that has a public module: iterations that were dropped, how long a call took, CPU for each message. Prints Markdown tables,
 * judges nothing.
 *
 *   npm run build && node dist/runner/tools/bench/scripts.js [nats kafka] [--other /path/of/k6] [--seconds 10] [--rounds 3]
 */
import path from "node:path";
import { parseArgs } from "node:util";
import {
	type Bench,
	openBroker,
	printTable,
	runScript,
	type Scripted,
	say,
	time,
	withBench,
} from "./bench.ts";
import { median } from "./tools-output.ts";

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

await withBench(async (bench) => {
	const k6s: [string, string][] = [["mqbench", bench.binaries.k6]];
	if (values.other) k6s.push(["the other k6", path.resolve(values.other)]);
	if (chosen.includes("nats")) await publishing(bench, k6s);
	if (chosen.includes("kafka")) await producing(bench, k6s);
});

// --- internal ---

/** One VU publishes as fast as it can, next to an idle one. */
async function publishing(bench: Bench, k6s: readonly [string, string][]): Promise<void> {
	const broker = await openBroker(bench, { broker: "nats" });
	try {
		const script = (body: string) =>
			`import { Nats } from "k6/x/nats"; const nats = new Nats({ servers: [__ENV.URL] }); const text = "x".repeat(${BYTES}); export const options = { vus: 1, duration: "${seconds}s" }; export default function () { ${body} }`;
		const scripts = { empty: script(""), publish: script('nats.publish("bench", text);') };
		const rows: string[][] = [];
		for (const [name, tried] of await inTurns(bench, k6s, scripts, () => ({ URL: broker.url }))) {
			const each = (of: readonly Scripted[]) =>
				median(of.map(({ iterations }) => (seconds * 1e9) / iterations));
			const [none, one] = [each(tried.empty ?? []), each(tried.publish ?? [])];
			rows.push([name, time(none), time(one), (one / none).toFixed(2)]);
		}
		printTable(
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
	const broker = await openBroker(bench, { broker: "kafka" });
	try {
		const rows: string[][] = [];
		for (const rate of values.rates.split(",").map(Number)) {
			const script = (body: string) =>
				`import { Connection, Writer } from "k6/x/kafka"; const brokers = [__ENV.BROKERS], topic = "bench-" + __ENV.RUN; const writer = new Writer({ brokers, topic, requiredAcks: 1 }); const value = new Uint8Array(${BYTES}).fill(120);
export const options = { summaryTrendStats: ["med", "p(99)"], scenarios: { produce: { executor: "constant-arrival-rate", rate: ${rate}, timeUnit: "1s", duration: "${seconds}s", preAllocatedVUs: ${Math.max(50, rate / 20)} } } };
export function setup() { new Connection({ address: brokers[0] }).createTopic({ topic }); }
export default function () { ${body} }`;
			const scripts = {
				nothing: script(""),
				produce: script("writer.produce({ messages: [{ value }] });"),
			};
			const env = (turn: string) => ({
				BROKERS: broker.url.replace(/^kafka:\/\//, ""),
				RUN: `${rate}-${turn}`,
			});
			for (const [name, tried] of await inTurns(bench, k6s, scripts, env))
				for (const [what, all] of Object.entries(tried)) {
					const of = (value: (one: Scripted) => number) => median(all.map(value));
					const write = (p: string) => of((one) => one.value("kafka_writer_write_seconds", p));
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
		printTable(
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

/** Runs each script on each k6, once per round, so a disturbance affects all. `env` gives a turn's variables, by its name. */
async function inTurns(
	bench: Bench,
	k6s: readonly [string, string][],
	scripts: Readonly<Record<string, string>>,
	env: (turn: string) => Readonly<Record<string, string>>,
): Promise<Map<string, Record<string, Scripted[]>>> {
	const tried = new Map<string, Record<string, Scripted[]>>();
	for (let round = 0; round < rounds; round++)
		for (const [i, [name, k6]] of k6s.entries())
			for (const [what, text] of Object.entries(scripts)) {
				const one = await runScript(bench, k6, text, env(`${what}-${i}-${round}`));
				say(`${name}, ${what}: ${one.iterations} iterations, ${one.dropped} dropped`);
				const all = tried.get(name) ?? {};
				tried.set(name, { ...all, [what]: [...(all[what] ?? []), one] });
			}
	return tried;
}
