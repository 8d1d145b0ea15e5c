import { execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, openSync, readSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import path from "node:path";
import { StringDecoder } from "node:string_decoder";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

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
	/** Kills a running one at once, with all that it has started. It is fine if there is none. */
	kill(): Promise<void>;
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

/**
 * Pulumi takes a second SIGINT as "stop at once", and then loses track of what it has made. So it runs in a session of its own, where no
 * Ctrl-C of the terminal reaches it, and gets exactly one from mqbench. It writes to files in `folder`, so that it goes on when mqbench is gone.
 */
export function pulumiProcesses({
	program,
	env,
	folder,
}: {
	/** Path of the program. */
	readonly program: string;
	/** Its whole environment. */
	readonly env: Readonly<Record<string, string>>;
	readonly folder: string;
}): PulumiProcesses {
	/** Kills what is running now. */
	let end: (() => Promise<void>) | null = null;
	return {
		async run(args, cwd, more, onOutput, onError, signal) {
			const whole = args.includes("--non-interactive") ? [...args] : [...args, "--non-interactive"];
			const name = path.join(folder, `pulumi-${randomBytes(4).toString("hex")}`);
			const files = [follow(`${name}.out`, onOutput), follow(`${name}.err`, onError)] as const;
			const [out, err] = files;
			const child = spawn(program, whole, {
				cwd,
				env: { ...env, ...more, PATH: besides(program, env.PATH) },
				detached: true,
				windowsHide: true,
				stdio: ["ignore", out.fd, err.fd],
			});
			const read = () => {
				for (const file of files) file.read();
			};
			const reading = setInterval(read, READ_MS);
			const ended = new Promise<number>((resolve, reject) => {
				child.on("error", reject);
				child.on("close", (code) => resolve(code ?? -1));
			});
			const ask = () => void child.kill("SIGINT");
			if (signal?.aborted) ask();
			else signal?.addEventListener("abort", ask, { once: true });
			end = async () => {
				if (child.pid !== undefined) await killTree(child.pid);
				await ended.catch(() => {});
			};
			try {
				const code = await ended;
				read();
				const texts = { stdout: out.text(), stderr: err.text() };
				if (code !== 0) throw new PulumiFailed({ ...texts, code });
				return { ...texts, code };
			} finally {
				signal?.removeEventListener("abort", ask);
				clearInterval(reading);
				for (const file of files) file.close();
				end = null;
			}
		},
		kill: async () => await end?.(),
	};
}

/**
 * Asks each Pulumi that has locked the stack once to end, as that of an mqbench that was killed, and waits; then the lock may be dropped.
 * Throws `failed` if one runs on another machine.
 */
export async function endHolders(
	failed: PulumiFailed,
	say: (line: string) => void,
	patienceMs: number,
): Promise<void> {
	const { stdout, stderr } = failed.said;
	for (const [, host, number] of (stderr + stdout).matchAll(
		/created by \S*@(\S+) \(pid (\d+)\)/g,
	)) {
		if (host !== hostname()) throw failed;
		const pid = Number(number);
		if (!(await isPulumi(pid))) continue;
		say(`Another Pulumi works on the rig (process ${pid}): it is asked to end.`);
		kill(pid, "SIGINT");
		for (let waitedMs = 0; await isPulumi(pid); waitedMs += LOOK_MS) {
			if (waitedMs > patienceMs) await killTree(pid);
			await sleep(LOOK_MS);
		}
	}
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

// --- internal ---

/** Pulumi's language hosts are in the same folder. */
function besides(program: string, searched = ""): string {
	const beside = path.isAbsolute(program) ? [path.dirname(program)] : [];
	return [...beside, searched].join(path.delimiter);
}

const LOOK_MS = 300;
const READ_MS = 100;

/** A file that another process writes. */
function follow(file: string, told: (text: string) => void = () => {}) {
	const fd = openSync(file, "wx+", 0o600);
	const decoder = new StringDecoder("utf8");
	const bytes = Buffer.alloc(65_536);
	let text = "";
	let at = 0;
	return {
		fd,
		text: () => text,
		/** What is new in it. */
		read() {
			for (let count = 1; count > 0; at += count) {
				count = readSync(fd, bytes, 0, bytes.length, at);
				const more = decoder.write(bytes.subarray(0, count));
				text += more;
				if (more !== "") told(more);
			}
		},
		close() {
			closeSync(fd);
			rmSync(file, { force: true });
		},
	};
}

/** With providers, which have process groups of their own. */
async function killTree(root: number): Promise<void> {
	for (const pid of [...(await below(root)), root]) kill(pid, "SIGKILL");
}

function kill(pid: number, signal: "SIGINT" | "SIGKILL"): void {
	try {
		process.kill(pid, signal);
	} catch {
		// It has just ended.
	}
}

/** Another process may have its number by now. */
async function isPulumi(pid: number): Promise<boolean> {
	const asked = promisify(execFile)("ps", ["-o", "stat=,args=", "-p", String(pid)]);
	const { stdout } = await asked.catch(() => ({ stdout: "" }));
	return /^[^Z].*pulumi/.test(stdout.trim());
}
