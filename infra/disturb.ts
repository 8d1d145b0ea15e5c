import { setTimeout as sleep } from "node:timers/promises";
import type { BrokerLog } from "./local/broker-log.ts";
import type { Broker, Disturbance } from "./rig.ts";

/** A node that can be started again. */
export interface Restartable {
	/** From 1. */
	readonly number: number;
	/** `ready` resolves when it says that it is, `ended` with how it ended: whatever comes first decides. */
	start(): Promise<{
		readonly ready: Promise<void>;
		readonly ended: Promise<string>;
	}>;
}

/** Takes back what was done to a node. */
export type Back = () => Promise<void>;

/** Does something to one node or to all, at once. Where it fails for one of them it is taken back from the others. */
export function disturbEach<Node extends Restartable>(
	nodes: readonly Node[],
	act: (node: Node, what: Disturbance) => Promise<Back>,
): Broker["disturb"] {
	return async (what) => {
		const some = nodes.filter(
			({ number }) => what.node === null || what.node === number,
		);
		if (some.length === 0) throw new Error(`there is no node ${what.node}`);
		const done = await Promise.allSettled(some.map((one) => act(one, what)));
		const backs = done.flatMap((one) =>
			one.status === "fulfilled" ? [one.value] : [],
		);
		const back = () => all(backs.map((one) => one()));
		const failed = done.find((one) => one.status === "rejected");
		if (failed) {
			// Half of a fault is none: what was done is taken back.
			await back().catch(() => {});
			throw failed.reason;
		}
		return back;
	};
}

/** Starts a node that is down, and waits until it is ready, and the broker healthy. Throws a sentence if that does not come about. */
export async function startAgain(
	node: Restartable,
	log: BrokerLog,
	{
		stop,
		startMs,
		healthy,
	}: {
		/** Nothing is started any more; null: it is started all the same. */
		readonly stop: AbortSignal | null;
		readonly startMs: number;
		/** Resolves when the broker as a whole answers again. */
		healthy(over: AbortSignal): Promise<void>;
	},
): Promise<void> {
	if (stop?.aborted) throw new Error("the run is over");
	const { ready, ended } = await node.start();
	log.note(`started node ${node.number} again`, node.number);
	const over = new AbortController();
	const limit = sleep(startMs, "late" as const, {
		signal: AbortSignal.any([...(stop ? [stop] : []), over.signal]),
	}).catch(() => "stopped" as const);
	try {
		const step = await Promise.race([
			ready.then(() => healthy(over.signal)).then(() => "ready" as const),
			ended.then((how) => ({ how })),
			limit,
		]);
		if (step === "stopped") throw new Error("the run is over");
		if (step === "late")
			throw new Error(
				`node ${node.number} was started again and did not become ready in time`,
			);
		if (step !== "ready") {
			const words = log.lastWords();
			throw new Error(
				`node ${node.number} was started again and ended: ${step.how}${words ? `, last words: ${words}` : ""}`,
			);
		}
	} finally {
		over.abort();
	}
	log.note(`node ${node.number} is ready again`, node.number);
}

// --- internal ---

/** Waits for all of them, whatever becomes of the first. */
async function all(promises: readonly Promise<void>[]): Promise<void> {
	for (const settled of await Promise.allSettled(promises))
		if (settled.status === "rejected") throw settled.reason;
}
