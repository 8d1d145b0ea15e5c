import { brokerOf } from "../../runner/brokers/index.ts";
import { failure } from "../../runner/errors.ts";
import { once } from "../../runner/once.ts";
import { commandLine } from "../../runner/shell.ts";
import type { World } from "../../runner/world.ts";
import { untilPortsAreFree } from "../local/ports.ts";
import { toolsOf } from "../local/tools.ts";
import type { Binaries } from "../programs/resolve.ts";
import { type BrokerRequest, type Rig, rigOf, untouchedBroker } from "../rig.ts";
import { explainDocker } from "./cli.ts";
import { findEngine } from "./engine.ts";
import { flushWarning, measureFlush } from "./flush.ts";
import { beginRun, sweep } from "./labels.ts";
import { cannotDelay } from "./latency.ts";
import { makeNetwork, type Network } from "./network.ts";
import { openContainers, type RigInDocker } from "./open.ts";

/** Target docker: brokers in containers of this machine's engine, in a separate network. With `inside`, clients join it, too. */
export async function dockerRig(
	world: World,
	binaries: Binaries,
	{ inside = false }: { readonly inside?: boolean } = {},
): Promise<Rig & { readonly network: string }> {
	const say = (text: string) => void world.stderr.write(`${text}\n`);
	const { docker, engine } = await findEngine(world, binaries.agent);
	await sweep(docker).catch((error) => {
		throw explainDocker(error, "look for what earlier runs have left");
	});
	const { name, label, labels, remove } = beginRun(docker);
	let network: Network;
	try {
		network = await makeNetwork(docker, name, labels, world.env);
	} catch (error) {
		await remove();
		throw error;
	}
	const rig: RigInDocker = {
		docker,
		engine,
		network,
		labels,
		world,
		tools: toolsOf(world, binaries),
		say,
		flush: once(async () => {
			const flush = await measureFlush(docker, engine, labels, binaries, world);
			const warning = flushWarning(flush);
			if (warning !== null) say(warning);
			return flush;
		}),
		inside,
		hop: !network.direct && !inside,
	};
	if (rig.hop) say(HOP);
	let count = 0;
	let address = FIRST;
	const open = async (request: BrokerRequest) => {
		const kind = brokerOf(request.system).process;
		if (!kind) return untouchedBroker();
		await checkFaults(rig, request);
		const nodes = request.system.options.nodes ?? 1;
		return await untilPortsAreFree(() => {
			// Old ones become free again.
			const first = address + nodes > END ? FIRST : address;
			address = first + nodes;
			count++;
			return openContainers(rig, kind, request, { name: `${name}-${count}`, address: first });
		});
	};
	const end = async () => {
		if (await remove()) return;
		const filter = commandLine([`label=${label}`]);
		say(
			`Docker does not remove all that this run has made; docker ps --all --filter ${filter} shows what is there.`,
		);
	};
	return { ...rigOf(open, end), network: name };
}

// --- internal ---

const HOP =
	"Docker's containers are reached through published ports here (a virtual machine, or MQBENCH_DOCKER_REACH=published): each message takes one more hop each way, and the figures include its cost.";

/** Last numbers of addresses: above the gateway, and below those that the engine gives to others. */
const FIRST = 2;
const END = 128;

/** Before the run: a run that finds out in the middle has measured nothing. */
async function checkFaults(
	{ engine, hop, world }: RigInDocker,
	{ system, faults = [] }: BrokerRequest,
): Promise<void> {
	for (const action of faults) {
		let reason: string | null = null;
		if (action === "partition" && hop)
			reason =
				"clients reach the containers through published ports, whose connections Docker would close instead of leaving them silent";
		if (action === "latency")
			reason = engine.sameKernel
				? await cannotDelay(world.env)
				: "the containers are in a virtual machine, whose network mqbench cannot change";
		if (reason !== null) throw failure("fault-impossible", { system: system.key, action, reason });
	}
}
