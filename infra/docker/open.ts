import {
	type BrokerProcess,
	clientPorts,
	type NodeDescription,
	reachedPorts,
	type Tools,
} from "../../runner/brokers/process.ts";
import { failure } from "../../runner/errors.ts";
import type { World } from "../../runner/world.ts";
import { freePorts } from "../local/ports.ts";
import { openBroker } from "../nodes/broker.ts";
import type { Broker, BrokerRequest } from "../rig.ts";
import { type Docker, explainDocker } from "./cli.ts";
import {
	type ContainerSpec,
	commandOf,
	containersText,
	createArguments,
	limitsOf,
} from "./container.ts";
import { cannotLimit, type Engine } from "./engine.ts";
import { type Flush, flushText } from "./flush.ts";
import { getImage } from "./images.ts";
import { labelArguments } from "./labels.ts";
import type { Network } from "./network.ts";
import { containerPlace } from "./place.ts";
import { type ContainerSite, containerSite } from "./sites.ts";
import { tar } from "./tar.ts";

/** The engine and a rig's things in it. */
export interface RigInDocker {
	readonly docker: Docker;
	readonly engine: Engine;
	readonly network: Network;
	/** On everything that is made. */
	readonly labels: Readonly<Record<string, string>>;
	readonly world: World;
	/** This machine's. */
	readonly tools: Tools;
	/** Called with a line when something takes long. */
	say(text: string): void;
	/** How long the disk of volumes takes to flush; measured when data is going to be on one. */
	flush(): Promise<Flush | null>;
	/** Clients are containers of the same network and use the others' addresses. */
	readonly inside: boolean;
	/** Clients use the containers' published ports. */
	readonly hop: boolean;
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
): Promise<Broker> {
	const { docker, engine, network, labels, world, tools } = rig;
	const { system, level, messageBytes } = request;
	const limits = limitsOf(request);
	const doing = `start ${system.key}`;
	const unlimited = cannotLimit(engine, limits);
	if (unlimited !== null) throw failure("docker-failed", { doing, reason: unlimited });
	const image = await getImage(docker, system, world, rig.say);
	const sites = await newSites(rig, kind, request, address);
	const made = await kind.describe({
		system,
		level,
		messageBytes,
		tools,
		image,
		nodes: sites,
		ask: null,
		where: { disk: "on a volume", memory: "tmpfs" },
	});
	const onVolume = made.data === "disk";
	const flush = onVolume ? await rig.flush() : null;
	const containers = sites.map(({ ip, hostname, folder, data, reached }, i) => ({
		...limits,
		name: `${name}-${i + 1}`,
		image: image.id,
		labels,
		network: network.name,
		ip,
		hostname,
		folder,
		data: made.data && { path: data, volume: onVolume ? `${name}-${i + 1}-data` : null },
		published: network.direct
			? []
			: reachedPorts(kind).map((to, p) => ({ to, port: Number(reached[p]?.split(":")[1]) })),
		init: kind.container.init ?? false,
	}));
	return openBroker({
		facts: made,
		places: containers.map((container) =>
			containerPlace({
				...container,
				docker,
				stopMs: made.stopMs,
				world,
				prepare: ({ files, env = {}, ...node }) =>
					makeContainer(docker, { ...container, ...commandOf(node), env }, files),
			}),
		),
		request,
		world,
		about: {
			sameHost: true,
			binary: image.name,
			topology: containersText(sites.length, limits, rig.hop),
			settings: {
				...made.settings,
				image: `${image.name} (${image.digest ?? image.id})`,
				...(onVolume ? { "volume fdatasync": flushText(flush) } : {}),
			},
		},
		async remove() {
			const names = containers.map(({ name }) => name);
			await docker.run(["rm", "--force", "--volumes", ...names]).catch(() => {});
			const volumes = containers.flatMap(({ data }) => data?.volume ?? []);
			if (onVolume) await docker.run(["volume", "rm", "--force", ...volumes]).catch(() => {});
		},
		explain: (error) => explainDocker(error, doing),
	});
}

// --- internal ---

/** Where the nodes of a broker are going to run; `first` is the last number of the first one's address. */
async function newSites(
	{ network, inside, hop }: RigInDocker,
	kind: BrokerProcess,
	{ system }: BrokerRequest,
	first: number,
): Promise<ContainerSite[]> {
	const count = system.options.nodes ?? 1;
	const ports = reachedPorts(kind);
	const free = network.direct
		? []
		: await freePorts({ ...system, port: null }, count * ports.length);
	return Array.from({ length: count }, (_, i) => {
		const ip = `${network.prefix}.${first + i}`;
		const reached = ports.map((port, p) =>
			network.direct ? `${ip}:${port}` : `127.0.0.1:${free[i * ports.length + p]}`,
		);
		const site = containerSite(kind, count, i, { ip, reached, published: hop });
		if (!inside) return site;
		const clients = clientPorts(kind).map((port) => `${ip}:${port}`);
		return { ...site, clients, client: clients[0] ?? "" };
	});
}

/** Makes a node's container with its volume and files; does not start it. */
async function makeContainer(
	docker: Docker,
	spec: ContainerSpec & Pick<ContainerSite, "folder">,
	files: NodeDescription["files"],
): Promise<void> {
	const { name, folder, data, labels } = spec;
	if (data?.volume) await docker.run(["volume", "create", ...labelArguments(labels), data.volume]);
	await docker.run(createArguments(spec));
	const entries = Object.entries(files).map(([file, text]) => ({
		name: `${folder}/${file}`.slice(1),
		mode: 0o444,
		from: { text },
	}));
	await docker.run(["cp", "-", `${name}:/`], { input: tar(entries) });
}
