import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { startedAs } from "../../runner/brokers/index.ts";
import type { Launch, LocalBroker } from "../../runner/brokers/process.ts";
import { failure, MqbenchError } from "../../runner/errors.ts";
import type { World } from "../../runner/world.ts";
import type { Binaries } from "../binaries/resolve.ts";
import { openBroker } from "../nodes/broker.ts";
import type { BrokerLog } from "../nodes/broker-log.ts";
import {
	type Broker,
	type BrokerRequest,
	type Rig,
	untouchedBroker,
} from "../rig.ts";
import { sweep, temporaryFolder } from "../temporary.ts";
import { localPlace } from "./place.ts";
import { FreePortTaken, freePorts, untilPortsAreFree } from "./ports.ts";
import { toolsOf } from "./tools.ts";

/** Target local: brokers as processes of this machine, on loopback, their data in a temporary folder. */
export async function localRig(
	world: World,
	binaries: Binaries,
	kinds: Readonly<Record<string, LocalBroker | null>> = startedAs("local"),
): Promise<Rig> {
	await sweep();
	const open = new Set<Broker>();
	return {
		clients: [],
		async open(request) {
			const kind = kinds[request.system.broker];
			if (!kind) return untouchedBroker();
			const broker = await untilPortsAreFree(() =>
				launch(kind, request, world, binaries),
			);
			open.add(broker);
			return broker;
		},
		async teardown() {
			await Promise.all([...open].map((broker) => broker.close()));
			open.clear();
		},
	};
}

// --- internal ---

async function launch(
	kind: LocalBroker,
	request: BrokerRequest,
	world: World,
	binaries: Binaries,
): Promise<Broker> {
	const { system, level, messageBytes } = request;
	const store = await temporaryFolder(tmpdir());
	// Maven downloads, Erlang's crash dumps, a node's data: all of it goes with the run.
	const folders = [store];
	const remove = async () => {
		for (const folder of folders)
			await rm(folder, { recursive: true, force: true, maxRetries: 5 });
	};
	try {
		const made = await kind.launch({
			system,
			level,
			messageBytes,
			store,
			ports: (count) => freePorts(system, count),
			tools: toolsOf(world, binaries),
		});
		folders.push(...(made.outside ?? []));
		const count = made.nodes.length;
		return await openBroker({
			facts: {
				...made,
				nodes: made.nodes.map((node, i) => ({
					...node,
					before: i === 0 ? made.before : [],
					files: {},
				})),
			},
			places: made.nodes.map(() =>
				localPlace({
					folder: store,
					agent: binaries.agent,
					cpus: request.cpus,
					stopMs: made.stopMs,
					world,
				}),
			),
			request,
			world,
			about: {
				binary: made.nodes[0]?.argv[0] ?? null,
				sameHost: true,
				topology: count === 1 ? null : `${count} nodes on 1 host`,
				settings: made.settings,
			},
			remove,
			explain: (error, log) => explainTaken(error, made, request, log),
		});
	} catch (error) {
		await remove();
		throw error;
	}
}

/** A broker that has not come up as its port is somebody's. */
function explainTaken(
	error: unknown,
	{ portTaken }: Pick<Launch, "portTaken">,
	{ system: { key, port } }: BrokerRequest,
	log: BrokerLog,
): unknown {
	if (!(error instanceof MqbenchError) || error.code !== "broker-start")
		return error;
	if (!portTaken(log.tail())) return error;
	return port === null
		? new FreePortTaken(error)
		: failure("port-taken", { system: key, port });
}
