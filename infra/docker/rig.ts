import { randomBytes } from "node:crypto";
import { brokerOf } from "../../runner/brokers/index.ts";
import type { BrokerProcess } from "../../runner/brokers/process.ts";
import { failure } from "../../runner/errors.ts";
import type { FaultAction } from "../../runner/model/plan.ts";
import { once } from "../../runner/once.ts";
import { commandLine } from "../../runner/shell.ts";
import type { World } from "../../runner/world.ts";
import type { Binaries } from "../binaries/resolve.ts";
import { untilPortsAreFree } from "../local/ports.ts";
import { toolsOf } from "../local/tools.ts";
import type { Broker, BrokerRequest, Rig } from "../rig.ts";
import { untouchedBroker } from "../rig.ts";
import { explainDocker } from "./cli.ts";
import { findEngine } from "./engine.ts";
import { flushWarning, measureFlush } from "./flush.ts";
import { LABELS, labelsOfRun } from "./labels.ts";
import { cannotDelay } from "./latency.ts";
import { makeNetwork } from "./network.ts";
import { openContainers } from "./open.ts";
import { startReaper } from "./reaper.ts";
import { removeLabelled, sweep } from "./remove.ts";
import { isHop, type RigInDocker } from "./rig-in-docker.ts";

/** Target docker: brokers in containers of this machine's engine, in a network of their own. `inside`: clients join it, too. */
export async function dockerRig(
	world: World,
	binaries: Binaries,
	{ inside = false }: { readonly inside?: boolean } = {},
): Promise<Rig & { readonly network: string }> {
	const say = sayTo(world);
	const { docker, engine } = await findEngine(world, binaries.agent);
	await sweep(docker).catch((error) => {
		throw explainDocker(error, "look for what earlier runs have left");
	});
	const run = randomBytes(5).toString("hex");
	const name = `mqbench-${run}`;
	const label = `${LABELS.run}=${run}`;
	const labels = labelsOfRun(run);
	// Before anything exists that it would have to remove.
	const reaper = startReaper(docker, label);
	let inDocker: RigInDocker;
	try {
		const network = await makeNetwork(docker, name, labels, world.env);
		inDocker = rigInDocker({ docker, engine, network, labels, world, inside, say }, binaries);
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
			const kind = kindOf(request);
			if (!kind) return untouchedBroker();
			for (const fault of request.faults ?? []) await checkFault(inDocker, request, fault);
			const broker = await untilPortsAreFree(() => {
				count++;
				return openContainers(inDocker, kind, request, {
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
			// The reaper keeps trying after we have given up.
			if (left.length === 0) reaper.dismiss();
			else
				say(
					`Docker cannot remove ${left.join(", ")}; docker ps --all --filter ${commandLine([`label=${label}`])} shows what is there.`,
				);
		},
	};
}

// --- internal ---

const HOP =
	"Docker's containers are reached through published ports here (a virtual machine, or MQBENCH_DOCKER_REACH=published): each message takes one more hop each way, and the figures include its cost.";

function sayTo(world: World): (text: string) => void {
	return (text) => void world.stderr.write(`${text}\n`);
}

/** Prepares a rig's things, and warns about what people have to know: each message takes an extra hop, or the disk does not flush. */
function rigInDocker(parts: Omit<RigInDocker, "flush" | "tools">, binaries: Binaries): RigInDocker {
	const { docker, engine, labels, world, say } = parts;
	if (isHop(parts)) say(HOP);
	return {
		...parts,
		tools: toolsOf(world, binaries),
		flush: once(async () => {
			const flush = await measureFlush(docker, engine, labels, binaries, world);
			const warning = flushWarning(flush);
			if (warning !== null) say(warning);
			return flush;
		}),
	};
}

function kindOf({ system }: BrokerRequest): BrokerProcess | null {
	return brokerOf(system).process;
}

/** Last numbers of the brokers' first addresses, one after the other; old ones become free again. */
function addresses(): (request: BrokerRequest) => number {
	let next = FIRST;
	return ({ system }) => {
		const nodes = system.options.nodes ?? 1;
		if (next + nodes > END) next = FIRST;
		next += nodes;
		return next - nodes;
	};
}

/** Above the gateway, and below those that the engine gives to others. */
const FIRST = 2;
const END = 128;

/** Before the run: a run that finds out in the middle has measured nothing. */
async function checkFault(
	{ engine, network, inside, world }: RigInDocker,
	{ system }: BrokerRequest,
	action: FaultAction,
): Promise<void> {
	let reason: string | null = null;
	if (action === "partition" && isHop({ network, inside }))
		reason =
			"clients reach the containers through published ports, whose connections Docker would close instead of leaving them silent";
	if (action === "latency")
		reason = engine.sameKernel
			? await cannotDelay(world.env)
			: "the containers are in a virtual machine, whose network mqbench cannot change";
	if (reason !== null) throw failure("fault-impossible", { system: system.key, action, reason });
}
