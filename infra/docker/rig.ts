import { randomBytes } from "node:crypto";
import { failure } from "../../runner/errors.ts";
import type { FaultAction } from "../../runner/plan/plan.ts";
import { commonOptions } from "../../runner/scenario/brokers.ts";
import type { World } from "../../runner/world.ts";
import type { Binaries } from "../binaries/resolve.ts";
import { dockerBrokers } from "../brokers/index.ts";
import { none } from "../local/local.ts";
import { FreePortTaken } from "../local/start.ts";
import type { Broker, BrokerRequest, Rig } from "../rig.ts";
import type { RigFile, RigFileInput } from "../rig-file.ts";
import { explainDocker, findDocker } from "./cli.ts";
import type { DockerBroker } from "./docker-broker.ts";
import { findEngine } from "./engine.ts";
import { flushWarning, measureFlush } from "./flush.ts";
import { LABELS, labelsOfRig, labelsOfRun } from "./labels.ts";
import { cannotDelay } from "./latency.ts";
import { findNetwork, makeNetwork } from "./network.ts";
import {
	attachContainers,
	type Contained,
	openContainers,
	type Place,
} from "./open.ts";
import { startReaper } from "./reaper.ts";
import { removeLabelled, sweep } from "./remove.ts";

/** Target docker: brokers in containers of this machine's engine, in a network of their own. */
export async function dockerRig(
	world: World,
	binaries: Binaries,
	say: (text: string) => void = sayTo(world),
	kinds: Readonly<Record<string, DockerBroker | null>> = dockerBrokers,
): Promise<Rig & { readonly network: string }> {
	const { docker, engine } = await findEngine(world, binaries.guard);
	await sweep(docker).catch((error) => {
		throw explainDocker(error, "look for what earlier runs have left");
	});
	const run = randomBytes(5).toString("hex");
	const name = `mqbench-${run}`;
	const label = `${LABELS.run}=${run}`;
	const labels = labelsOfRun(run);
	// Before the first thing that it would have to remove.
	const reaper = startReaper(docker, label);
	let place: Place;
	try {
		const network = await makeNetwork(docker, name, labels, world.env);
		if (!network.direct) say(HOP);
		place = {
			...{ docker, engine, network, labels, world, say },
			flush: once(async () => {
				const flush = await measureFlush(
					docker,
					engine,
					labels,
					binaries,
					world,
				);
				const warning = flushWarning(flush);
				if (warning !== null) say(warning);
				return flush;
			}),
		};
	} catch (error) {
		reaper.dismiss();
		throw error;
	}
	const open = new Set<Broker>();
	const nextAddress = addresses();
	let count = 0;
	return {
		clients: [],
		network: name,
		async open(request) {
			const kind = kinds[request.system.broker];
			if (!kind) return none();
			for (const fault of request.faults ?? [])
				await checkFault(place, request, fault);
			const broker = await untilPortsAreFree(() => {
				count++;
				return openContainers(place, kind, request, {
					name: `${name}-${count}`,
					address: nextAddress(request),
				});
			});
			open.add(broker);
			return broker;
		},
		async teardown() {
			await Promise.all([...open].map((broker) => broker.close()));
			open.clear();
			const left = await removeLabelled(docker, label).catch(() => [name]);
			// It goes on trying where we gave up.
			if (left.length === 0) reaper.dismiss();
			else
				say(
					`Docker does not let go of ${left.join(", ")}; docker ps --all --filter label=${label} shows what is there.`,
				);
		},
	};
}

/**
 * Brings up brokers that outlive this process, as rig `id`: what stands in rig.json. Fails like a run that cannot start its broker, and
 * leaves nothing then.
 */
export async function upDocker(
	requests: readonly BrokerRequest[],
	id: string,
	world: World,
	binaries: Binaries,
	say: (text: string) => void = sayTo(world),
): Promise<RigFileInput["brokers"]> {
	const { docker, engine } = await findEngine(world, binaries.guard);
	const labels = labelsOfRig(id);
	const opened: Contained[] = [];
	try {
		const network = await makeNetwork(
			docker,
			rigNetwork(id),
			labels,
			world.env,
		);
		if (!network.direct) say(HOP);
		const place: Place = {
			...{ docker, engine, network, labels, world, say },
			flush: once(() => measureFlush(docker, engine, labels, binaries, world)),
		};
		const nextAddress = addresses();
		for (const request of requests) {
			const kind = kindOf(request);
			if (!kind) continue;
			opened.push(
				await untilPortsAreFree(() =>
					openContainers(place, kind, request, {
						name: `${rigNetwork(id)}-${request.system.key}`,
						address: nextAddress(request),
					}),
				),
			);
		}
	} catch (error) {
		await removeLabelled(docker, `${LABELS.run}=${id}`).catch(() => {});
		throw error;
	}
	return requests
		.filter((request) => kindOf(request) !== null)
		.map(({ system, level, messageBytes }, i) => {
			const broker = opened[i] as Contained;
			broker.letBe();
			return {
				system: system.key,
				broker: system.broker as RigFile["brokers"][number]["broker"],
				url: broker.url,
				server: broker.version,
				level,
				messageBytes,
				settings: { ...broker.settings },
				topology: broker.topology,
				sameHost: broker.sameHost,
				containers: [...broker.containers],
			};
		});
}

/** Takes down all of rig `id`: containers, their data, and the network. What is not there any more is no failure. */
export async function downDocker(id: string, world: World): Promise<void> {
	// Nothing of it takes long enough to need a guard.
	const docker = findDocker(world, "");
	const left = await removeLabelled(docker, `${LABELS.rig}=${id}`).catch(
		(error) => {
			throw explainDocker(error, `take rig ${id} down`);
		},
	);
	if (left.length > 0)
		throw failure("docker-failed", {
			doing: `take rig ${id} down`,
			reason: `${left.join(", ")} cannot be removed; try once more`,
		});
}

/** The broker of a rig that is up, for one run on it. */
export async function attachDocker(
	id: string,
	entry: RigFile["brokers"][number],
	request: BrokerRequest,
	world: World,
	binaries: Binaries,
): Promise<Broker> {
	const { docker, engine } = await findEngine(world, binaries.guard);
	const kind = kindOf(request);
	if (!kind) return none();
	const network = await findNetwork(docker, rigNetwork(id), world.env).catch(
		(error) => {
			throw explainDocker(error, `find rig ${id}`);
		},
	);
	const place: Place = {
		...{ docker, engine, network, world },
		labels: labelsOfRig(id),
		say: sayTo(world),
		flush: async () => null,
	};
	for (const fault of request.faults ?? [])
		await checkFault(place, request, fault);
	return attachContainers(place, kind, request, entry);
}

/** Name of the network of a rig that is up, which clients in containers join. */
export function rigNetwork(id: string): string {
	return `mqbench-${id}`;
}

// --- internal ---

const HOP =
	"Docker's containers are reached through published ports here (a virtual machine, or MQBENCH_DOCKER_REACH=published): each message takes a hop more each way, and what it costs is in the figures.";

function sayTo(world: World): (text: string) => void {
	return (text) => void world.stderr.write(`${text}\n`);
}

function kindOf({ system }: BrokerRequest): DockerBroker | null {
	return dockerBrokers[system.broker];
}

/** Last numbers of the first addresses of brokers, one after the other; those of long ago are free again. */
function addresses(): (request: BrokerRequest) => number {
	let next = FIRST;
	return ({ system }) => {
		const nodes = commonOptions(system.options).nodes ?? 1;
		if (next + nodes > END) next = FIRST;
		next += nodes;
		return next - nodes;
	};
}

/** Behind the gateway, and below those that the engine gives to others. */
const FIRST = 2;
const END = 128;

/** Before the run: one that finds out in its middle has measured nothing. */
async function checkFault(
	{ engine, network, world }: Place,
	{ system }: BrokerRequest,
	action: FaultAction,
): Promise<void> {
	let reason: string | null = null;
	if (action === "partition" && !network.direct)
		reason =
			"clients reach the containers through published ports, whose connections Docker would close instead of leaving them silent";
	if (action === "latency")
		reason = engine.sameKernel
			? await cannotDelay(world.env)
			: "the containers are in a virtual machine, whose network mqbench cannot change";
	if (reason !== null)
		throw failure("fault-impossible", { system: system.key, action, reason });
}

/** Between choosing a port and publishing it somebody else may take it: so many tries with others. */
const TRIES = 3;

async function untilPortsAreFree<T>(attempt: () => Promise<T>): Promise<T> {
	for (let tries = 1; ; tries++)
		try {
			return await attempt();
		} catch (error) {
			if (!(error instanceof FreePortTaken) || tries === TRIES) throw error;
		}
}

function once<T>(action: () => Promise<T>): () => Promise<T> {
	let running: Promise<T> | undefined;
	return () => {
		running ??= action();
		return running;
	};
}
