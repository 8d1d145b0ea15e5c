import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import type { Workspace } from "../../infra/rig.ts";
import { openBoundedLog } from "../bounded-log.ts";
import { brokers } from "../brokers/index.ts";
import type { Plan } from "../model/plan.ts";
import { hide, maskUrls, secretsIn, soundsSecret } from "../secrets.ts";
import type { World } from "../world.ts";
import { type ControlLine, type ProgressLine, readProgress } from "./progress-line.ts";

export interface K6Options {
	readonly workspace: Workspace;
	readonly folder: string;
	readonly plan: Plan;
	readonly index: number;
	/** `--k6-out`: additional outputs for k6's metrics. */
	readonly outs: readonly string[];
	/** In addition to the driver's secrets: the broker's URL, and how the run begins. */
	readonly env: Readonly<Record<string, string>>;
	onProgress(line: ProgressLine): void;
}

export type K6 = ReturnType<typeof startK6>;
/** Once mqbench is gone, k6 has this long to close its books: a drain of at most 1 s, the broker's connections, the files. */
export const GRACE_MS = 10_000;

/** Starts k6 on a client, in its own process group and environment. */
export function startK6(options: K6Options, world: World) {
	const { workspace, folder, plan, index } = options;
	let complaint: string | null = null;
	const log = openBoundedLog(logOf(folder, index));
	const env = {
		...givenEnv(plan, options.outs, world.env),
		...options.env,
		// Not --out: an output's URL may have a password, and every user of the machine can read command lines.
		K6_OUT: [`mqbench=client-${index}`, ...options.outs].join(","),
		K6_AUTO_EXTENSION_RESOLUTION: "false",
	};
	const hidden = Object.entries(env).flatMap(([name, value]) =>
		soundsSecret(name) || /HEADERS/.test(name) ? [value] : secretsIn(value),
	);
	const child = workspace.start({
		args: k6Arguments(plan, index),
		env,
		cpus: plan.pin.generator,
		graceMs: GRACE_MS,
		onStdout(line) {
			const progress = readProgress(line);
			if (progress) options.onProgress(progress);
		},
		onStderr(line) {
			const masked = hide(maskUrls(line), hidden);
			if (/level=(error|fatal)/.test(masked)) complaint = logged(masked);
			// Go's own words, for example about a driver from outside.
			else if (/^(panic|fatal error): /.test(masked)) complaint = masked;
			log.write(masked);
		},
	});
	return {
		/** The agent's process on this machine, or null if k6 runs elsewhere. */
		pid: child.pid,
		/** Resolves when k6 has ended and its output is read; code and signal are null if the connection was lost. Never rejects. */
		ended: child.ended.then(async (ended) => {
			await log.close();
			return ended;
		}),
		/** The last error in its log, or why Go ended it, without passwords. */
		complaint: () => complaint,
		say: (line: ControlLine) => child.say(JSON.stringify(line)),
		/** k6 closes its books and ends. Only once: k6 takes a second signal as "at once". */
		interrupt: () => child.signal("SIGINT"),
		abandon: () => child.abandon(),
		kill: () => child.kill(),
	};
}

export function k6Arguments(plan: Plan, index: number): string[] {
	const always = "--quiet --no-color --summary-mode=disabled --no-thresholds --no-usage-report";
	return ["run", ...always.split(" "), ...segments(index, plan.client.count), "script.js"];
}

/** The text of a k6 log line: `level=error msg="Failed to send" error="connection refused"` -> "Failed to send: connection refused". */
export function logged(line: string): string {
	const parts = ["msg", "error"].flatMap(
		(name) => new RegExp(`\\b${name}="((?:[^"\\\\]|\\\\.)*)"`).exec(line)?.[1] ?? [],
	);
	const words = parts.length === 0 ? line : parts.join(": ");
	return words.replaceAll('\\"', '"').replaceAll("\\n", " ").trim();
}

/** Complaints of k6 outputs (`--k6-out`), from its masked logs. Only notes: our figures are whole, but the outputs may have gaps. */
export function outputNotes(folder: string, clients: number, outs: readonly string[]): string[] {
	if (outs.length === 0) return [];
	const logs = Array.from({ length: clients }, (_, index) => logOf(folder, index));
	const complaints = logs
		.filter((log) => existsSync(log))
		.flatMap((log) => readFileSync(log, "utf8").match(/^.*\blevel=(?:warning|error)\b.*$/gm) ?? []);
	const [first] = complaints;
	if (first === undefined) return [];
	const names = outs.map((out) => out.split("=")[0] ?? out).join(", ");
	return [
		`outputs of k6 (${names}) complained ${complaints.length} times, and may lack samples; the figures here are whole: ${logged(first)}`,
	];
}

// --- internal ---

function logOf(folder: string, index: number): string {
	return path.join(folder, `client-${index}.log`);
}

/** Variables that k6 documents for its own outputs. Other k6 variables would change the run. */
const OF_OUTPUTS = /^(K6_(PROMETHEUS_RW|OTEL|WEB_DASHBOARD|CSV|JSON|INFLUXDB)(_|$)|OTEL_)/;

/** A client's part of the heartbeat. Without the sequence, k6 fills gaps by itself and the shares drift. */
function segments(index: number, count: number): string[] {
	if (count === 1) return [];
	const edge = (i: number) => (i === 0 ? "0" : i === count ? "1" : `${i}/${count}`);
	const edges = Array.from({ length: count + 1 }, (_, i) => edge(i));
	return [
		`--execution-segment=${edge(index)}:${edge(index + 1)}`,
		`--execution-segment-sequence=${edges.join(",")}`,
	];
}

/** From the user's environment, the variables that the driver reads, and those for k6's outputs if there are any. */
function givenEnv(plan: Plan, outs: readonly string[], env: World["env"]): Record<string, string> {
	const own = new Set<string>(brokers[plan.broker]?.secretEnv(plan.driverOptions));
	const isGiven = (name: string) => own.has(name) || (outs.length > 0 && OF_OUTPUTS.test(name));
	const given = Object.entries(env).filter(([name, value]) => isGiven(name) && value !== undefined);
	return Object.fromEntries(given) as Record<string, string>;
}
