/**
 * `npm run bench`: what several clients cost on this machine. The same load at a fixed rate from 1, 2 and 4 k6 processes, on a system that
 * completes at once (noop) and on NATS. Prints a table, judges nothing: figures belong to the machine.
 *
 *   npm run build && node dist/runner/tools/bench/clients.js [--rate 3000] [--clients 1,2,4] [--repeats 1] [--seconds 2] [--k6-out json=samples.json]
 *
 * With --k6-out each is measured without that output, and with it.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { readClient } from "../../evidence/client-read.ts";
import { packageFolder } from "../../package.ts";
import { readResult } from "../../result/result-files.ts";
import { formatDuration } from "../../units.ts";

const { values } = parseArgs({
	options: {
		rate: { type: "string", default: "3000" },
		clients: { type: "string", default: "1,2,4" },
		repeats: { type: "string", default: "1" },
		seconds: { type: "string", default: "2" },
		"k6-out": { type: "string" },
	},
});

interface Row {
	readonly system: string;
	readonly out: string | null;
	readonly clients: number;
	/** CPU of all k6 together, from the first claim to the end, in cores. */
	readonly cores: number;
	readonly p50: number | null;
	readonly p99: number | null;
	readonly lagP99: number | null;
	/** Between the first and the last client's first claim, ns; null: one client. */
	readonly skewNs: number | null;
	/** From the start of mqbench until the first message was due, ms. */
	readonly startMs: number;
	readonly lost: number | null;
	readonly notOffered: number;
}

const WARMUP_SECONDS = 0.5;
const SECONDS = Number(values.seconds);
const OUTS = [null, ...(values["k6-out"] ? [values["k6-out"]] : [])];

const folder = mkdtempSync(path.join(os.tmpdir(), "mqbench-bench-"));
try {
	const rows: Row[] = [];
	for (let repeat = 1; repeat <= Number(values.repeats); repeat++)
		for (const system of ["noop", "nats"])
			for (const clients of values.clients.split(",").map(Number))
				for (const k6Out of OUTS)
					rows.push(measure(system, clients, k6Out, path.join(folder, `${rows.length}`)));
	print(rows);
} finally {
	rmSync(folder, { recursive: true, force: true });
}

// --- internal ---

/** mqbench as a user runs it, its own files as the source of the figures. */
function measure(system: string, clients: number, k6Out: string | null, out: string): Row {
	process.stderr.write(`${system}, clients: ${clients}\n`);
	const scenario = path.join(folder, "bench.yaml");
	writeFileSync(
		scenario,
		`system: ${system}
clients: ${clients}
workload: { pattern: round-trip, rate: ${values.rate}/s, message: 256B, connections: 4, warmup: ${WARMUP_SECONDS}s, duration: ${SECONDS}s }
`,
	);
	const cli = path.join(packageFolder, "dist/runner/cli.js");
	const began = Date.now();
	// A verdict that is not PASS (lag on a busy machine) has figures all the same.
	const { stderr } = spawnSync(
		process.execPath,
		[cli, scenario, "--out", out, "--no-floor", "--quiet", ...(k6Out ? ["--k6-out", k6Out] : [])],
		{ stdio: ["ignore", "ignore", "pipe"], encoding: "utf8" },
	);
	if (!existsSync(path.join(out, "result.json"))) throw new Error(stderr);
	const [run] = readResult(out).runs;
	if (!run) throw new Error(stderr);
	const totals = Array.from({ length: clients }, (_, i) => {
		const { lines } = readClient(path.join(out, run.folder), i);
		const client = lines.find((line) => line.type === "client");
		const total = lines.find((line) => line.type === "totals");
		if (!client || !total) throw new Error(`client ${i} of ${system}: ${stderr}`);
		return { ...total, t0Ms: Number(client.t0UnixNs) / 1e6 };
	});
	const claims = totals.map(({ firstClaimNs }) => firstClaimNs);
	const at = (metric: "response" | "lag", p: number) =>
		run.metrics[metric]?.percentiles.find((one) => one.p === p)?.value ?? null;
	return {
		system,
		out: k6Out,
		clients,
		cores: totals.reduce(
			(sum, { cpuNs, endNs, firstClaimNs }) => sum + cpuNs / (endNs - firstClaimNs),
			0,
		),
		p50: at("response", 50),
		p99: at("response", 99),
		lagP99: at("lag", 99),
		skewNs: clients === 1 ? null : Math.max(...claims) - Math.min(...claims),
		startMs: Math.min(...totals.map(({ t0Ms }) => t0Ms)) - began,
		lost: run.lost,
		notOffered: run.notOffered ?? 0,
	};
}

function print(rows: readonly Row[]): void {
	const head =
		"system  clients  k6-out  cores of all k6  response p50       p99  lag p99  start skew  Enter to T0  lost  not offered";
	const lines = rows.map((row) =>
		[
			row.system.padEnd(6),
			String(row.clients).padStart(8),
			(row.out === null ? "no" : "yes").padStart(7),
			row.cores.toFixed(2).padStart(16),
			time(row.p50).padStart(13),
			time(row.p99).padStart(9),
			time(row.lagP99).padStart(8),
			time(row.skewNs).padStart(11),
			`${Math.round(row.startMs)}ms`.padStart(12),
			String(row.lost ?? "n/a").padStart(5),
			String(row.notOffered).padStart(12),
		].join(" "),
	);
	const cpu = os.cpus()[0]?.model ?? "unknown CPU";
	process.stdout.write(
		`\n${cpu}, ${os.availableParallelism()} cores, ${os.type()} ${os.release()}; broker and all clients share them; round-trip of 256B at ${values.rate}/s on 4 connections, ${SECONDS}s after ${WARMUP_SECONDS}s\n\n${head}\n${lines.join("\n")}\n\ncores: from the first claim to the end. start skew: between the first claims of the first and the last client. Enter to T0: until the first\nmessage is due; of several clients 1s of it is the time that T0 lies ahead when it is handed out.\n`,
	);
}

function time(ns: number | null): string {
	return ns === null ? "n/a" : formatDuration(ns);
}
