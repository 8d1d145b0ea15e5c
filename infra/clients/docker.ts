import { accessSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { z } from "zod";
import { failure } from "../../runner/errors.ts";
import { once } from "../../runner/once.ts";
import type { World } from "../../runner/world.ts";
import { type Docker, wrongIn } from "../docker/cli.ts";
import { agentArguments, mountText } from "../docker/container.ts";
import { cannotLimit, type Engine, findEngine } from "../docker/engine.ts";
import { ownImage } from "../docker/images.ts";
import { beginRun, type LabelledRun, labelArguments } from "../docker/labels.ts";
import { readClock } from "../machines/clock.ts";
import { tellAgent } from "../machines/spawn.ts";
import { machineName } from "../platform.ts";
import { type Ended, endOf, startApart, supervise } from "../process.ts";
import type { Binaries } from "../programs/resolve.ts";
import type { Client, ClientCommand, ClientProcess } from "../rig.ts";
import { sameFolder } from "./local.ts";

/**
 * Clients in containers, from an image with exactly this version's programs. `network` has the brokers' containers; null if the brokers are
 * elsewhere: a separate network would cost one hop more, so the clients use this machine's.
 */
export function dockerClients(
	count: number,
	network: string | null,
	world: World,
	binaries: Pick<Binaries, "agent" | "on">,
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
			if (open === 0) await (await prepared?.catch(() => null))?.run.remove();
		}),
	);
}

/** Arguments of `docker` that start k6 behind agent. The environment comes on standard input: other users can read command lines. */
export function runArguments(
	{ network, image, user, remapped }: Omit<Prepared, "docker" | "engine" | "run">,
	run: {
		readonly name: string;
		readonly labels: Readonly<Record<string, string>>;
		/** The folder on this machine that becomes its working folder. */
		readonly folder: string;
		/** Files on this machine that it reads, under the same path. */
		readonly files: readonly string[];
		readonly index: number;
		readonly command: Pick<ClientCommand, "args" | "cpus" | "graceMs">;
	},
): string[] {
	const { command } = run;
	const mounts = [
		mountText("type=bind", `source=${run.folder}`, `target=${WORK}`),
		...run.files.map((file) =>
			mountText("type=bind", `source=${file}`, `target=${file}`, "readonly"),
		),
	];
	const { name, labels } = run;
	const spec = { name, labels, network, image, cpus: null, memory: null, pin: command.cpus };
	const more = [...(remapped ? ["--userns", "host"] : []), "--workdir", WORK];
	const options = ["-env", "-control", "-sample", `resources-${run.index}.jsonl`];
	return [
		...agentArguments("agent", spec, user, mounts, more),
		...supervise(["k6", ...command.args], command.graceMs, options),
	];
}

// --- internal ---

const WORK = "/mqbench";

/** Facts that are looked up once for all clients. */
interface Prepared {
	readonly docker: Docker;
	readonly engine: Engine;
	readonly run: LabelledRun;
	readonly image: string;
	readonly network: string;
	/** "1000:1000"; null for root, which is mapped to the user there. */
	readonly user: string | null;
	/** User numbers mean the same in containers as on this machine. */
	readonly remapped: boolean;
}

async function prepareAll(
	network: string,
	world: World,
	binaries: Pick<Binaries, "agent" | "on">,
): Promise<Prepared> {
	const { docker, engine } = await findEngine(world, binaries.agent);
	const built = await binaries.on(engine.platform, "clients: docker");
	const image = await ownImage(docker, ["k6", "agent"], built, world);
	const { getuid, getgid } = process;
	return {
		docker,
		engine,
		image,
		network,
		// The user who runs mqbench owns k6's files. If the engine runs without root's rights, root in a container is the user.
		user: engine.rootless || !getuid || !getgid ? null : `${getuid()}:${getgid()}`,
		remapped: engine.remapped,
		run: beginRun(docker),
	};
}

function dockerClient(
	index: number,
	prepare: () => Promise<Prepared>,
	letGo: () => Promise<void>,
): Client {
	const name = `container ${index}`;
	let ready: Prepared | null = null;
	const there = (): Prepared => {
		if (ready === null) throw new Error(`${name} has not been prepared`);
		return ready;
	};
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
			const { engine, docker, image, run } = there();
			if (engine.sameKernel) return { offsetNs: 0, boundNs: 0 };
			const child = start(docker, [
				..."run --rm --interactive --pull never --network none --entrypoint agent".split(" "),
				...labelArguments(run.labels),
				image,
				"clock",
			]);
			try {
				return await readClock(child);
			} catch {
				const reason = "the clock there does not answer";
				throw failure("client-unfit", { client: name, reason, remedy: "Run it again" });
			} finally {
				child.stdin.end();
			}
		},
		workspace: async (local) => ({
			...sameFolder(local),
			start: (command) => startClient(there(), index, local, command),
		}),
		close: once(letGo),
	};
}

function start({ program, env }: Docker, args: readonly string[]) {
	return startApart(program, args, { env });
}

let started = 0;

function startClient(
	all: Prepared,
	index: number,
	local: string,
	command: ClientCommand,
): ClientProcess {
	const { docker, engine, run } = all;
	const unlimited = cannotLimit(engine, { pin: command.cpus });
	if (unlimited !== null)
		throw failure("docker-failed", { doing: "start clients", reason: unlimited });
	started++;
	const name = `${run.name}-client-${index + 1}-${started}`;
	const trusted = TRUSTED.find(isFile);
	// The image has no certificates.
	const env = { ...(trusted === undefined ? {} : { SSL_CERT_FILE: trusted }), ...command.env };
	const files = filesOf(local, env);
	const { labels } = run;
	const child = start(
		docker,
		runArguments(all, { name, labels, index, command, folder: local, files }),
	);
	const { order: _, ...told } = tellAgent(child.stdin, env);
	let words = "";
	createInterface({ input: child.stdout, crlfDelay: Infinity }).on("line", command.onStdout);
	createInterface({ input: child.stderr, crlfDelay: Infinity }).on("line", (line) => {
		words = `${words}${line}\n`.slice(-4_000);
		command.onStderr(line);
	});
	const ended = new Promise<Ended>((resolve) => {
		child.once("error", (error) => {
			words = error.message;
		});
		child.once("close", (code, signal) => {
			// In the form of k6's own log, to be found in the same place.
			if (code !== null && (code < 0 || NOT_STARTED.includes(code)))
				command.onStderr(`level=error msg=${JSON.stringify(`docker: ${wrongIn(words)}`)}`);
			resolve(endOf(code, signal));
		});
	});
	return {
		// Agent samples inside of the container, where its processes are.
		pid: null,
		ended,
		...told,
		kill() {
			docker
				.run(["rm", "--force", "--volumes", name])
				.catch(() => {})
				.finally(() => child.kill("SIGKILL"));
		},
	};
}

/** docker run's exit codes when the container could not be started. */
const NOT_STARTED = [125, 126, 127];

/** Files of this machine that k6 reads by their absolute paths: from the plan, and from the environment. */
function filesOf(local: string, env: Readonly<Record<string, string>>): string[] {
	const plan = Files.safeParse(
		JSON.parse(readFileSync(path.join(local, "plan.json"), "utf8")),
	).data;
	const named = [
		plan?.message.file,
		...Object.values(plan?.driverOptions.tls ?? {}),
		...Object.values(env),
	];
	return [...new Set(named)].filter(
		(file): file is string => typeof file === "string" && path.isAbsolute(file) && isFile(file),
	);
}

const Files = z.object({
	message: z.object({ file: z.string().nullable() }),
	driverOptions: z.object({ tls: z.record(z.string(), z.unknown()).optional().catch(undefined) }),
});

/** Where systems keep trusted certificates. */
const TRUSTED = [
	"/etc/ssl/certs/ca-certificates.crt",
	"/etc/pki/tls/certs/ca-bundle.crt",
	"/etc/ssl/ca-bundle.pem",
	"/etc/ssl/cert.pem",
];

function isFile(file: string): boolean {
	try {
		accessSync(file);
		return statSync(file).isFile();
	} catch {
		return false;
	}
}
