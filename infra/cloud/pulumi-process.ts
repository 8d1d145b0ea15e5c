import { execFile, spawn } from "node:child_process";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { orInterrupted } from "../../runner/stop.ts";
import { tell } from "../../runner/text/tell.ts";
import { isGone, isHere, ownerText } from "../owner.ts";

/** Starts the command pulumi, for one rig. */
export interface PulumiProcesses {
	/** The interface of Pulumi's Automation API (`PulumiCommand.run`). Throws a `PulumiFailed` unless Pulumi succeeds. */
	run(
		args: readonly string[],
		cwd: string,
		env: Readonly<Record<string, string>>,
		onOutput?: (text: string) => void,
		onError?: (text: string) => void,
		signal?: AbortSignal,
	): Promise<Said>;
	/** Kills a running one at once, whether this mqbench or an earlier one started it. It is fine if there is none. */
	kill(): Promise<void>;
	/** Resolves when no Pulumi of an earlier mqbench runs any more; calls `say` once if one does. Fails with `interrupted`. */
	settled(say: (line: string) => void, stop: AbortSignal): Promise<void>;
}

export interface Said {
	readonly stdout: string;
	readonly stderr: string;
	readonly code: number;
}

/** Pulumi ended with an error; its words are in `said`. */
export class PulumiFailed extends Error {
	readonly said: Said;
	constructor(said: Said) {
		super(reasonIn(said));
		this.said = said;
	}
	/** A Pulumi that is running, or was killed, has locked the stack. */
	get locked(): boolean {
		return /currently locked by|update is currently in progress/i.test(
			this.said.stderr + this.said.stdout,
		);
	}
	get noStack(): boolean {
		return /no stack named .* found/i.test(this.said.stderr);
	}
}

export interface ProcessOptions {
	/** Path of the program. */
	readonly program: string;
	/** Its whole environment. */
	readonly env: Readonly<Record<string, string>>;
	/** File with the running process, for a later mqbench when this one was killed. */
	readonly file: string;
}

/**
 * Pulumi takes a second SIGINT as "stop at once", and then loses track of what it has made. So it runs in a session of its own, where no
 * Ctrl-C of the terminal reaches it, below a keeper that passes on exactly one. The keeper outlives mqbench: then it asks an `up` to end
 * properly and lets everything else (a destroy) finish, and nothing fails because nobody reads its output.
 */
export function pulumiProcesses({ program, env, file }: ProcessOptions): PulumiProcesses {
	/** Kills what is running now. */
	let end: (() => Promise<void>) | null = null;
	return {
		async run(args, cwd, more, onOutput, onError, signal) {
			const whole = args.includes("--non-interactive") ? [...args] : [...args, "--non-interactive"];
			const child = spawn(
				process.execPath,
				["-e", KEEPER, args[0] === "up" ? "end" : "go-on", program, ...whole],
				{
					cwd,
					env: { ...env, ...more, PATH: besides(program, env.PATH) },
					detached: true,
					windowsHide: true,
				},
			);
			const texts = { stdout: "", stderr: "" };
			child.stdout.setEncoding("utf8").on("data", (text: string) => {
				texts.stdout += text;
				onOutput?.(text);
			});
			child.stderr.setEncoding("utf8").on("data", (text: string) => {
				texts.stderr += text;
				onError?.(text);
			});
			child.stdin.on("error", () => {});
			const ended = new Promise<number>((resolve, reject) => {
				child.on("error", reject);
				child.on("close", (code) => resolve(code ?? -1));
			});
			const ask = () => void child.stdin.write("stop\n");
			if (signal?.aborted) ask();
			signal?.addEventListener("abort", ask, { once: true });
			try {
				if (child.pid !== undefined) {
					const owner = ownerText(child.pid);
					end = async () => {
						await killSession(owner);
						await ended.catch(() => {});
					};
					// The file only helps a later mqbench. Even on a full disk this Pulumi should be watched to its end.
					await writeFile(file, owner, { mode: 0o600 }).catch(() => {});
				}
				const code = await ended;
				if (code !== 0) throw new PulumiFailed({ ...texts, code });
				return { ...texts, code };
			} finally {
				signal?.removeEventListener("abort", ask);
				end = null;
				await rm(file, { force: true }).catch(() => {});
			}
		},
		async kill() {
			await end?.();
			const owner = await ownerIn(file);
			if (owner !== null) await killSession(owner);
		},
		async settled(say, stop) {
			const owner = await ownerIn(file);
			if (owner === null || end !== null) return;
			if (!isGone(owner) && isHere(owner)) {
				say(tell("waiting-for-pulumi", { pid: Number.parseInt(owner, 10) }));
				for (let waited = 0; !isGone(owner); waited += LOOK_MS) {
					orInterrupted(stop);
					if (waited > PATIENCE_MS) await killSession(owner);
					await sleep(LOOK_MS);
				}
			}
			await rm(file, { force: true });
		},
	};
}

/** Pulumi's reason, in one line. */
export function reasonIn({ stdout, stderr, code }: Said): string {
	const lines = `${stdout}\n${stderr}`.split("\n").map((line) => line.trim());
	const errors: string[] = [];
	for (const [i, line] of lines.entries()) {
		const [, words] = /^error: (.+)$/.exec(line) ?? [];
		if (words === undefined) continue;
		// The provider's own words are in a list below: "1 error occurred:", then "* creating ...".
		const bullet = lines.slice(i + 1, i + 4).find((one) => /^\* /.test(one));
		errors.push(/occurred:$/.test(words) && bullet !== undefined ? bullet.slice(2) : words);
	}
	const reasons = [...new Set(errors)].filter((words) => !isSummary(words));
	const [first = errors[0], ...others] = reasons;
	const last = lines.findLast((line) => line !== "" && !/^warning:/.test(line));
	return (
		(first ?? last ?? `pulumi ended with code ${code}`).replace(/[.:]$/, "").slice(0, 600) +
		(others.length === 0 ? "" : ` (and ${others.length} more)`)
	);
}

/** Pulumi's last words about an error that give no reason. */
export function isSummary(words: string): boolean {
	return /^(update|destroy|refresh) failed$/.test(words);
}

// --- internal ---

const LOOK_MS = 300;

/** A destroy of machines takes minutes. */
const PATIENCE_MS = 15 * 60_000;

/** Arguments: whether Pulumi is to `end` or to `go-on` when mqbench is gone, the program, and its arguments. */
const KEEPER = `
const { spawn } = require("node:child_process");
const [whenGone, program, ...args] = process.argv.slice(1);
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(name, () => {});
const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
let asked = false;
const ask = () => {
	if (!asked) child.kill("SIGINT");
	asked = true;
};
process.stdin.on("error", () => {}).on("data", (text) => {
	if (String(text).includes("stop")) ask();
}).on("end", () => whenGone === "end" && ask());
for (const name of ["stdout", "stderr"]) {
	process[name].on("error", () => {});
	child[name].on("data", (text) => process[name].write(text));
}
child.on("error", (error) => process.stderr.write("error: " + error.message + "\\n", () => process.exit(127)));
child.on("close", (code) => process.exit(code ?? 137));
`;

/** Pulumi's language hosts are in the same folder. */
function besides(program: string, searched = ""): string {
	const beside = path.isAbsolute(program) ? [path.dirname(program)] : [];
	return [...beside, searched].join(path.delimiter);
}

async function ownerIn(file: string): Promise<string | null> {
	return await readFile(file, "utf8").catch(() => null);
}

/** The keeper leads its session, which contains Pulumi and everything that Pulumi starts. */
async function killSession(owner: string): Promise<void> {
	const leader = Number.parseInt(owner, 10);
	if (!(leader > 1) || isGone(owner) || !isHere(owner)) return;
	const kill = (pid: number) => {
		try {
			process.kill(pid, "SIGKILL");
		} catch {
			// It has just ended.
		}
	};
	for (const pid of await membersOf(leader)) if (pid !== leader) kill(pid);
	// The keeper sees its child end, and ends by itself.
	for (let i = 0; i < 30 && !isGone(owner); i++) await sleep(50);
	kill(-leader);
	for (let i = 0; i < 50 && !isGone(owner); i++) await sleep(100);
}

/** Providers have process groups of their own, so look for the session in /proc; without /proc, ps knows the descendants of its leader. */
async function membersOf(leader: number): Promise<number[]> {
	const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
	if (pids.length === 0) return below(leader);
	const sessions = await Promise.all(
		pids.map(async (pid) => {
			const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
			// proc(5): field 6; the name, which may hold blanks, is field 2.
			return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[3]);
		}),
	);
	return pids.map(Number).filter((_, i) => sessions[i] === leader);
}

/** All descendants of a process, by ps. */
export async function below(leader: number): Promise<number[]> {
	const { stdout } = await promisify(execFile)("ps", ["-A", "-o", "pid=", "-o", "ppid="]).catch(
		() => ({ stdout: "" }),
	);
	const all = stdout
		.trim()
		.split("\n")
		.map((line) => line.trim().split(/\s+/).map(Number));
	const processes = [leader];
	for (const one of processes)
		for (const [pid = 0, parent] of all)
			if (parent === one && !processes.includes(pid)) processes.push(pid);
	return processes.slice(1);
}
