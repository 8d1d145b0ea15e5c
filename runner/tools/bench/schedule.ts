/**
 * `npm run bench`: how exactly plain k6 makes the load, one iteration per message, as written with k6 and a client library, and how exactly
 * mqbench does, on a system that completes at once (noop) and on NATS. Also the cost of several clients, and of metrics for an output of
 * k6. Prints a table, judges nothing.
 *
 *   npm run build && node dist/runner/tools/bench/schedule.js [--rates 1000,3000] [--clients 1,2,4] [--seconds 5] [--repeats 1] [--k6-out json=samples.json]
 */
import { parseArgs } from "node:util";
import {
	type Bench,
	coresOf,
	openBroker,
	printTable,
	quantile,
	runOurs,
	runScript,
	say,
	time,
	withBench,
} from "./bench.ts";

const { values } = parseArgs({
	options: {
		/** Messages a second; the last only by mqbench. */
		rates: { type: "string", default: "1000,3000,20000,100000,400000" },
		/** Processes that make the first rate together. */
		clients: { type: "string", default: "2,4" },
		seconds: { type: "string", default: "5" },
		repeats: { type: "string", default: "1" },
		/** Each rate is measured without this output of k6, and with it. */
		"k6-out": { type: "string" },
	},
});
const seconds = Number(values.seconds);
const rates = values.rates.split(",").map(Number);
const WARMUP_SECONDS = 2;
const BYTES = 256;
const PERCENTILES = [50, 90, 99] as const;

await withBench(async (bench) => {
	const rows: string[][] = [];
	for (let repeat = 0; repeat < Number(values.repeats); repeat++)
		for (const system of ["noop", "nats"]) {
			for (const rate of rates) {
				if (rate !== rates.at(-1)) rows.push(await plainK6(bench, system, rate));
				rows.push(await ours(bench, system, rate));
				const k6Out = values["k6-out"];
				if (k6Out) rows.push(await ours(bench, system, rate, { k6Out }));
			}
			for (const clients of values.clients.split(",").filter(Boolean).map(Number))
				rows.push(await ours(bench, system, rates[0] ?? 1000, { clients }));
		}
	printTable(
		`Round trips of ${BYTES} B, ${seconds} s after ${WARMUP_SECONDS} s`,
		[
			"system",
			"rate/s",
			"made by",
			"achieved/s",
			"missing",
			...PERCENTILES.map((p) => `lag p${p}`),
			...PERCENTILES.map((p) => `response p${p}`),
			"start skew",
			"cores",
		],
		rows,
	);
	process.stdout.write(
		"\nlag: how late a message left, by the generator's own doing; plain k6 knows it to 1 ms, from the index of an iteration. Its missing messages\nwere dropped by k6 (no free VU) or were not reached. start skew: between the first claims of the first and the last client.\n",
	);
});

// --- internal ---

async function ours(
	bench: Bench,
	broker: string,
	rate: number,
	options: { clients?: number; k6Out?: string } = {},
): Promise<string[]> {
	const { clients = 1, k6Out } = options;
	const made = `mqbench${clients > 1 ? `, ${clients} clients` : ""}${k6Out ? ", --k6-out" : ""}`;
	say(`${made}, ${broker}, ${rate}/s`);
	const run = await runOurs(
		bench,
		null,
		{ broker },
		{
			pattern: "round-trip",
			message: `${BYTES}B`,
			rate: `${rate}/s`,
			connections: clients,
			warmup: `${WARMUP_SECONDS}s`,
			duration: `${seconds}s`,
		},
		options,
	);
	return [
		broker,
		`${rate}`,
		made,
		(run.throughput.achieved ?? 0).toFixed(0),
		`${run.intended - (run.received ?? 0)}`,
		...PERCENTILES.map((p) => time(quantile(run, "lag", p))),
		...PERCENTILES.map((p) => time(quantile(run, "response", p))),
		clients === 1 ? "" : time(run.startSkewNs),
		coresOf(run).toFixed(2),
	];
}

async function plainK6(bench: Bench, broker: string, rate: number): Promise<string[]> {
	say(`plain k6, ${broker}, ${rate}/s`);
	const all = WARMUP_SECONDS + seconds;
	// Enough VUs for a rate that it can sustain; k6 itself prints what it dropped.
	const vus = Math.min(400, Math.max(50, Math.ceil(rate / 200)));
	const opened = broker === "noop" ? null : await openBroker(bench, { broker });
	try {
		const publishes = opened !== null;
		const script = `import exec from "k6/execution";
import { Trend } from "k6/metrics";
${publishes ? 'import { Nats } from "k6/x/nats"; const nats = new Nats({ servers: [__ENV.URL] });' : ""}
const text = "x".repeat(${BYTES}), lag = new Trend("lag");
export const options = { summaryTrendStats: [${PERCENTILES.map((p) => `"p(${p})"`)}], scenarios: { messages: { executor: "constant-arrival-rate", rate: ${rate}, timeUnit: "1s", duration: "${all}s", preAllocatedVUs: ${vus}, maxVUs: ${vus} } } };
export default function () {
	const intended = exec.scenario.startTime + (exec.scenario.iterationInTest * 1000) / ${rate};
	if (exec.scenario.iterationInTest >= ${WARMUP_SECONDS * rate}) lag.add(Math.max(0, Date.now() - intended));
	${publishes ? 'nats.publish("bench", text);' : ""}
}`;
		const told = await runScript(bench, bench.binaries.k6, script, { URL: opened?.url ?? "" });
		return [
			broker,
			`${rate}`,
			"plain k6",
			(told.iterations / all).toFixed(0),
			`${Math.max(0, rate * all - told.iterations)}`,
			...PERCENTILES.map((p) => time(told.value("lag", `p(${p})`) * 1e6)),
			...PERCENTILES.map(() => "n/a"),
			"",
			(told.cpuSeconds / all).toFixed(2),
		];
	} finally {
		await opened?.close();
	}
}
