import { appendFileSync, existsSync, readFileSync } from "node:fs";
import path from "node:path";
import type { Workspace } from "../../infra/rig.ts";
import { brokerOf } from "../brokers/index.ts";
import type { Plan } from "../model/plan.ts";
import { hide, maskUrls, secretsIn, soundsSecret } from "../secrets.ts";
import type { World } from "../world.ts";
import { type ControlLine, type ProgressLine, readProgress } from "./progress-line.ts";

export interface K6Options {
	/** Where it runs: holds script.js and plan.json, and gets the results. */
	readonly workspace: Workspace;
	/** The run's folder here, which keeps what it says. */
	readonly folder: string;
	readonly plan: Plan;
	/** Which of the plan's clients it is. */
	readonly index: number;
	/** Outputs of k6 that get its metrics, beside ours. */
	readonly outs: readonly string[];
	/** Beside the driver's secrets: the broker's URL, and how the run begins. */
	readonly env: Readonly<Record<string, string>>;
	/** Told of each line. */
	onProgress(line: ProgressLine): void;
}

/** A process of k6 that makes a client's part of a run. */
export type K6 = ReturnType<typeof startK6>;

/** After mqbench is gone k6 closes its books: a drain of at most 1 s, the broker's connections, the files. */
export const GRACE_MS = 10_000;

/** Starts k6 on a client, in a process group and an environment of its own. */
export function startK6(options: K6Options, world: World) {
	const { workspace, folder, plan, index } = options;
	let complaint: string | null = null;
	let interrupted = false;
	const env = {
		...givenEnv(plan, options.outs, world.env),
		...options.env,
		// Not as --out: an output's URL may have a password, and everybody on the machine reads command lines.
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
			keepLog(folder, index, masked);
		},
	});
	return {
		/** Process of agent on this machine; null: k6 is elsewhere. */
		pid: child.pid,
		/** Resolves when it has ended and its output is read; code and signal null: the connection to it is gone. Never rejects. */
		ended: child.ended,
		/** The last error that it logged, without passwords; null: none. */
		complaint: () => complaint,
		say: (line: ControlLine) => child.say(JSON.stringify(line)),
		/** It closes its books and ends. One signal, however often it is asked for: k6 takes a second one as "at once". */
		interrupt() {
			if (interrupted) return;
			interrupted = true;
			child.signal("SIGINT");
		},
		/** Ends it for sure: within the grace, or at once. */
		abandon: () => child.abandon(),
		kill: () => child.kill(),
	};
}

/** The command line of a client's part of a run, in its folder. */
export function k6Arguments(plan: Plan, index: number): string[] {
	return [
		"run",
		"--quiet",
		"--no-color",
		"--summary-mode=disabled",
		"--no-thresholds",
		"--no-usage-report",
		...segments(index, plan.client.count),
		"script.js",
	];
}

/** What a line of k6's log says: `level=error msg="Failed to send" error="connection refused"` -> "Failed to send: connection refused". */
export function logged(line: string): string {
	const parts = ["msg", "error"].flatMap(
		(name) => new RegExp(`\\b${name}="((?:[^"\\\\]|\\\\.)*)"`).exec(line)?.[1] ?? [],
	);
	const words = parts.length === 0 ? line : parts.join(": ");
	return words.replaceAll('\\"', '"').replaceAll("\\n", " ").trim();
}

/**
 * What outputs of k6 (`--k6-out`) complained of in a run that came to its end: a note, for its figures are whole, and whoever looks at the other
 * end sees only a gap. From k6's own logs, in which secrets are masked already.
 */
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

/** Variables that k6's documentation has for outputs that it has itself; others of k6 would change the run. */
const OF_OUTPUTS = /^(K6_(PROMETHEUS_RW|OTEL|WEB_DASHBOARD|CSV|JSON|INFLUXDB)(_|$)|OTEL_)/;

/** Its part of the heartbeat. Always with the sequence: without it k6 fills gaps by itself, and shares drift. */
function segments(index: number, count: number): string[] {
	if (count === 1) return [];
	const edge = (i: number) => (i === 0 ? "0" : i === count ? "1" : `${i}/${count}`);
	const edges = Array.from({ length: count + 1 }, (_, i) => edge(i));
	return [
		`--execution-segment=${edge(index)}:${edge(index + 1)}`,
		`--execution-segment-sequence=${edges.join(",")}`,
	];
}

/** Of the user's environment what the driver reads beside the URL, and what k6's outputs read, if there are any. */
function givenEnv(plan: Plan, outs: readonly string[], env: World["env"]): Record<string, string> {
	const own = new Set<string>(brokerOf(plan).secretEnv);
	return Object.fromEntries(
		Object.entries(env).flatMap(([name, value]) =>
			value !== undefined && (own.has(name) || (outs.length > 0 && OF_OUTPUTS.test(name)))
				? [[name, value]]
				: [],
		),
	);
}

/** k6's own words are kept beside the results: a run that fails is explained there. */
function keepLog(folder: string, index: number, line: string): void {
	try {
		appendFileSync(logOf(folder, index), `${line}\n`);
	} catch {
		// A full disk: the run itself will say so.
	}
}
