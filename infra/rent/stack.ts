import { execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readFileSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { PulumiCommand } from "@pulumi/pulumi/automation";
import { parse, stringify } from "yaml";
import { failure } from "../../runner/errors.ts";
import { reasonOf } from "../../runner/reason.ts";
import { writeWhole } from "../../runner/whole-file.ts";
import type { World } from "../../runner/world.ts";
import type { AwsConfig } from "../aws/config.ts";
import { findOnPath } from "../local/program.ts";
import { sendSignal } from "../pid.ts";
import { awsFolder, loadSdk } from "./api.ts";
import type { RigFolder } from "./rigs.ts";

/** A rig in Pulumi's hands. Tests pass a fake. */
export interface Stack {
	/** Makes the missing parts; resolves with the program's output "rig". Aborting `signal` asks Pulumi once to end properly. */
	up(config: AwsConfig, how: { readonly signal: AbortSignal; readonly say: Say }): Promise<unknown>;
	/**
	 * Takes down everything in the state; a Pulumi that has locked it is ended first, after `patienceMs` by force. false if there may be more
	 * than the state had, because it is missing or a Pulumi was killed.
	 */
	destroy(say: Say, patienceMs: number): Promise<boolean>;
}

/** Called with each step, a line for people. */
type Say = (line: string) => void;

/**
 * The stack of a rig, over Pulumi's Automation API: the project infra/aws as a local one, just as `pulumi up` by hand runs it. State, settings
 * and passphrase are in the rig's folder; nothing is written to the project's folder. Nothing is made yet.
 */
export async function openStack(folder: RigFolder, world: World): Promise<Stack> {
	const { LocalWorkspace, Stack } = await loadSdk<typeof import("@pulumi/pulumi/automation")>(
		"@pulumi/pulumi/automation",
	);
	const command = pulumiCommand(await findPulumi(world), passedOn(world.env), folder.path);
	writeProject(folder);
	const workspace = await LocalWorkspace.create({
		workDir: folder.project,
		envVars: {
			PULUMI_BACKEND_URL: backendOf(folder.pulumi),
			PULUMI_CONFIG_PASSPHRASE: readFileSync(folder.passphrase, "utf8"),
			PULUMI_SKIP_UPDATE_CHECK: "true",
		},
		pulumiCommand: command as unknown as PulumiCommand,
	});
	const select = () =>
		Stack.select(folder.id, workspace).catch((error) => {
			if (says(error, "no stack named")) return null;
			throw error;
		});
	return {
		async up(config, { signal, say }) {
			signal.throwIfAborted();
			const stack = (await select()) ?? (await Stack.create(folder.id, workspace));
			await stack.setConfig("mqbench:rig", { value: JSON.stringify(config) });
			signal.throwIfAborted();
			const { outputs } = await stack.up({ signal, color: "never", onOutput: steps(say) });
			return outputs.rig?.value;
		},
		async destroy(say, patienceMs) {
			const stack = await select();
			if (stack === null) return false;
			const onOutput = steps(say);
			const how = { refresh: true, continueOnError: true, color: "never", onOutput } as const;
			try {
				await stack.destroy(how);
				return true;
			} catch (error) {
				if (!says(error, "currently locked by")) throw error;
				await endHolders(error, say, patienceMs);
				say("Dropping the lock that a killed Pulumi has left.");
				await stack.cancel();
				await stack.destroy(how);
				return false;
			}
		},
	};
}

/** "aws:ec2:Instance broker-1 created"; null for a line without interest. For steps that take no time only the end is shown. */
export function step(line: string): string | null {
	// Hundreds of megabytes, but only the first time.
	const plugin = /((?:Down|Instal)\w+ plugin \S+): starting$/.exec(line)?.[1];
	if (plugin !== undefined) return `Pulumi: ${plugin.toLowerCase()} ...`;
	const [, type = "", name, what = ""] =
		/^\s*[-+~]{1,2}\s+(aws:\S+)\s+(\S+)\s+\**(\w+ failed|created|deleted|updated|creating(?!.*error:)|deleting(?!.*error:))\b/.exec(
			line,
		) ?? [];
	const brief = what.endsWith("ing") && !type.endsWith(":Instance");
	return what === "" || brief ? null : `${type} ${name} ${what}`;
}

type Said = Readonly<{ stdout: string; stderr: string; code: number }>;

/** Pulumi ended with an error; its words are in `said`, the reason in `message`. */
export class PulumiFailed extends Error {
	readonly said: Said;
	constructor(said: Said) {
		super(reasonIn(said));
		this.said = said;
	}
}

/** Path of the command pulumi: MQBENCH_PULUMI, else on PATH. Fails with `pulumi-missing` unless its version is the SDK's or newer. */
export async function findPulumi({ env, cwd }: Pick<World, "env" | "cwd">): Promise<string> {
	const { version } = await loadSdk<{ version: string }>("@pulumi/pulumi/version");
	const own = env.MQBENCH_PULUMI;
	const program = own ? path.resolve(cwd, own) : findOnPath("pulumi", env);
	const missing = (reason: string) => failure("pulumi-missing", { version, reason });
	if (program === null) throw missing("there is none on PATH");
	const how = { env: { ...passedOn(env), PULUMI_SKIP_UPDATE_CHECK: "true" }, timeout: 30_000 };
	const answer = await promisify(execFile)(program, ["version"], how).catch((error) => {
		throw missing(`${program} does not run (${reasonOf(error).split("\n")[0]})`);
	});
	const found = /^v?(\d+\.\d+\.\d+\S*)$/m.exec(answer.stdout.trim())?.[1];
	if (found === undefined) throw missing(`${program} does not say its version`);
	const newer = found.localeCompare(version, "en", { numeric: true }) >= 0;
	if (!newer || Number.parseInt(found, 10) !== Number.parseInt(version, 10))
		throw missing(`${program} is ${found}`);
	return program;
}

/** Our environment, because credentials may need any variable, except those that would lead Pulumi elsewhere or change its programs. */
export function passedOn(env: World["env"]): Record<string, string> {
	const other = /^(PULUMI_(?!HOME$)\w*|NODE_OPTIONS|K6_\w*)$/i;
	const passed = Object.entries(env).filter(([name, value]) => value && !other.test(name));
	return Object.fromEntries(passed) as Record<string, string>;
}

/**
 * The command pulumi as Pulumi's Automation API starts it (`PulumiCommand`). Pulumi takes a second SIGINT as "stop at once", and then loses
 * track of its machines. So it runs in a separate session, where no Ctrl-C of the terminal reaches it, and gets exactly one from mqbench.
 * It writes to files in `folder`, so it goes on when mqbench is gone. `env` is its whole environment.
 */
export function pulumiCommand(command: string, env: Record<string, string>, folder: string) {
	/** Throws a `PulumiFailed` unless Pulumi succeeds. */
	async function run(
		args: readonly string[],
		cwd: string,
		more: Record<string, string>,
		onOutput: (text: string) => void = () => {},
		_onError?: unknown,
		signal?: AbortSignal,
	): Promise<Said> {
		const whole = args.includes("--non-interactive") ? args : [...args, "--non-interactive"];
		const name = path.join(folder, `pulumi-${randomBytes(4).toString("hex")}`);
		const files = { stdout: `${name}.out`, stderr: `${name}.err` };
		const opened = Object.values(files).map((file) => openSync(file, "wx", 0o600));
		const read = (file: string) => readFileSync(file, "utf8");
		let sent = 0;
		/** Whole lines: a letter may be cut in two. */
		const tell = (text = read(files.stdout), end = text.lastIndexOf("\n") + 1) => {
			if (end > sent) onOutput(text.slice(sent, end));
			sent = end;
		};
		const child = spawn(command, whole, {
			cwd,
			// Pulumi's language hosts are in the same folder.
			env: { ...env, ...more, PATH: `${path.dirname(command)}${path.delimiter}${env.PATH ?? ""}` },
			detached: true,
			windowsHide: true,
			stdio: ["ignore", ...opened],
		});
		for (const one of opened) closeSync(one);
		const telling = setInterval(tell, 100);
		const ask = () => void child.kill("SIGINT");
		signal?.addEventListener("abort", ask, { once: true });
		if (signal?.aborted) ask();
		try {
			const [ended] = await once(child, "close");
			const code = ended ?? -1;
			tell();
			const said = { stdout: read(files.stdout), stderr: read(files.stderr), code };
			if (code !== 0) throw new PulumiFailed(said);
			return said;
		} finally {
			signal?.removeEventListener("abort", ask);
			clearInterval(telling);
			for (const file of Object.values(files)) rmSync(file, { force: true });
		}
	}
	return { command, version: null, run };
}

/**
 * Asks each Pulumi that has locked the stack once to end, such as a killed mqbench's, and waits; then the lock may be dropped. Throws
 * `failed` if one runs on another machine.
 */
export async function endHolders(
	failed: PulumiFailed,
	say: (line: string) => void,
	patienceMs: number,
): Promise<void> {
	for (const [, host, pid] of failed.said.stderr.matchAll(/created by \S*@(\S+) \(pid (\d+)\)/g)) {
		if (host !== hostname()) throw failed;
		const holder = Number(pid);
		if (!(await isPulumi(holder))) continue;
		say(`Another Pulumi works on the rig (process ${holder}): it is asked to end.`);
		sendSignal(holder, "SIGINT");
		for (let waitedMs = 0; await isPulumi(holder); waitedMs += LOOK_MS) {
			if (waitedMs > patienceMs) await killTree(holder);
			await sleep(LOOK_MS);
		}
	}
}

// --- internal ---

const LOOK_MS = 300;

/** Pulumi's reason, in one line: the provider's own words are below "error: 1 error occurred:", as "* creating ...". */
function reasonIn({ stdout, stderr, code }: Said): string {
	const lines = `${stdout}\n${stderr}`.split("\n").map((line) => line.trim());
	const first = (words: RegExp) => lines.find((line) => words.test(line))?.replace(words, "");
	const error = first(/^error: (?!(update|destroy|refresh) failed|.*occurred:$)/);
	const reason = first(/^\* /) ?? error ?? lines.findLast(Boolean) ?? `pulumi ended with ${code}`;
	return reason.replace(/[.:]$/, "").slice(0, 600);
}

/** With all descendants, by ps: providers have separate process groups. */
async function killTree(root: number): Promise<void> {
	const rows = (await ps("-A", "-o", "pid=", "-o", "ppid=")).split("\n");
	const all = rows.map((row) => row.trim().split(/\s+/).map(Number));
	const found = [root];
	for (const one of found)
		for (const [pid = 0, parent] of all)
			if (parent === one && !found.includes(pid)) found.push(pid);
	for (const pid of found.reverse()) sendSignal(pid, "SIGKILL");
}

/** Another process may have its number by now. */
async function isPulumi(pid: number): Promise<boolean> {
	return /^[^Z].*pulumi/.test((await ps("-o", "stat=,args=", "-p", String(pid))).trim());
}

async function ps(...args: readonly string[]): Promise<string> {
	return (await promisify(execFile)("ps", args).catch(() => ({ stdout: "" }))).stdout;
}

function says(error: unknown, words: string): error is PulumiFailed {
	return error instanceof PulumiFailed && error.said.stderr.includes(words);
}

/** A separate project, because Pulumi writes settings next to Pulumi.yaml; its program stays in infra/aws/bin, with its packages. */
function writeProject(folder: RigFolder): void {
	const settings = parse(readFileSync(path.join(awsFolder, "Pulumi.yaml"), "utf8"));
	const main = path.resolve(awsFolder, settings.main ?? ".");
	if (!existsSync(main)) throw failure("unbuilt", { file: main });
	writeWhole(path.join(folder.project, "Pulumi.yaml"), stringify({ ...settings, main }), 0o600);
}

/** Pulumi reads it as a URL: a blank, %, # or ? in the folder's name would lead elsewhere, or nowhere. */
function backendOf(folder: string): string {
	const names = encodeURI(folder.split(path.sep).join("/"));
	return `file://${names.replaceAll(/[#?]/g, encodeURIComponent)}`;
}

/** For pieces of output, which are whole lines. */
function steps(say: Say): (text: string) => void {
	return (text) => {
		for (const line of text.split("\n").map(step)) if (line !== null) say(line);
	};
}
