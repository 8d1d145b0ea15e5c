/**
 * `npm run bench`: how exactly the load is made. In one run and side by side: (a) plain k6, one iteration per message,
 * (b) mqbench, on a system that completes at once (noop) and on NATS; then what mqbench carries. Prints a table, judges nothing:
 * figures belong to the machine.
 *
 *   npm run bench -- --rates 1000,3000 --seconds 10
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import type { Result } from "../../model/result.ts";
import { packageFolder } from "../../package.ts";
import { readResult } from "../../result/result-files.ts";
import { startNats } from "../../tests/nats-server.ts";
import { formatDuration, ratePerSecond } from "../../units.ts";
import { buildRival, findBinaries, worldOf } from "./programs.ts";

interface Row {
	readonly system: string;
	readonly rate: number;
	readonly how: string;
	readonly achieved: number;
	readonly missing: number;
	readonly lag: Quantiles;
	readonly response: Quantiles;
	/** CPU of the generator in cores. */
	readonly cores: number;
}

interface Quantiles {
	readonly p50: number | null;
	readonly p90: number | null;
	readonly p99: number | null;
}

const { values } = parseArgs({
	options: {
		rates: { type: "string", default: "1000,3000,20000,100000" },
		most: { type: "string", default: "400000" },
		seconds: { type: "string", default: "5" },
	},
});
const seconds = Number(values.seconds);
const rates = values.rates.split(",").map(Number);
const WARMUP_SECONDS = 2;

const folder = mkdtempSync(path.join(os.tmpdir(), "mqbench-bench-"));
try {
	const rows: Row[] = [];
	const ours = measureOurs(["noop", "nats"], [...rates, Number(values.most)]);
	const naive = buildRival("k6-naive", folder);
	const world = worldOf(process, new AbortController().signal);
	const natsServer = (await findBinaries(world)).brokers["nats-server"] ?? "";
	for (const system of ["noop", "nats"])
		for (const rate of rates) {
			rows.push(await measureNaive({ naive, natsServer }, system, rate));
			rows.push(...ours.filter((r) => r.system === system && r.rate === rate));
		}
	rows.push(...ours.filter((row) => row.rate === Number(values.most)));
	print(rows);
} finally {
	rmSync(folder, { recursive: true, force: true });
}

// --- internal ---

/** mqbench as a user runs it, its own result as the source of the figures. */
function measureOurs(systems: string[], all: number[]): Row[] {
	const scenario = path.join(folder, "bench.yaml");
	writeFileSync(
		scenario,
		`systems: { ${systems.map((s) => `${s}: ${s}`).join(", ")} }
workload: { pattern: round-trip, message: 256B, duration: ${seconds}s, warmup: ${WARMUP_SECONDS}s, rate: 1/s }
cases: [${all.map((rate) => `{ rate: ${rate}/s }`).join(", ")}]
`,
	);
	const cli = path.join(packageFolder, "dist/runner/cli.js");
	const out = path.join(folder, "ours");
	try {
		execFileSync(process.execPath, [cli, scenario, "--out", out, "--json", "--no-floor"], {
			stdio: ["ignore", "ignore", "inherit"],
		});
	} catch {
		// A verdict that is not PASS (lag on a busy machine) has figures all the same.
	}
	return readResult(out).runs.map((run) => {
		return {
			system: run.system,
			rate: run.load.rate === null ? 0 : ratePerSecond(run.load.rate),
			how: "mqbench",
			achieved: run.throughput.achieved ?? 0,
			missing: run.intended - (run.received ?? 0),
			lag: quantiles(run.metrics.lag),
			response: quantiles(run.metrics.response),
			cores: cpuOf(path.join(out, run.folder)),
		};
	});
}

function quantiles(metric: Result["runs"][number]["metrics"]["lag"]): Quantiles {
	const at = (p: number) => metric?.percentiles.find((one) => one.p === p)?.value ?? null;
	return { p50: at(50), p90: at(90), p99: at(99) };
}

function cpuOf(run: string): number {
	const lines = readFileSync(path.join(run, "client-0.jsonl"), "utf8")
		.trim()
		.split("\n")
		.map((line) => JSON.parse(line));
	const totals = lines.find((line) => line.type === "totals");
	return totals.cpuNs / totals.endNs;
}

/** One iteration per message: what a person writes who has k6 and a client library. */
async function measureNaive(
	bin: { readonly naive: string; readonly natsServer: string },
	system: string,
	rate: number,
): Promise<Row> {
	process.stderr.write(`plain k6, ${system}, ${rate}/s\n`);
	const script = path.join(folder, "naive.js");
	const result = path.join(folder, "naive.json");
	// Enough VUs for a rate that it can make; k6 says itself what it dropped.
	const vus = Math.min(400, Math.max(50, Math.ceil(rate / 200)));
	writeFileSync(
		script,
		`import naive from 'k6/x/naive';
naive.load({ broker: '${system}', rate: ${rate}, bytes: 256, warmup_seconds: ${WARMUP_SECONDS}, duration_seconds: ${seconds} });
export const options = { scenarios: { messages: { executor: 'constant-arrival-rate', rate: ${rate}, timeUnit: '1s', duration: '${WARMUP_SECONDS + seconds}s', preAllocatedVUs: ${vus}, maxVUs: ${vus} } } };
export default () => naive.message();
`,
	);
	const broker = system === "nats" ? await startNats(bin.natsServer) : null;
	try {
		execFileSync(
			bin.naive,
			[
				"run",
				"--quiet",
				"--summary-mode=disabled",
				"--no-usage-report",
				`--out=naive=${result}`,
				script,
			],
			{
				cwd: folder,
				env: { PATH: process.env.PATH, MQBENCH_URL: broker?.url ?? "" },
				stdio: ["ignore", "ignore", "ignore"],
			},
		);
	} finally {
		broker?.child.kill("SIGTERM");
	}
	const found = JSON.parse(readFileSync(result, "utf8"));
	const all = WARMUP_SECONDS + seconds;
	return {
		system,
		rate,
		how: "plain k6",
		achieved: found.sent / all,
		missing: Math.max(0, rate * all - found.received),
		lag: found.lag,
		response: found.response,
		cores: found.cpuNs / 1e9 / all,
	};
}

function print(rows: readonly Row[]): void {
	const head =
		"system    rate/s  made by   achieved/s  missing  lag p50     p90     p99  response p50     p99  cores";
	const lines = rows.map((row) =>
		[
			row.system.padEnd(6),
			String(row.rate).padStart(9),
			` ${row.how.padEnd(9)}`,
			row.achieved.toFixed(0).padStart(10),
			String(row.missing).padStart(8),
			time(row.lag.p50).padStart(8),
			time(row.lag.p90).padStart(7),
			time(row.lag.p99).padStart(7),
			time(row.response.p50).padStart(13),
			time(row.response.p99).padStart(7),
			row.cores.toFixed(2).padStart(6),
		].join(" "),
	);
	const cpu = os.cpus()[0]?.model ?? "unknown CPU";
	process.stdout.write(
		`\n${cpu}, ${os.availableParallelism()} cores, ${os.type()} ${os.release()}; broker and generator share them; 256B, ${seconds}s after ${WARMUP_SECONDS}s\n\n${head}\n${lines.join("\n")}\n\nlag: how late a message left, by the generator's own doing. plain k6 times a message from the index of its iteration;\nits missing ones were dropped by k6 (no free VU) or were not reached.\n`,
	);
}

function time(ns: number | null): string {
	return ns === null ? "n/a" : formatDuration(ns);
}
