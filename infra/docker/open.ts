import type { BrokerProcess, Described, ImageFacts } from "../../runner/brokers/process.ts";
import { failure, MqbenchError } from "../../runner/errors.ts";
import { formatBytes } from "../../runner/units.ts";
import { FreePortTaken } from "../local/ports.ts";
import { openBroker } from "../nodes/broker.ts";
import type { Broker, BrokerRequest } from "../rig.ts";
import { DockerError, explainDocker } from "./cli.ts";
import { containersText, withHop } from "./container.ts";
import { cannotLimit } from "./engine.ts";
import { flushText } from "./flush.ts";
import type { FoundContainer } from "./heal.ts";
import { getImage } from "./images.ts";
import { makeContainer, volumeOf } from "./make-container.ts";
import { containerPlace } from "./place.ts";
import { isHop, type RigInDocker } from "./rig-in-docker.ts";
import { attachedSites, type ContainerSite, newSites, urlInside } from "./sites.ts";

/** A broker in containers. */
export interface BrokerInDocker {
	readonly broker: Broker;
	readonly containers: readonly string[];
	/** Lets go of the containers, which stay up. */
	letBe(): Promise<void>;
}

/**
 * Brings up the broker of a system in its own containers, named `<name>-1` and on, and returns when all are ready and healthy. After any
 * failure, Ctrl-C included, nothing of them is left. `address` is the last number of the first container's address.
 */
export async function openContainers(
	rig: RigInDocker,
	kind: BrokerProcess,
	request: BrokerRequest,
	{ name, address }: { readonly name: string; readonly address: number },
): Promise<BrokerInDocker> {
	const { docker, engine, network, world } = rig;
	const { system } = request;
	const { cpus = null, memory = null } = system.options;
	const unlimited = cannotLimit(engine, { cpus, memory, pin: request.cpus });
	if (unlimited !== null)
		throw failure("docker-failed", { doing: `start ${system.key}`, reason: unlimited });
	const image = await getImage(docker, system, world, rig.say);
	const nodes = await newSites(rig, kind, request, address);
	const made = await describeThere(rig, kind, request, image, nodes);
	const onVolume = made.data === "disk";
	const flush = onVolume ? await rig.flush() : null;
	const names = made.nodes.map((_, i) => `${name}-${i + 1}`);
	const places = names.map((name, i) =>
		containerPlace({
			docker,
			name,
			world,
			memoryBytes: memory,
			stopMs: made.stopMs,
			network: network.name,
			prepare: (node) =>
				makeContainer(rig, request, kind, node, {
					name,
					image: image.id,
					data: made.data,
					site: nodes[i] as ContainerSite,
				}),
		}),
	);
	const broker = await openBroker({
		facts: made,
		places,
		request,
		world,
		about: {
			sameHost: true,
			binary: image.name,
			topology: containersText(nodes.length, { cpus, memory: memoryText(memory), hop: isHop(rig) }),
			settings: {
				...made.settings,
				image: `${image.name} (${image.digest ?? image.id})`,
				...(onVolume ? { "volume fdatasync": flushText(flush) } : {}),
			},
		},
		async remove() {
			await docker.run(["rm", "--force", "--volumes", ...names]).catch(() => {});
			if (onVolume)
				await docker.run(["volume", "rm", "--force", ...names.map(volumeOf)]).catch(() => {});
		},
		explain: (error) => refusal(error, request),
	});
	return {
		broker,
		containers: names,
		async letBe() {
			await Promise.all(places.map((place) => place.close()));
		},
	};
}

/**
 * The broker in containers that are up since an earlier command. They can be disturbed, sampled and read as if they had been started here.
 * Containers that are down are started. Closing it leaves them as they are.
 */
export async function attachContainers(
	rig: RigInDocker,
	kind: BrokerProcess,
	request: BrokerRequest,
	containers: readonly FoundContainer[],
	up: {
		readonly url: string;
		readonly server: string;
		readonly settings: Readonly<Record<string, string>>;
		readonly topology: string | null;
	},
): Promise<Broker> {
	const { docker, network, inside, world } = rig;
	const { system } = request;
	const nodes = attachedSites(rig, kind, containers);
	const made = await describeThere(rig, kind, request, UNKNOWN, nodes);
	const url = inside && !network.direct ? urlInside(up.url, kind, nodes, made) : up.url;
	const [first] = containers;
	return openBroker({
		facts: made,
		places: containers.map(({ name }) =>
			containerPlace({
				docker,
				name,
				world,
				stopMs: made.stopMs,
				network: network.name,
				memoryBytes: system.options.memory ?? null,
				async prepare() {},
			}),
		),
		running: containers.map(({ down }) => !down),
		request,
		world,
		about: {
			stays: true,
			sameHost: true,
			url,
			version: up.server,
			settings: up.settings,
			binary: first?.image ?? null,
			topology: withHop(
				up.topology ??
					containersText(containers.length, {
						cpus: first?.cpus ?? null,
						memory: memoryText(first?.memoryBytes),
					}),
				isHop(rig),
			),
		},
		async remove() {},
		explain: (error) => refusal(error, request),
	});
}

// --- internal ---

/** The containers exist, so what they were made of no longer matters. */
const UNKNOWN: ImageFacts = { name: "", digest: null, id: "", env: {}, entrypoint: [] };

function describeThere(
	{ tools }: RigInDocker,
	kind: BrokerProcess,
	{ system, level, messageBytes }: BrokerRequest,
	image: ImageFacts,
	nodes: readonly ContainerSite[],
): Promise<Described> {
	return kind.describe({
		system,
		level,
		messageBytes,
		tools,
		image,
		nodes,
		ask: null,
		where: { disk: "on a volume", memory: "tmpfs" },
	});
}

function memoryText(bytes: number | null | undefined): string | null {
	return bytes === null || bytes === undefined ? null : formatBytes(bytes);
}

/** Why the engine did not make or start a container, as a sentence. */
function refusal(error: unknown, { system: { key }, cpus, logPath }: BrokerRequest): MqbenchError {
	if (error instanceof MqbenchError) return error;
	if (error instanceof DockerError) {
		const { message: reason } = error;
		if (/unable to start container process|exec format/i.test(reason))
			return failure("broker-start", { system: key, reason, log: logPath });
		if (/port is already allocated|address already in use/i.test(reason))
			return new FreePortTaken(
				failure("docker-failed", { doing: `publish the ports of ${key}`, reason }),
			);
		if (cpus !== null && /requested CPUs are not available/i.test(reason))
			return failure("pin-impossible", { cpus, reason });
	}
	return explainDocker(error, `start ${key}`);
}
