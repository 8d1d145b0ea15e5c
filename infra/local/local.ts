import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { brokerOf, processes } from "../../runner/brokers/index.ts";
import type { BrokerProcess } from "../../runner/brokers/process.ts";
import { failure, MqbenchError } from "../../runner/errors.ts";
import { once } from "../../runner/once.ts";
import type { World } from "../../runner/world.ts";
import { openBroker } from "../nodes/broker.ts";
import type { BrokerLog } from "../nodes/broker-log.ts";
import type { Binaries } from "../programs/resolve.ts";
import { type Broker, type BrokerRequest, type Rig, rigOf, untouchedBroker } from "../rig.ts";
import { sweep, temporaryFolder } from "../temporary.ts";
import { localPlace } from "./place.ts";
import { FreePortTaken, freePorts, untilPortsAreFree } from "./ports.ts";
import { HERE, localSites } from "./sites.ts";
import { toolsOf } from "./tools.ts";

/** Target local: brokers as processes of this machine, on loopback, with their data in a temporary folder. */
export async function localRig(
	world: World,
	binaries: Binaries,
	kinds: Readonly<Record<string, BrokerProcess | null>> = processes,
): Promise<Rig> {
	await sweep();
	return rigOf(async (request: BrokerRequest) => {
		const { system } = request;
		const known = Object.hasOwn(kinds, system.broker);
		const kind = known ? kinds[system.broker] : brokerOf(system).process;
		if (!kind) return untouchedBroker();
		return await untilPortsAreFree(() => launch(kind, request, world, binaries));
	});
}

// --- internal ---

async function launch(
	kind: BrokerProcess,
	request: BrokerRequest,
	world: World,
	binaries: Binaries,
): Promise<Broker> {
	const { system, level, messageBytes } = request;
	const count = system.options.nodes ?? 1;
	const store = await temporaryFolder(tmpdir());
	// Downloads of Maven, crash dumps of Erlang, a node's data: everything goes with the run.
	const folders = [store];
	const remove = async () => {
		for (const folder of folders) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
	};
	try {
		const nodes = await localSites(kind, {
			count,
			store,
			ports: (count) => freePorts(system, count),
			memoryFolder: once(async () => {
				const folder = await temporaryFolder(HERE.where.memory);
				folders.push(folder);
				return folder;
			}),
		});
		const made = await kind.describe({
			system,
			level,
			messageBytes,
			nodes,
			...HERE,
			tools: toolsOf(world, binaries),
		});
		return await openBroker({
			facts: made,
			places: nodes.map(({ folder }) =>
				localPlace({
					folder,
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
			explain: (error, log) => explainTaken(error, request, log),
		});
	} catch (error) {
		await remove();
		throw error;
	}
}

/** The broker did not start because its port is in use. */
function explainTaken(
	error: unknown,
	{ system: { key, port } }: BrokerRequest,
	log: BrokerLog,
): unknown {
	if (!(error instanceof MqbenchError) || error.code !== "broker-start") return error;
	if (!PORT_TAKEN.test(log.tail())) return error;
	return port === null ? new FreePortTaken(error) : failure("port-taken", { system: key, port });
}

/** Brokers word this in different ways. */
const PORT_TAKEN = /eaddrinuse|address (already )?in use|port \d+ (is )?in use/i;
