import type { Broker, Disturbance } from "../rig.ts";
import { settled } from "../settled.ts";
import type { BrokerLog } from "./broker-log.ts";
import { type Health, untilHealthy } from "./health.ts";
import type { BrokerNode } from "./node.ts";
import { crowdedHere, patience } from "./patience.ts";
import type { Back } from "./place.ts";

export interface DisturberOptions {
	readonly log: BrokerLog;
	readonly health: Health;
	/** How long a node may take to come up again. */
	readonly startMs: number;
	/** Then nothing is started any more. */
	readonly stop: AbortSignal;
}

/**
 * What may be done to one node of a broker or to all at once. Data, addresses and log stay, so a node that is started again is the same node. A
 * node that was down counts as back when it is ready and the broker is healthy.
 */
export function disturber(
	nodes: readonly BrokerNode[],
	options: DisturberOptions,
): Broker["disturb"] {
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
			// Never leave half of a fault: undo what was done.
			await back().catch(() => {});
			throw failed.reason;
		}
		return back;
	};
}

// --- internal ---

type Act = (node: BrokerNode, options: DisturberOptions, delayNs: number) => Promise<Back>;

const actions: Readonly<Record<Disturbance["action"], Act>> = {
	async pause(node, { log }) {
		const by = (signal: string) => (node.place.signals ? ` (${signal})` : "");
		const goOn = await node.pause();
		note(log, node, (name) => `paused ${name}${by("SIGSTOP")}`);
		return async () => {
			await goOn();
			note(log, node, (name) => `${name} goes on${by("SIGCONT")}`);
		};
	},
	async kill(node, options) {
		await node.kill();
		note(options.log, node, (name) => `killed ${name} (SIGKILL)`);
		return () => startAgain(node, options);
	},
	async restart(node, options) {
		node.mustBeUp();
		note(options.log, node, (name) => `asked ${name} to end (SIGTERM)`);
		await node.end();
		note(options.log, node, (name) => `${name} has ended`);
		return () => startAgain(node, options);
	},
	async partition(node, { log }) {
		const back = await networkOf(node, "partition").partition();
		note(log, node, (name) => `cut ${name} off from its network`);
		return async () => {
			await back();
			note(log, node, (name) => `${name} has its network again`);
		};
	},
	async latency(node, { log }, delayNs) {
		const back = await networkOf(node, "latency").latency(delayNs);
		note(log, node, (name) => `packets of ${name} leave ${delayNs / 1e6} ms later`);
		return async () => {
			await back();
			note(log, node, (name) => `packets of ${name} leave at once again`);
		};
	},
};

function note(log: BrokerLog, { number }: BrokerNode, what: (name: string) => string): void {
	log.note(what(`node ${number}`), number);
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
async function startAgain(
	node: BrokerNode,
	{ log, health, startMs, stop }: DisturberOptions,
): Promise<void> {
	if (stop.aborted) throw new Error(ENDING);
	const { ready, ended } = await node.start();
	note(log, node, (name) => `started ${name} again`);
	const over = new AbortController();
	const limit = patience(
		startMs,
		AbortSignal.any([stop, over.signal]),
		node.place.host === null ? crowdedHere : () => 1,
	).then(
		() => "late" as const,
		() => "stopped" as const,
	);
	try {
		const step = await Promise.race([
			ready.then(() => untilHealthy(health, over.signal)).then(() => "ready" as const),
			ended,
			limit,
		]);
		if (step === "stopped") throw new Error(ENDING);
		if (step === "late")
			throw new Error(`node ${node.number} was started again and did not become ready in time`);
		if (step !== "ready") {
			const words = log.lastWords();
			throw new Error(
				`node ${node.number} was started again and ended: ${step.how}${words && `, last words: ${words}`}`,
			);
		}
	} finally {
		over.abort();
	}
	note(log, node, (name) => `${name} is ready again`);
}

const ENDING = "the run is over";
