import type { BrokerProcess, Described, ImageFacts } from "../../runner/brokers/process.ts";
import { failure, MqbenchError } from "../../runner/errors.ts";
import { formatBytes } from "../../runner/units.ts";
import { FreePortTaken } from "../local/ports.ts";
import { openBroker } from "../nodes/broker.ts";
import type { Broker, BrokerRequest } from "../rig.ts";
import { DockerError, explainDocker } from "./cli.ts";
import { containersText } from "./container.ts";
import { cannotLimit } from "./engine.ts";
import { flushText } from "./flush.ts";
import { getImage } from "./images.ts";
import { makeContainer, volumeOf } from "./make-container.ts";
import { containerPlace } from "./place.ts";
import { isHop, type RigInDocker } from "./rig-in-docker.ts";
import { type ContainerSite, newSites } from "./sites.ts";

/**
 * Brings up the broker of a system in its own containers, named `<name>-1` and on, and returns when all are ready and healthy. After any
 * failure, Ctrl-C included, nothing of them is left. `address` is the last number of the first container's address.
 */
export async function openContainers(
	rig: RigInDocker,
	kind: BrokerProcess,
	request: BrokerRequest,
	{ name, address }: { readonly name: string; readonly address: number },
): Promise<Broker> {
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
	return openBroker({
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
}

// --- internal ---

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
