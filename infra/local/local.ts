import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { startedAs } from "../../runner/brokers/index.ts";
import type { LocalBroker } from "../../runner/brokers/process.ts";
import { failure } from "../../runner/errors.ts";
import type { World } from "../../runner/world.ts";
import type { Binaries } from "../binaries/resolve.ts";
import { type Broker, type BrokerRequest, NEVER, type Rig } from "../rig.ts";
import { sweep, temporaryFolder } from "../temporary.ts";
import { freePorts } from "./ports.ts";
import { FreePortTaken, start } from "./start.ts";
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
			if (!kind) return none();
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

/** A system without a process: nothing to start, nothing to stop. */
export function none(): Broker {
	return {
		url: "",
		version: "",
		binary: null,
		sameHost: true,
		pids: [],
		settings: {},
		topology: null,
		nodeOf: () => null,
		disturb: async () => {
			throw new Error("this broker has no processes of ours to disturb");
		},
		died: NEVER,
		close: async () => {},
	};
}

// --- internal ---

/** Between choosing a port and listening on it somebody else may take it: so many tries with others. */
const TRIES = 3;

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
		if (world.stop.aborted)
			throw failure("interrupted", { signal: String(world.stop.reason) });
		const started = await start(made, request, store, binaries.guard, world);
		const { stop, ...broker } = started;
		return {
			...broker,
			// Asked for anew each time: a node that was started again is another process.
			get pids() {
				return started.pids;
			},
			binary: made.nodes[0]?.argv[0] ?? null,
			close: once(async () => {
				await stop();
				await remove();
			}),
		};
	} catch (error) {
		await remove();
		throw error;
	}
}

async function untilPortsAreFree(
	attempt: () => Promise<Broker>,
): Promise<Broker> {
	for (let tries = 1; ; tries++)
		try {
			return await attempt();
		} catch (error) {
			if (!(error instanceof FreePortTaken) || tries === TRIES) throw error;
		}
}

function once(action: () => Promise<void>): () => Promise<void> {
	let running: Promise<void> | undefined;
	return () => {
		running ??= action();
		return running;
	};
}
