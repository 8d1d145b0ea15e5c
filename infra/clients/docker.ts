import { type ChildProcessByStdio, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { accessSync, readFileSync, statSync } from "node:fs";
import { access } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { z } from "zod";
import { failure } from "../../runner/errors.ts";
import { packageVersion } from "../../runner/package.ts";
import { commandLine } from "../../runner/shell.ts";
import type { World } from "../../runner/world.ts";
import type { Binaries } from "../binaries/resolve.ts";
import { type Docker, DockerError, explainDocker } from "../docker/cli.ts";
import { mountText } from "../docker/container.ts";
import { cannotLimit, type Engine, findEngine } from "../docker/engine.ts";
import { LABELS, labelArguments, labelsOfRun } from "../docker/labels.ts";
import { fitsEngine, ownImage } from "../docker/own-images.ts";
import { type Reaper, startReaper } from "../docker/reaper.ts";
import { removeLabelled } from "../docker/remove.ts";
import { readClock } from "../machines/clock.ts";
import { machineName } from "../platform.ts";
import { endOf } from "../process.ts";
import type { Client, ClientCommand, ClientProcess, Workspace } from "../rig.ts";

/**
 * Clients in containers, from an image with exactly this machine's programs. `network`: that of the brokers' containers. null: the brokers
 * are elsewhere, and a network of their own would cost one hop more, so the clients use this machine's.
 */
export function dockerClients(
	count: number,
	network: string | null,
	world: World,
	binaries: Pick<Binaries, "k6" | "agent">,
): Client[] {
	let prepared: Promise<Prepared> | undefined;
	const prepare = () => {
		prepared ??= prepareAll(network ?? "host", world, binaries);
		return prepared;
	};
	let open = count;
	return Array.from({ length: count }, (_, index) =>
		dockerClient(index, prepare, async () => {
			open--;
			// Only the last client closes it, because all share it.
			if (open === 0 && prepared) await (await prepared).close();
		}),
	);
}

/** Arguments of `docker` that start k6 behind agent. The environment comes on standard input: everybody can read command lines. */
export function runArguments(run: {
	readonly name: string;
	readonly labels: Readonly<Record<string, string>>;
	readonly network: string;
	readonly image: string;
	/** "1000:1000"; null: root, which stands for the user there. */
	readonly user: string | null;
	/** User numbers mean the same in containers as on this machine. */
	readonly remapped: boolean;
	/** The folder on this machine that becomes its working folder. */
	readonly folder: string;
	/** Files on this machine that it reads, under the same path. */
	readonly files: readonly string[];
	readonly index: number;
	readonly command: Pick<ClientCommand, "args" | "cpus" | "graceMs">;
}): string[] {
	const { command } = run;
	return [
		"run",
		"--rm",
		"--interactive",
		"--pull",
		"never",
		"--name",
		run.name,
		...labelArguments(run.labels),
		"--network",
		run.network,
		"--log-driver",
		"none",
		// The user's own results keep their SELinux label.
		"--security-opt",
		"label=disable",
		...(run.remapped ? ["--userns", "host"] : []),
		...(run.user === null ? [] : ["--user", run.user]),
		...(command.cpus === null ? [] : ["--cpuset-cpus", command.cpus]),
		"--mount",
		bind(run.folder, WORK),
		...run.files.flatMap((file) => ["--mount", bind(file, target(file), "readonly")]),
		"--workdir",
		WORK,
		"--entrypoint",
		"agent",
		run.image,
		"supervise",
		"-env",
		"-control",
		"-grace",
		`${command.graceMs}ms`,
		"-sample",
		`resources-${run.index}.jsonl`,
		"--",
		"k6",
		...command.args,
	];
}

// --- internal ---

const WORK = "/mqbench";

function bind(from: string, to: string, ...more: readonly string[]): string {
	return mountText("type=bind", `source=${from}`, `target=${to}`, ...more);
}

/** Facts that are looked up once for all clients. */
interface Prepared {
	readonly docker: Docker;
	readonly engine: Engine;
	readonly image: string;
	readonly network: string;
	readonly labels: Readonly<Record<string, string>>;
	close(): Promise<void>;
}

async function prepareAll(
	network: string,
	world: World,
	binaries: Pick<Binaries, "k6" | "agent">,
): Promise<Prepared> {
	const { docker, engine } = await findEngine(world, binaries.agent);
	const image = await imageOfClients(docker, engine, world, binaries);
	const run = randomBytes(5).toString("hex");
	const label = `${LABELS.run}=${run}`;
	const reaper: Reaper = startReaper(docker, label);
	return {
		docker,
		engine,
		image,
		network,
		labels: labelsOfRun(run),
		async close() {
			const left = await removeLabelled(docker, label, ["container"]).catch(() => [label]);
			if (left.length === 0) reaper.dismiss();
		},
	};
}

/** MQBENCH_IMAGE, or an image that is made here. */
async function imageOfClients(
	docker: Docker,
	engine: Engine,
	world: World,
	binaries: Pick<Binaries, "k6" | "agent">,
): Promise<string> {
	const own = world.env.MQBENCH_IMAGE;
	if (!own) {
		if (fitsEngine(engine)) return ownImage(docker, "client", binaries, world);
		throw unfit(
			`Docker's containers are ${engine.platform}, and the programs of this machine are not`,
			"Build the image of mqbench there (docker build -f infra/docker/Dockerfile -t mqbench/mqbench .) and name it: MQBENCH_IMAGE=mqbench/mqbench",
		);
	}
	let text: string;
	try {
		text = await docker.run([
			"image",
			"inspect",
			"--format",
			`{{index .Config.Labels "${LABELS.version}"}}`,
			own,
		]);
	} catch (error) {
		if (error instanceof DockerError && /no such image/i.test(error.message))
			throw unfit(
				`there is no image ${own} (MQBENCH_IMAGE)`,
				`Build it, or pull it: docker pull ${commandLine([own])}`,
			);
		throw explainDocker(error, `look for the image ${own}`);
	}
	if (text !== packageVersion)
		throw unfit(
			`the image ${own} (MQBENCH_IMAGE) is ${/^\d/.test(text) ? `of mqbench ${text}` : "not mqbench's"}, and this is mqbench ${packageVersion}`,
			"Build it again from this version, or unset MQBENCH_IMAGE",
		);
	return own;
}

function unfit(reason: string, remedy: string) {
	return failure("client-unfit", { client: "clients: docker", reason, remedy });
}

function dockerClient(
	index: number,
	prepare: () => Promise<Prepared>,
	letGo: () => Promise<void>,
): Client {
	let ready: Prepared | null = null;
	let closed = false;
	const there = (): Prepared => {
		if (ready === null) throw new Error(`${name} has not been prepared`);
		return ready;
	};
	const name = `container ${index}`;
	return {
		index,
		name,
		kind: "docker",
		/** For a container of this machine's kernel; a virtual machine is asked. */
		get sameClock() {
			return ready?.engine.sameKernel ?? false;
		},
		async prepare() {
			ready = await prepare();
			const { platform, kernel, cores } = ready.engine;
			return {
				kernel,
				cores,
				machine: machineName(platform, { kernel, cores }),
				...(ready.network === "host" ? {} : { address: "own" }),
			};
		},
		async clock() {
			if (there().engine.sameKernel) return { offsetNs: 0, boundNs: 0 };
			const { docker, image, labels } = there();
			const child = start(docker, [
				"run",
				"--rm",
				"--interactive",
				"--pull",
				"never",
				...labelArguments(labels),
				"--network",
				"none",
				"--entrypoint",
				"agent",
				image,
				"clock",
			]);
			try {
				return await readClock(child);
			} catch {
				throw unfit("the clock there does not answer", "Run it again");
			} finally {
				child.stdin.end();
			}
		},
		workspace: async (local) => workspace(there(), index, local),
		async close() {
			if (closed) return;
			closed = true;
			await letGo();
		},
	};
}

let started = 0;

/** The run's folder itself, mounted into the container. */
function workspace(all: Prepared, index: number, local: string): Workspace {
	return {
		put: (file) => access(path.join(local, file)),
		start: (command) => startClient(all, index, local, command),
		fetch: (file) =>
			access(path.join(local, file)).then(
				() => true,
				() => false,
			),
		async remove() {},
	};
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

function start(docker: Docker, args: readonly string[]): Child {
	const child = spawn(docker.program, args, {
		env: docker.env,
		stdio: ["pipe", "pipe", "pipe"],
		// In its own process group: the terminal's Ctrl-C reaches only mqbench, which decides what to do.
		detached: true,
	});
	// It may end before its pipe is closed, which is not an error.
	child.stdin.on("error", () => {});
	return child;
}

function startClient(
	{ docker, engine, image, labels, network }: Prepared,
	index: number,
	local: string,
	command: ClientCommand,
): ClientProcess {
	const unlimited = cannotLimit(engine, { pin: command.cpus });
	if (unlimited !== null)
		throw failure("docker-failed", { doing: "start clients", reason: unlimited });
	started++;
	const name = `mqbench-${labels[LABELS.run]}-client-${index + 1}-${started}`;
	const child = start(
		docker,
		runArguments({
			name,
			labels,
			network,
			image,
			index,
			command,
			user: userOf(engine),
			remapped: engine.remapped,
			folder: local,
			files: filesOf(local, command.env),
		}),
	);
	const order = (line: string) => {
		if (child.stdin.writable) child.stdin.write(`${line}\n`);
	};
	order(JSON.stringify(command.env));
	createInterface({ input: child.stdout, crlfDelay: Infinity }).on("line", command.onStdout);
	let complained = false;
	let last = "";
	createInterface({ input: child.stderr, crlfDelay: Infinity }).on("line", (line) => {
		complained ||= OWN.test(line);
		if (line.trim() !== "" && !/^(See|Run) '/.test(line)) last = line.trim();
		command.onStderr(words(line));
	});
	const ended = new Promise<ReturnType<typeof endOf>>((resolve) => {
		child.once("error", (error) => {
			command.onStderr(logLine(`docker cannot be started: ${error.message}`));
			resolve({ code: 127, signal: null });
		});
		child.once("close", (code, signal) => {
			// docker's own refusals do not begin with the name of the command.
			if (code === NOT_STARTED && !complained)
				command.onStderr(
					logLine(
						`docker: ${last === "" ? "the container was not started, and docker does not say why" : last}`,
					),
				);
			resolve(endOf(code, signal));
		});
	});
	return {
		// Agent samples inside of the container, where its processes are.
		pid: null,
		ended,
		say: (line) => order(`say ${line}`),
		signal: (signal) => order(`signal ${signal.slice(3)}`),
		// When its input ends, agent assumes that mqbench is gone.
		abandon: () => void child.stdin.destroy(),
		kill() {
			docker
				.run(["rm", "--force", "--volumes", name])
				.catch(() => {})
				.finally(() => child.kill("SIGKILL"));
		},
	};
}

/** The user who runs mqbench, who owns what k6 writes. Where the engine runs without root's rights, root in a container is the user. */
function userOf({ rootless }: Engine): string | null {
	const { getuid, getgid } = process;
	return rootless || !getuid || !getgid ? null : `${getuid()}:${getgid()}`;
}

const OWN = /^docker: (?:Error response from daemon: )?(.*)$/;

/** docker run's exit code when the container could not be started. */
const NOT_STARTED = 125;

/** Writes docker's own complaints in the form of k6's, so that they are found in the same place. */
function words(line: string): string {
	const own = OWN.exec(line)?.[1];
	return own === undefined ? line : logLine(`docker: ${own}`);
}

function logLine(text: string): string {
	return `level=error msg=${JSON.stringify(text)}`;
}

/** Files of this machine that k6 reads by their absolute paths: from the plan, from the environment, and trusted certificates. */
function filesOf(local: string, env: Readonly<Record<string, string>>): string[] {
	const plan = Files.safeParse(
		JSON.parse(readFileSync(path.join(local, "plan.json"), "utf8")),
	).data;
	const named = [
		plan?.message.file,
		...Object.values(plan?.driverOptions.tls ?? {}),
		...Object.values(env),
	].filter(
		(file): file is string => typeof file === "string" && path.isAbsolute(file) && isFile(file),
	);
	const trusted = TRUSTED.find(isFile);
	return [...new Set(trusted === undefined ? named : [...named, trusted])];
}

const Files = z.object({
	message: z.object({ file: z.string().nullable() }),
	driverOptions: z.object({ tls: z.record(z.string(), z.unknown()).optional().catch(undefined) }),
});

/** Where systems keep trusted certificates; the image has none. */
const TRUSTED = [
	"/etc/ssl/certs/ca-certificates.crt",
	"/etc/pki/tls/certs/ca-bundle.crt",
	"/etc/ssl/ca-bundle.pem",
	"/etc/ssl/cert.pem",
];

/** Go reads the first of them that exists. */
function target(file: string): string {
	return TRUSTED.includes(file) ? (TRUSTED[0] ?? file) : file;
}

function isFile(file: string): boolean {
	try {
		accessSync(file);
		return statSync(file).isFile();
	} catch {
		return false;
	}
}
