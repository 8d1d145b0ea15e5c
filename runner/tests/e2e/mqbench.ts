import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import path from "node:path";
import { expect, onTestFinished } from "vitest";
import { alive, descendants, type Process } from "../../../infra/processes.fake.ts";
import { script, testFolder as temporaryFolder } from "../../../infra/test-folder.fake.ts";
import type { Result, Run } from "../../model/result.ts";
import { RunFile } from "../../model/run-file.ts";
import { packageFolder } from "../../package.ts";
import { readResult } from "../../result/result-files.ts";

export { readResult as resultOf, script, temporaryFolder };

/** For tests: the built command line as a process. It is gone, with all processes below it, when the test is over. */
export interface Mqbench {
	readonly pid: number;
	out(): string;
	err(): string;
	/** Waits until stderr or stdout contains it: 20 s, or `ms` for a slow start. */
	says(what: RegExp, ms?: number): Promise<void>;
	readonly ended: Promise<Ended>;
	signal(name: NodeJS.Signals): void;
}

export interface Ended {
	readonly pid: number;
	readonly code: number | null;
	readonly signal: NodeJS.Signals | null;
	readonly out: string;
	readonly err: string;
}

export interface Options {
	readonly cwd?: string;
	/** The words before the command: it runs below another one. */
	readonly under?: readonly string[];
	/** In addition to PATH, HOME, the cache and the choice of a Docker engine. */
	readonly env?: Readonly<Record<string, string>>;
}

/** Starts `mqbench <args>`. */
export function start(args: readonly string[], options: Options = {}): Mqbench {
	// The floor takes 3 s; tests that are about it pass --floor.
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
	const pid = child.pid ?? -1;
	let over = false;
	const ended = new Promise<Ended>((resolve) => {
		child.once("close", (code, signal) => {
			over = true;
			resolve({ pid, code, signal, out: out(), err: err() });
		});
	});
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

/** Starts `mqbench up` for a scenario, and waits until brokers of this machine are up and its rig.json is in the folder. */
export async function standing(folder: string, file: string): Promise<Mqbench> {
	const up = start(["up", file], { cwd: folder });
	await up.says(/They stay up until Ctrl-C here/, 120_000);
	return up;
}

/**
 * Writes a scenario of one short run on nats-server, and returns its path. A busy machine cannot breach its limits: tests about something
 * else do not depend on it. A key with an empty value is left out.
 */
export function scenario(folder: string, workload: Words = {}, top: Words = {}): string {
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

export type Words = Readonly<Record<string, string>>;

/** A command and its scenario: the folder, and the files left in it. */
export interface Made {
	readonly folder: string;
	readonly file: string;
	/** Folder of the results. */
	readonly results: string;
	readonly result: Result;
	/** The first run, and its run.json. */
	readonly run: Run;
	readonly runFile: RunFile;
	/** Path of a file of the first run. */
	ofRun(name: string): string;
}

interface HowMade extends Options {
	/** Behind the scenario. */
	readonly args?: readonly string[];
	readonly folder?: string;
}

/** Starts {@link scenario}. */
export function started(
	workload: Words = {},
	top: Words = {},
	{ args = [], folder = temporaryFolder(), ...options }: HowMade = {},
): Made & { readonly mqbench: Mqbench } {
	const made = makeIn(folder, workload, top);
	const mqbench = start([made.file, "--out", made.results, ...args], options);
	return Object.assign(made, { mqbench });
}

/** Runs {@link scenario} to its end. `exit` lists the codes that it may have. */
export async function measured(
	workload: Words = {},
	top: Words = {},
	{ exit = [0], ...how }: HowMade & { readonly exit?: readonly number[] } = {},
): Promise<Made & Ended> {
	const made = started(workload, top, how);
	const ended = await made.mqbench.ended;
	expect(exit, ended.err + ended.out).toContain(ended.code);
	return Object.assign(made, ended);
}

/** Starts {@link scenario}, and returns when `at` seconds are measured, with the processes below it. `ms` is for slow starts. */
export async function measuring(
	workload: Words = {},
	top: Words = {},
	{ at = 1, ms, ...how }: HowMade & { readonly at?: number; readonly ms?: number } = {},
): Promise<Made & { readonly mqbench: Mqbench; readonly children: readonly Process[] }> {
	const made = started(workload, top, how);
	await made.mqbench.says(new RegExp(` {2}${at}s[/ ]`), ms);
	return Object.assign(made, { children: descendants(made.mqbench.pid) });
}

/** Sends a signal to a child of a command, by its name. */
export function signal(children: readonly Process[], name: string, signal: NodeJS.Signals): void {
	const found = children.find((child) => child.name === name);
	if (!found) throw new Error(`${name} does not run`);
	process.kill(found.pid, signal);
}

/** Waits until none of these processes is left. */
export function gone(children: readonly Process[], ms?: number): Promise<void> {
	return until(() => alive(children).length === 0, "no process is left", ms);
}

/** No message of a run disappears. */
export function addsUp({ intended, sent, notOffered, acked, failed, unknown, why }: Run): void {
	expect((sent ?? 0) + (notOffered ?? 0)).toBe(intended);
	if (acked !== null) expect(acked + (failed ?? 0) + (unknown ?? 0)).toBe(sent);
	expect(why ?? "").not.toContain("add up");
}

/** A percentile of the response time, ns. */
export function response({ metrics }: Run, percentile: number): number {
	return metrics.response?.percentiles.find(({ p }) => p === percentile)?.value ?? Number.NaN;
}

/** The output as one line, independent of the terminal's width. */
export function flat(text: string): string {
	return text.replaceAll(/\s+/g, " ");
}

/** Asserts that no file below a folder, and none of these texts, has a secret in it. */
export function expectNowhere(secret: string, folder: string, ...texts: readonly string[]): void {
	for (const text of texts) expect(text).not.toContain(secret);
	for (const name of filesOf(folder))
		expect(readFileSync(path.join(folder, name), "latin1"), name).not.toContain(secret);
}

/** Whether a check shows that other programs used the machine, which caused the other findings of the run. */
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
	const port = await listening(server);
	await new Promise((down) => server.close(down));
	return port;
}

/** Has a server listen on 127.0.0.1 until the test is over; returns its port. */
export async function listening(server: Server): Promise<number> {
	await new Promise<void>((up) => server.listen(0, "127.0.0.1", up));
	onTestFinished(() => void server.close());
	return (server.address() as { port: number }).port;
}

/** Waits for a condition; fails with `what`. */
export async function until(condition: () => boolean, what: string, ms = 20_000): Promise<void> {
	const end = Date.now() + ms;
	while (!condition()) {
		if (Date.now() > end) throw new Error(`waited ${ms} ms in vain: ${what}`);
		await new Promise((resolve) => setTimeout(resolve, 20));
	}
}

// --- internal ---

function makeIn(folder: string, workload: Words, top: Words): Made {
	const file = scenario(folder, workload, top);
	const results = path.join(folder, "out");
	const first = () => {
		const [one] = readResult(results).runs;
		if (!one) throw new Error("there is no run");
		return one;
	};
	const ofRun = (name: string) => path.join(results, first().folder, name);
	return {
		folder,
		file,
		results,
		ofRun,
		get result() {
			return readResult(results);
		},
		get run() {
			return first();
		},
		get runFile() {
			return RunFile.parse(JSON.parse(readFileSync(ofRun("run.json"), "utf8")));
		},
	};
}

const CLI = path.join(packageFolder, "dist", "runner", "cli.js");

const BASE = Object.fromEntries(
	[
		"PATH",
		"HOME",
		"TMPDIR",
		"MQBENCH_CACHE_DIR",
		"XDG_CACHE_HOME",
		"JAVA_HOME",
		// The tests look at the same engine as mqbench.
		"DOCKER_HOST",
		"DOCKER_CONTEXT",
		"DOCKER_CONFIG",
	]
		.map((name) => [name, process.env[name]])
		.filter(([, value]) => value !== undefined),
) as Record<string, string>;

function lines(map: Readonly<Record<string, string>>, between: string): string {
	return Object.entries(map)
		.filter(([, value]) => value !== "")
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
