import { mkdir } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { commonOptions } from "../../runner/brokers/index.ts";
import type {
	Containment,
	DockerBroker,
	ImageFacts,
	NodeAddress,
	NodeContainer,
} from "../../runner/brokers/process.ts";
import { failure, MqbenchError } from "../../runner/errors.ts";
import { formatBytes } from "../../runner/units.ts";
import type { World } from "../../runner/world.ts";
import { type BrokerLog, openBrokerLog } from "../local/broker-log.ts";
import { freePorts } from "../local/ports.ts";
import { FreePortTaken } from "../local/start.ts";
import { type Broker, type BrokerRequest, NEVER } from "../rig.ts";
import { type Docker, DockerError, explainDocker } from "./cli.ts";
import { containersText, createArguments, withHop } from "./container.ts";
import { containerDisturber } from "./disturb.ts";
import { cannotLimit, type Engine } from "./engine.ts";
import { type Flush, flushText } from "./flush.ts";
import type { Found } from "./heal.ts";
import { getImage } from "./images.ts";
import { LABELS, labelArguments } from "./labels.ts";
import type { Network } from "./network.ts";
import { DockerNode } from "./node.ts";
import { tar } from "./tar.ts";

/** The engine, and what a rig has in it. */
export interface Place {
	readonly docker: Docker;
	readonly engine: Engine;
	readonly network: Network;
	/** On everything that is made. */
	readonly labels: Readonly<Record<string, string>>;
	readonly world: World;
	/** Told of what takes long. */
	say(text: string): void;
	/** How long the disk of volumes takes to flush; asked for when data is to be on one. */
	flush(): Promise<Flush | null>;
	/** Clients are containers of the same network: they reach the others by their addresses wherever the engine is. */
	readonly inside: boolean;
}

/** A broker in containers, and how they are called. */
export type Contained = Broker & {
	readonly containers: readonly string[];
	/** Lets go of them: they stay up. */
	letBe(): void;
};

/**
 * Brings up the broker of a system in containers of its own, named `<name>-1` and on, and returns when all are ready and healthy.
 * Whatever goes wrong, Ctrl-C included: nothing of them is left. `address` is the last number of the first one's address.
 */
export async function openContainers(
	place: Place,
	kind: DockerBroker,
	request: BrokerRequest,
	{ name, address }: { readonly name: string; readonly address: number },
): Promise<Contained> {
	const { docker, engine, world } = place;
	const options = commonOptions(request.system.options);
	const unlimited = cannotLimit(engine, {
		cpus: options.cpus,
		memory: options.memory,
		pin: request.cpus,
	});
	if (unlimited !== null)
		throw failure("docker-failed", {
			doing: `start ${request.system.key}`,
			reason: unlimited,
		});
	const image = await getImage(docker, request.system, world, place.say);
	const found = await addresses(place, kind, request, address);
	const made = kind.contain({
		system: request.system,
		level: request.level,
		messageBytes: request.messageBytes,
		image,
		nodes: found,
	});
	const onVolume = made.nodes.some(({ data }) => data?.kind === "volume");
	const flush = onVolume ? await place.flush() : null;
	await mkdir(path.dirname(request.logPath), { recursive: true });
	const log = openBrokerLog(request.logPath, made.nodes.length, () =>
		world.clock.nowMs(),
	);
	const names = made.nodes.map((_, i) => `${name}-${i + 1}`);
	const pids: number[] = [];
	const nodes = nodesOf(place, request, made, names, log, pids);
	const letBe = () => {
		for (const node of nodes) node.letBe();
	};
	const remove = async () => {
		letBe();
		await docker.run(["rm", "--force", "--volumes", ...names]).catch(() => {});
		if (onVolume)
			await docker
				.run(["volume", "rm", "--force", ...names.map(volumeOf)])
				.catch(() => {});
		await log.close();
	};
	try {
		for (const [i, node] of made.nodes.entries())
			await make(place, request, image, node, {
				name: names[i] ?? "",
				address: found[i] as NodeAddress,
				ports: kind.ports,
			});
		await bringUp(nodes, made, request, log, world.stop);
	} catch (error) {
		await remove();
		throw error;
	}
	return {
		...brokerOf(place, made, nodes, log, { stays: false }),
		pids,
		containers: names,
		binary: image.name,
		topology: containersText(nodes.length, {
			cpus: options.cpus ?? null,
			memory: memoryText(options.memory),
			hop: isHop(place),
		}),
		settings: {
			...made.settings,
			image: `${image.name} (${image.digest ?? image.id})`,
			...(onVolume ? { "volume fdatasync": flushText(flush) } : {}),
		},
		url: made.url(),
		letBe,
		close: once(remove),
	};
}

/**
 * The broker of containers that are up since an earlier command: they can be disturbed, sampled and read as if they had been started
 * here. What is down of it is started. Closing it leaves them as they are.
 */
export async function attachContainers(
	place: Place,
	kind: DockerBroker,
	request: BrokerRequest,
	found: readonly Found[],
	up: {
		readonly url: string;
		readonly server: string;
		readonly settings: Readonly<Record<string, string>>;
		readonly topology: string | null;
	},
): Promise<Contained> {
	const { network, inside, world } = place;
	const { system } = request;
	const image: ImageFacts = { name: "", digest: null, id: "", env: {} };
	const where = attachedAddresses(place, kind, found);
	const made = kind.contain({
		system,
		level: request.level,
		messageBytes: request.messageBytes,
		image,
		nodes: where,
	});
	const url =
		inside && !network.direct ? urlInside(up.url, kind, where, made) : up.url;
	const names = found.map(({ name }) => name);
	const log = openBrokerLog(request.logPath, names.length, () =>
		world.clock.nowMs(),
	);
	const pids: number[] = [];
	const nodes = nodesOf(place, request, made, names, log, pids);
	const letBe = () => {
		for (const node of nodes) node.letBe();
	};
	const down = nodes.filter((_, i) => found[i]?.down);
	try {
		for (const node of nodes) if (!down.includes(node)) await node.attach();
		// Healthy is asked of all, as some may have been paused until now.
		await bringUp(down, made, request, log, world.stop);
	} catch (error) {
		letBe();
		await log.close();
		throw explainDocker(error, `find the containers of ${system.key}`);
	}
	return {
		...brokerOf(place, made, nodes, log, { stays: true }),
		pids,
		containers: names,
		binary: found[0]?.image ?? null,
		topology: withHop(
			up.topology ??
				containersText(found.length, {
					cpus: found[0]?.cpus ?? null,
					memory: memoryText(found[0]?.memoryBytes),
				}),
			isHop(place),
		),
		stays: true,
		version: up.server,
		settings: up.settings,
		url,
		letBe,
		close: once(async () => {
			letBe();
			await log.close();
		}),
	};
}

/** Clients reach the containers through published ports. */
export function isHop({
	network,
	inside,
}: Pick<Place, "network" | "inside">): boolean {
	return !network.direct && !inside;
}

// --- internal ---

function memoryText(bytes: number | null | undefined): string | null {
	return bytes === null || bytes === undefined ? null : formatBytes(bytes);
}

function volumeOf(container: string): string {
	return `${container}-data`;
}

/** Nodes that are asked for; one, where a broker has no such option. */
function nodeCount({ system }: BrokerRequest): number {
	return commonOptions(system.options).nodes ?? 1;
}

async function addresses(
	{ network, inside }: Place,
	kind: DockerBroker,
	request: BrokerRequest,
	first: number,
): Promise<NodeAddress[]> {
	const count = nodeCount(request);
	const free = network.direct
		? []
		: await freePorts(
				{ ...request.system, port: null },
				count * kind.ports.length,
			);
	return Array.from({ length: count }, (_, i) => {
		const ip = `${network.prefix}.${first + i}`;
		const reached = kind.ports.map((port, p) =>
			network.direct
				? `${ip}:${port}`
				: `127.0.0.1:${free[i * kind.ports.length + p]}`,
		);
		return {
			ip,
			hostname: `mqbench-${i + 1}`,
			client: inside ? `${ip}:${kind.ports[0]}` : (reached[0] ?? ""),
			reached,
			published: isHop({ network, inside }),
		};
	});
}

/** Where containers that are up are reached. */
function attachedAddresses(
	{ network }: Place,
	kind: DockerBroker,
	found: readonly Found[],
): NodeAddress[] {
	return found.map(({ ip, ports }, i) => {
		const reached = kind.ports.map((port) =>
			network.direct ? `${ip}:${port}` : `127.0.0.1:${ports[port]}`,
		);
		return {
			ip,
			hostname: `mqbench-${i + 1}`,
			client: reached[0] ?? "",
			reached,
			published: !network.direct,
		};
	});
}

/** The url of published ports, as clients in containers of the same network write it. Fails where brokers tell them the published ones. */
function urlInside(
	url: string,
	kind: DockerBroker,
	nodes: readonly NodeAddress[],
	{ nodes: contained }: Containment,
): string {
	const told = JSON.stringify(contained);
	if (nodes.some(({ client }) => told.includes(client)))
		throw failure("client-unfit", {
			client: "clients: docker",
			reason:
				"the rig's brokers tell their clients addresses of this machine (published ports of 127.0.0.1), which containers do not reach",
			remedy:
				"Make the load on this machine (--clients 1), or measure without --rig",
		});
	return nodes.reduce(
		(text, { client, ip }) =>
			text.replace(
				new RegExp(`\\b${client.replaceAll(".", "\\.")}(?!\\d)`, "g"),
				`${ip}:${kind.ports[0]}`,
			),
		url,
	);
}

/** Makes a container with its volume and files, and starts nothing. */
async function make(
	{ docker, network, labels }: Place,
	{ system, cpus }: BrokerRequest,
	image: ImageFacts,
	node: NodeContainer,
	what: {
		readonly name: string;
		readonly address: NodeAddress;
		readonly ports: readonly number[];
	},
): Promise<void> {
	const { name, address, ports } = what;
	const options = commonOptions(system.options);
	const volume = node.data?.kind === "volume" ? volumeOf(name) : null;
	let discarded: string | null = null;
	try {
		if (volume !== null)
			await docker.run(["volume", "create", ...labelArguments(labels), volume]);
		await docker.run(
			createArguments({
				name,
				image: image.id,
				labels: { ...labels, [LABELS.address]: address.ip },
				network: network.name,
				ip: address.ip,
				hostname: address.hostname,
				args: node.args,
				entrypoint: node.entrypoint,
				env: node.env ?? {},
				data: node.data && { path: node.data.path, volume },
				published: network.direct
					? []
					: ports.map((to, i) => ({
							to,
							port: Number(address.reached[i]?.split(":")[1]),
						})),
				cpus: options.cpus ?? null,
				memoryBytes: options.memory ?? null,
				cpuset: cpus,
				init: node.init ?? false,
			}),
			{
				onLine(line) {
					// It makes the container all the same, without a limit that the report would tell of.
					if (/discarded/i.test(line))
						discarded ??= line.replace(/^WARNING: /, "").replace(/\.$/, "");
				},
			},
		);
		if (discarded !== null) throw new DockerError(discarded);
		await docker.run(["cp", "-", `${name}:/`], {
			input: tar(
				Object.entries(node.files).map(([file, text]) => ({
					name: file.slice(1),
					mode: 0o444,
					from: { text },
				})),
			),
		});
	} catch (error) {
		throw refusal(error, system.key, cpus);
	}
}

/** Starts all nodes, and returns when each is ready and the broker healthy. */
async function bringUp(
	nodes: readonly DockerNode[],
	made: Containment,
	{ system, cpus, logPath }: BrokerRequest,
	log: BrokerLog,
	stop: AbortSignal,
): Promise<void> {
	const over = new AbortController();
	const limit: Promise<Step> = sleep(made.startMs, LATE as Step, {
		signal: AbortSignal.any([stop, over.signal]),
	}).catch(() => STOPPED);
	const notStarted = (reason: string) =>
		failure("broker-start", { system: system.key, reason, log: logPath });
	const judge = (step: Step, passed: string) => {
		if (step === STOPPED)
			throw failure("interrupted", { signal: String(stop.reason) });
		if (step === LATE)
			throw notStarted(
				`it ${passed}took no connections within ${made.startMs / 1000}s`,
			);
		if (step === DONE) return;
		const words = log.lastWords();
		throw notStarted(`${step.how}${words ? `, last words: ${words}` : ""}`);
	};
	try {
		const starts = await Promise.all(nodes.map((node) => node.start()));
		const ended = starts.map(async (one, i) => ({
			how: `${made.nodes.length === 1 ? "" : `node ${nodes[i]?.number} of ${made.nodes.length}: `}${await one.ended}`,
		}));
		const ready = Promise.all(starts.map((one) => one.ready)).then(
			(): Step => DONE,
		);
		judge(await Promise.race([ready, limit, ...ended]), "");
		if (made.healthy)
			judge(
				await Promise.race([untilHealthy(made, over.signal), limit, ...ended]),
				"was ready and ",
			);
	} catch (error) {
		if (
			error instanceof DockerError &&
			/unable to start container process|exec format/i.test(error.message)
		)
			throw notStarted(error.message);
		throw refusal(error, system.key, cpus);
	} finally {
		over.abort();
	}
}

const LATE = Symbol();
const STOPPED = Symbol();
const DONE = Symbol();
type Step =
	| typeof LATE
	| typeof STOPPED
	| typeof DONE
	| { readonly how: string };

const HEALTH_MS = 100;

/** An answer that fails is one that says no. */
async function untilHealthy(
	made: Pick<Containment, "healthy">,
	over: AbortSignal,
): Promise<typeof DONE> {
	while (!(await made.healthy?.().catch(() => false))) {
		if (over.aborted) return NEVER;
		await sleep(HEALTH_MS);
	}
	return DONE;
}

/** Why the engine did not make or start a container, as the sentence that fits. */
function refusal(
	error: unknown,
	system: string,
	cpus: string | null,
): MqbenchError {
	if (error instanceof MqbenchError) return error;
	if (error instanceof DockerError) {
		const { message } = error;
		if (/port is already allocated|address already in use/i.test(message))
			return new FreePortTaken(
				failure("docker-failed", {
					doing: `publish the ports of ${system}`,
					reason: message,
				}),
			);
		if (cpus !== null && /requested CPUs are not available/i.test(message))
			return failure("pin-impossible", { cpus, reason: message });
	}
	return explainDocker(error, `start ${system}`);
}

function nodesOf(
	{ docker }: Place,
	{ system }: BrokerRequest,
	made: Containment,
	names: readonly string[],
	log: BrokerLog,
	pids: number[],
): DockerNode[] {
	const byNode: number[][] = names.map(() => []);
	return names.map(
		(name, i) =>
			new DockerNode({
				docker,
				number: i + 1,
				name,
				memoryBytes: commonOptions(system.options).memory ?? null,
				onLine: (line) => log.write(line, i + 1),
				ready: (line) => made.ready(line, i),
				onPid(pid) {
					byNode[i]?.push(pid);
					// In place: whoever holds the list sees the new one.
					pids.splice(0, pids.length, ...byNode.flat());
				},
			}),
	);
}

/** What is the same of a broker that was started here and of one that was found. */
function brokerOf(
	{ docker, engine, network, world }: Place,
	made: Containment,
	nodes: readonly DockerNode[],
	log: BrokerLog,
	{ stays }: { readonly stays: boolean },
): Pick<Contained, "version" | "sameHost" | "nodeOf" | "disturb" | "died"> {
	return {
		version: made.version(),
		sameHost: true,
		nodeOf(name) {
			const number = Number(/\d+$/.exec(name)?.[0]);
			return nodes[number - 1]?.number ?? null;
		},
		disturb: containerDisturber(nodes, log, {
			docker,
			engine,
			network,
			world,
			stays,
			startMs: made.startMs,
			stopMs: made.stopMs,
			healthy: made.healthy
				? (over) => untilHealthy(made, over).then(() => {})
				: async () => {},
		}),
		died: Promise.race(
			nodes.map(async ({ died, number }) => {
				const how = await died;
				return `${nodes.length === 1 ? "the broker" : `node ${number} of ${nodes.length}`} ended by itself (${how})`;
			}),
		),
	};
}

function once(action: () => Promise<void>): () => Promise<void> {
	let running: Promise<void> | undefined;
	return () => {
		running ??= action();
		return running;
	};
}
