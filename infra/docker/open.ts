import { commonOptions } from "../../runner/brokers/index.ts";
import type {
	DockerBroker,
	ImageFacts,
	NodeAddress,
	NodeContainer,
} from "../../runner/brokers/process.ts";
import { failure, MqbenchError } from "../../runner/errors.ts";
import { formatBytes } from "../../runner/units.ts";
import { FreePortTaken } from "../local/ports.ts";
import { openBroker } from "../nodes/broker.ts";
import type { Broker, BrokerRequest } from "../rig.ts";
import { addresses, attachedAddresses, urlInside } from "./addresses.ts";
import { DockerError, explainDocker } from "./cli.ts";
import { containersText, withHop } from "./container.ts";
import { cannotLimit } from "./engine.ts";
import { flushText } from "./flush.ts";
import type { FoundContainer } from "./heal.ts";
import { getImage } from "./images.ts";
import { makeContainer, volumeOf } from "./make-container.ts";
import { containerPlace } from "./place.ts";
import { isHop, type RigInDocker } from "./rig-in-docker.ts";

/** A broker in containers. */
export interface BrokerInDocker {
	readonly broker: Broker;
	readonly containers: readonly string[];
	/** Lets go of them: they stay up. */
	letBe(): Promise<void>;
}

/**
 * Brings up the broker of a system in containers of its own, named `<name>-1` and on, and returns when all are ready and healthy.
 * Whatever goes wrong, Ctrl-C included: nothing of them is left. `address` is the last number of the first one's address.
 */
export async function openContainers(
	rig: RigInDocker,
	kind: DockerBroker,
	request: BrokerRequest,
	{ name, address }: { readonly name: string; readonly address: number },
): Promise<BrokerInDocker> {
	const { docker, engine, network, world } = rig;
	const { system } = request;
	const { cpus = null, memory = null } = commonOptions(system.options);
	const unlimited = cannotLimit(engine, { cpus, memory, pin: request.cpus });
	if (unlimited !== null)
		throw failure("docker-failed", {
			doing: `start ${system.key}`,
			reason: unlimited,
		});
	const image = await getImage(docker, system, world, rig.say);
	const nodes = await addresses(rig, kind, request, address);
	const made = await kind.contain({
		tools: rig.tools,
		system,
		level: request.level,
		messageBytes: request.messageBytes,
		image,
		nodes,
	});
	const onVolume = made.nodes.some(({ data }) => data?.kind === "volume");
	const flush = onVolume ? await rig.flush() : null;
	const names = made.nodes.map((_, i) => `${name}-${i + 1}`);
	const places = names.map((name, i) =>
		containerPlace({
			...{ docker, name, world, memoryBytes: memory, stopMs: made.stopMs },
			network: network.name,
			create: () =>
				makeContainer(rig, request, made.nodes[i] as NodeContainer, {
					...{ name, image: image.id, ports: kind.ports },
					address: nodes[i] as NodeAddress,
				}),
		}),
	);
	const broker = await openBroker({
		facts: { ...made, nodes: names.map(() => OWN_COMMAND) },
		...{ places, request, world },
		about: {
			sameHost: true,
			binary: image.name,
			topology: containersText(nodes.length, {
				cpus,
				memory: memoryText(memory),
				hop: isHop(rig),
			}),
			settings: {
				...made.settings,
				image: `${image.name} (${image.digest ?? image.id})`,
				...(onVolume ? { "volume fdatasync": flushText(flush) } : {}),
			},
		},
		async remove() {
			await docker
				.run(["rm", "--force", "--volumes", ...names])
				.catch(() => {});
			if (onVolume)
				await docker
					.run(["volume", "rm", "--force", ...names.map(volumeOf)])
					.catch(() => {});
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
 * The broker of containers that are up since an earlier command: they can be disturbed, sampled and read as if they had been started
 * here. What is down of it is started. Closing it leaves them as they are.
 */
export async function attachContainers(
	rig: RigInDocker,
	kind: DockerBroker,
	request: BrokerRequest,
	found: readonly FoundContainer[],
	up: {
		readonly url: string;
		readonly server: string;
		readonly settings: Readonly<Record<string, string>>;
		readonly topology: string | null;
	},
): Promise<Broker> {
	const { docker, network, inside, world } = rig;
	const { system } = request;
	const nodes = attachedAddresses(rig, kind, found);
	const made = await kind.contain({
		tools: rig.tools,
		system,
		level: request.level,
		messageBytes: request.messageBytes,
		image: UNKNOWN,
		nodes,
	});
	const url =
		inside && !network.direct ? urlInside(up.url, kind, nodes, made) : up.url;
	const [first] = found;
	return openBroker({
		facts: { ...made, nodes: found.map(() => OWN_COMMAND) },
		places: found.map(({ name }) =>
			containerPlace({
				...{ docker, name, world, stopMs: made.stopMs },
				network: network.name,
				memoryBytes: commonOptions(system.options).memory ?? null,
				async create() {},
			}),
		),
		running: found.map(({ down }) => !down),
		...{ request, world },
		about: {
			stays: true,
			sameHost: true,
			url,
			version: up.server,
			settings: up.settings,
			binary: first?.image ?? null,
			topology: withHop(
				up.topology ??
					containersText(found.length, {
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

/** What a container runs it was made with. */
const OWN_COMMAND = { argv: [], before: [], files: {} };

/** Of containers that are there: what they were made of makes no difference any more. */
const UNKNOWN: ImageFacts = { name: "", digest: null, id: "", env: {} };

function memoryText(bytes: number | null | undefined): string | null {
	return bytes === null || bytes === undefined ? null : formatBytes(bytes);
}

/** Why the engine did not make or start a container, as the sentence that fits. */
function refusal(
	error: unknown,
	{ system: { key }, cpus, logPath }: BrokerRequest,
): MqbenchError {
	if (error instanceof MqbenchError) return error;
	if (error instanceof DockerError) {
		const { message: reason } = error;
		if (/unable to start container process|exec format/i.test(reason))
			return failure("broker-start", { system: key, reason, log: logPath });
		if (/port is already allocated|address already in use/i.test(reason))
			return new FreePortTaken(
				failure("docker-failed", {
					doing: `publish the ports of ${key}`,
					reason,
				}),
			);
		if (cpus !== null && /requested CPUs are not available/i.test(reason))
			return failure("pin-impossible", { cpus, reason });
	}
	return explainDocker(error, `start ${key}`);
}
