import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";
import { descendants } from "../../../infra/processes.fake.ts";
import type { Result } from "../../model/result.ts";
import { packageFolder } from "../../package.ts";
import { readResult } from "../../result/result-files.ts";

/** For tests: the built command line in a process of its own. It is gone, with all below it, when the test is over. */
export interface Mqbench {
	readonly pid: number;
	out(): string;
	err(): string;
	/** Waits until stderr or stdout says it; 20 s, or `ms` of what starts slowly. */
	says(what: RegExp, ms?: number): Promise<void>;
	readonly ended: Promise<Ended>;
	signal(name: NodeJS.Signals): void;
}

export interface Ended {
	readonly code: number | null;
	readonly signal: NodeJS.Signals | null;
	readonly out: string;
	readonly err: string;
}

export interface Options {
	readonly cwd?: string;
	/** The words before the command: it runs below another one. */
	readonly under?: readonly string[];
	/** Beside PATH, HOME, the cache and the choice of a Docker engine. */
	readonly env?: Readonly<Record<string, string>>;
}

/** Starts `mqbench <args>`. */
export function start(args: readonly string[], options: Options = {}): Mqbench {
	// The floor takes 3 s; tests that are about it say --floor.
	const brief = args[0]?.endsWith(".yaml") && !args.includes("--floor");
	const all = args.filter((arg) => arg !== "--floor");
	if (brief) all.push("--no-floor");
	const [program = "", ...words] = [...(options.under ?? []), process.execPath, CLI, ...all];
	const child = spawn(program, words, {
		cwd: options.cwd ?? packageFolder,
		env: { ...BASE, ...options.env },
		stdio: ["ignore", "pipe", "pipe"],
	});
	const out = collect(child, "stdout");
	const err = collect(child, "stderr");
	let over = false;
	const ended = new Promise<Ended>((resolve) => {
		child.once("close", (code, signal) => {
			over = true;
			resolve({ code, signal, out: out(), err: err() });
		});
	});
	const pid = child.pid ?? -1;
	onTestFinished(() => {
		for (const process of descendants(pid)) kill(process.pid);
		kill(pid);
	});
	return {
		pid,
		out,
		err,
		async says(what, ms) {
			const said = () => what.test(out() + err());
			await until(() => said() || over, `${what}`, ms);
			if (!said()) throw new Error(`ended without ${what}:\n${out()}${err()}`);
		},
		ended,
		signal: (name) => void child.kill(name),
	};
}

/** Runs `mqbench <args>` to its end. */
export function run(args: readonly string[], options: Options = {}): Promise<Ended> {
	return start(args, options).ended;
}

/** Runs a line of bash to its end, in which `"$0" "$1"` is mqbench and `"$2"` and on are `args`. */
export function shell(
	line: string,
	args: readonly string[],
): { status: number | null; stdout: string; stderr: string } {
	return spawnSync("bash", ["-c", line, process.execPath, CLI, ...args], {
		env: BASE,
		encoding: "utf8",
	});
}

/** Starts `mqbench up` for a scenario, and waits until brokers of this machine are up and its rig.json is in the folder. */
export async function standing(folder: string, file: string): Promise<Mqbench> {
	const up = start(["up", file], { cwd: folder });
	await up.says(/They stay up until Ctrl-C here/, 120_000);
	return up;
}

/** A folder that is gone when the test is over. */
export function temporaryFolder(): string {
	const folder = mkdtempSync(path.join(tmpdir(), "mqbench-e2e-"));
	onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
	return folder;
}

/**
 * Writes a scenario of one short run on nats-server, and returns its path. Its limits are such that a busy machine cannot
 * breach them: tests that are about something else do not depend on it.
 */
export function scenario(
	folder: string,
	workload: Readonly<Record<string, string>> = {},
	top: Readonly<Record<string, string>> = {},
): string {
	const file = path.join(folder, "scenario.yaml");
	const load = {
		pattern: "round-trip",
		rate: "500/s",
		message: "256B",
		warmup: "0s",
		duration: "1s",
		...workload,
	};
	const all = {
		name: "e2e",
		system: "nats",
		workload: `{ ${lines(load, ", ")} }`,
		sla: "[p50 < 10s, lost == 0]",
		...top,
	};
	writeFileSync(file, `${lines(all, "\n")}\n`);
	return file;
}

export function resultOf(folder: string): Result {
	return readResult(folder);
}

/** Whether a check says that others had the machine: what a run says beside it is their doing. */
export function othersHadTheMachine({ runs }: Result): boolean {
	return runs.some(({ validity }) =>
		validity.some(({ check, status }) => ["others", "steal"].includes(check) && status === "warn"),
	);
}

/** All files below a folder, as paths within it. */
export function filesOf(folder: string): string[] {
	return readdirSync(folder, { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile())
		.map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
		.sort();
}

/** A port on 127.0.0.1 that is free now. */
export async function freePort(): Promise<number> {
	const server = createServer();
	await new Promise<void>((up) => server.listen(0, "127.0.0.1", up));
	const { port } = server.address() as { port: number };
	await new Promise((down) => server.close(down));
	return port;
}

/** An executable shell script. */
export function script(file: string, body: string): string {
	writeFileSync(file, `#!/bin/sh\n${body}\n`, { mode: 0o755 });
	return file;
}

/** Waits for a condition; fails with what was waited for. */
export async function until(condition: () => boolean, what: string, ms = 20_000): Promise<void> {
	const end = Date.now() + ms;
	while (!condition()) {
		if (Date.now() > end) throw new Error(`waited ${ms} ms in vain: ${what}`);
		await new Promise((resolve) => setTimeout(resolve, 20));
	}
}

// --- internal ---

const CLI = path.join(packageFolder, "dist", "runner", "cli.js");

const BASE = Object.fromEntries(
	[
		"PATH",
		"HOME",
		"TMPDIR",
		"MQBENCH_CACHE_DIR",
		"XDG_CACHE_HOME",
		// The engine that tests look at is the one that mqbench uses.
		"DOCKER_HOST",
		"DOCKER_CONTEXT",
		"DOCKER_CONFIG",
	]
		.map((name) => [name, process.env[name]])
		.filter(([, value]) => value !== undefined),
) as Record<string, string>;

function lines(map: Readonly<Record<string, string>>, between: string): string {
	return Object.entries(map)
		.map(([key, value]) => `${key}: ${value}`)
		.join(between);
}

function collect(child: ChildProcess, stream: "stdout" | "stderr"): () => string {
	const pieces: Buffer[] = [];
	child[stream]?.on("data", (piece: Buffer) => pieces.push(piece));
	return () => Buffer.concat(pieces).toString("utf8");
}

function kill(pid: number): void {
	try {
		if (pid > 0) process.kill(pid, "SIGKILL");
	} catch {
		// It has ended by itself.
	}
}
