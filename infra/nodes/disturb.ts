import type { Broker, Disturbance } from "../rig.ts";
import { settled } from "../settled.ts";
import { type ComingUp, untilUp } from "./bring-up.ts";
import type { BrokerLog } from "./broker-log.ts";
import type { BrokerNode } from "./node.ts";
import type { Back } from "./place.ts";

/**
 * The faults of one node of a broker or of all at once. Data, addresses and log stay, so a node that is started again is the same node. A
 * node that was down counts as back when it is ready and the broker is healthy.
 */
export function disturber(nodes: readonly BrokerNode[], options: ComingUp): Broker["disturb"] {
	return async (what) => {
		const chosen = nodes.filter(({ number }) => what.node === null || what.node === number);
		if (chosen.length === 0) throw new Error(`there is no node ${what.node}`);
		const done = await Promise.allSettled(
			chosen.map((node) => actions[what.action](node, options, what.delayNs ?? 0)),
		);
		const backs = done.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
		const back = async () => {
			await settled(backs.map((one) => one()));
		};
		const failed = done.find((one) => one.status === "rejected");
		if (failed) {
			// Never leave half of a fault: undo the part that was done.
			await back().catch(() => {});
			throw failed.reason;
		}
		return back;
	};
}

// --- internal ---

type Act = (node: BrokerNode, options: ComingUp, delayNs: number) => Promise<Back>;

const actions: Readonly<Record<Disturbance["action"], Act>> = {
	async pause(node, { log }) {
		const by = (signal: string) => (node.place.signals ? ` (${signal})` : "");
		const back = await node.pause();
		return noted(log, node, back, (name) => [
			`paused ${name}${by("SIGSTOP")}`,
			`${name} goes on${by("SIGCONT")}`,
		]);
	},
	async kill(node, options) {
		await node.kill();
		options.log.note(`killed ${nameOf(node)} (SIGKILL)`, node.number);
		return () => startAgain(node, options);
	},
	async restart(node, options) {
		node.mustBeUp();
		options.log.note(`asked ${nameOf(node)} to end (SIGTERM)`, node.number);
		await node.end();
		options.log.note(`${nameOf(node)} has ended`, node.number);
		return () => startAgain(node, options);
	},
	async partition(node, { log }) {
		const back = await networkOf(node, "partition").partition();
		return noted(log, node, back, (name) => [
			`cut ${name} off from its network`,
			`${name} has its network again`,
		]);
	},
	async latency(node, { log }, delayNs) {
		const back = await networkOf(node, "latency").latency(delayNs);
		return noted(log, node, back, (name) => [
			`packets of ${name} leave ${delayNs / 1e6} ms later`,
			`packets of ${name} leave at once again`,
		]);
	},
};

const nameOf = ({ number }: BrokerNode) => `node ${number}`;

/** Notes the fault, and later that it is undone. */
function noted(
	log: BrokerLog,
	node: BrokerNode,
	back: Back,
	text: (name: string) => readonly [done: string, undone: string],
): Back {
	const [done, undone] = text(nameOf(node));
	log.note(done, node.number);
	return async () => {
		await back();
		log.note(undone, node.number);
	};
}

function networkOf(node: BrokerNode, action: Disturbance["action"]) {
	const { network, host } = node.place;
	if (!network)
		throw new Error(
			`${action} is for target docker: mqbench has no network of its own ${host === null ? "here" : "between these hosts"}`,
		);
	node.mustBeUp();
	return network;
}

/** Starts a node that is down, and waits until it is ready and the broker is healthy. Throws a sentence on failure. */
async function startAgain(node: BrokerNode, coming: ComingUp): Promise<void> {
	const { log, stop } = coming;
	const ending = new Error("the run is over");
	if (stop.aborted) throw ending;
	const name = nameOf(node);
	const started = () => log.note(`started ${name} again`, node.number);
	const outcome = await untilUp([node], { ...coming, started });
	if (outcome === "stopped") throw ending;
	if (outcome !== "up") {
		const words = log.lastWords();
		throw new Error(
			`${name} was started again and ${"how" in outcome ? `ended: ${outcome.how}${words && `, last words: ${words}`}` : "did not become ready in time"}`,
		);
	}
	log.note(`${name} is ready again`, node.number);
}
