import { setTimeout as sleep } from "node:timers/promises";
import { describeEnd, type Ended } from "../process.ts";
import type { Broker, Disturbance } from "../rig.ts";
import type { BrokerLog } from "./broker-log.ts";
import type { LocalNode } from "./node.ts";

/**
 * What may be done to the nodes of a broker on this machine. Its data, ports and log stay as they are, so that a node that is started
 * again is the one that went.
 */
export function disturber(
	nodes: readonly LocalNode[],
	log: BrokerLog,
	/** How long a node may take to come up again; `stop`: nothing is started any more. */
	limits: { readonly startMs: number; readonly stop: AbortSignal },
): Broker["disturb"] {
	const again = async (node: LocalNode) => {
		if (limits.stop.aborted) throw new Error(ENDING);
		const { ready, ended } = node.start();
		log.note(`started node ${node.number} again`, node.number);
		const over = new AbortController();
		const late = sleep(limits.startMs, "late" as const, {
			signal: AbortSignal.any([limits.stop, over.signal]),
		}).catch(() => "stopped" as const);
		const step = await Promise.race([
			ready.then(() => "ready" as const),
			ended,
			late,
		]);
		over.abort();
		if (step === "stopped") throw new Error(ENDING);
		if (step !== "ready") throw new Error(failed(node.number, step, log));
		log.note(`node ${node.number} is ready again`, node.number);
	};
	const actions: Readonly<
		Record<string, (some: readonly LocalNode[]) => Back>
	> = {
		async pause(some) {
			const resumes = some.map((node) => {
				const resume = node.freeze();
				log.note(`paused node ${node.number} (SIGSTOP)`, node.number);
				return () => {
					resume();
					log.note(`node ${node.number} goes on (SIGCONT)`, node.number);
				};
			});
			return async () => {
				for (const resume of resumes) resume();
			};
		},
		async kill(some) {
			const gone = some.map((node) => {
				const ended = node.kill();
				log.note(`killed node ${node.number} (SIGKILL)`, node.number);
				return { node, ended };
			});
			return async () => {
				await all(
					gone.map(async ({ node, ended }) => {
						await ended;
						await again(node);
					}),
				);
			};
		},
		async restart(some) {
			await all(
				some.map(async (node) => {
					const ended = node.end();
					log.note(`asked node ${node.number} to end (SIGTERM)`, node.number);
					await ended;
					log.note(`node ${node.number} has ended`, node.number);
				}),
			);
			return () => all(some.map(again));
		},
	};
	return async ({ action, node }: Disturbance) => {
		const act = actions[action];
		if (!act)
			throw new Error(
				`${action} is for target docker: mqbench has no network of its own here`,
			);
		const some = nodes.filter(({ number }) => node === null || node === number);
		if (some.length === 0) throw new Error(`there is no node ${node}`);
		return act(some);
	};
}

// --- internal ---

type Back = Promise<() => Promise<void>>;

const ENDING = "the run is over";

/** Waits for all of them, whatever becomes of the first. */
async function all(promises: readonly Promise<void>[]): Promise<void> {
	for (const settled of await Promise.allSettled(promises))
		if (settled.status === "rejected") throw settled.reason;
}

function failed(number: number, step: Ended | "late", log: BrokerLog): string {
	if (step === "late")
		return `node ${number} was started again and did not become ready in time`;
	const words = log.lastWords();
	return `node ${number} was started again and ended: ${describeEnd(step)}${words ? `, last words: ${words}` : ""}`;
}
