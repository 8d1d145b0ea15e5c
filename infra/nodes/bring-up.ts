import { setTimeout as sleep } from "node:timers/promises";
import type { Described } from "../../runner/brokers/process.ts";
import { failure } from "../../runner/errors.ts";
import { interrupted } from "../../runner/stop.ts";
import type { BrokerRequest } from "../rig.ts";
import type { BrokerLog } from "./broker-log.ts";
import type { BrokerNode } from "./node.ts";
import { crowdedHere, patience } from "./patience.ts";

export interface ComingUp {
	/** How to ask whether the broker as a whole works; if absent, it works when all of its nodes are ready. */
	readonly health: Pick<Described, "healthy">;
	readonly log: BrokerLog;
	/** The time limit for all of it. */
	readonly startMs: number;
	readonly stop: AbortSignal;
	/** Called when the nodes' processes are there. */
	started?(): void;
}

/** How nodes came up: not before the stop, too late (whether they were ready), or one has ended. */
export type Outcome =
	| "up"
	| "stopped"
	| { readonly limitMs: number; readonly ready: boolean }
	| { readonly node: BrokerNode; readonly how: string };

/** Starts nodes, and returns when each is ready and the broker is healthy, or will not be. `first`: runs their preparations before. */
export async function untilUp(
	nodes: readonly BrokerNode[],
	{ health, log, startMs, stop, started = () => {} }: ComingUp,
	first = false,
): Promise<Outcome> {
	const over = new AbortController();
	let ready = false;
	const limit = patience(
		startMs,
		AbortSignal.any([stop, over.signal]),
		nodes.some(({ place: { host } }) => host === null) ? crowdedHere : () => 1,
	).then(
		(limitMs): Outcome => ({ limitMs, ready }),
		(): Outcome => "stopped",
	);
	try {
		if (first) {
			const before = Promise.all(
				nodes.map(async (node) => ({ node, how: await runBefore(node, log, over.signal) })),
			);
			const done = await Promise.race([before, limit]);
			if (!Array.isArray(done)) return done;
			for (const { node, how } of done) if (how !== null) return { node, how };
		}
		const starts = await Promise.all(
			nodes.map(async (node) => ({ node, ...(await node.start()) })),
		);
		started();
		const up = async (): Promise<Outcome> => {
			await Promise.all(starts.map((one) => one.ready));
			ready = true;
			// A failed question counts as no.
			while (health.healthy && !(await health.healthy().catch(() => false))) {
				if (over.signal.aborted) break;
				await sleep(HEALTH_MS);
			}
			return "up";
		};
		const ends = starts.map(async ({ node, ended }) => ({ node, how: (await ended).how }));
		return await Promise.race([up(), limit, ...ends]);
	} finally {
		over.abort();
	}
}

/** Brings a broker's nodes up. Fails with a sentence. */
export async function bringUp(
	nodes: readonly BrokerNode[],
	coming: ComingUp,
	{ system, logPath }: Pick<BrokerRequest, "system" | "logPath">,
): Promise<void> {
	const { log, startMs, stop } = coming;
	const outcome = await untilUp(nodes, coming, true);
	if (outcome === "up") return;
	if (outcome === "stopped") throw interrupted(stop);
	let reason: string;
	if ("limitMs" in outcome) {
		const { limitMs, ready } = outcome;
		const seconds = Number((limitMs / 1000).toFixed(1));
		const busy =
			limitMs === startMs
				? ""
				: `, more than the ${startMs / 1000}s that it gets on an idle machine: other programs use this one (npx mqbench doctor)`;
		reason = `it ${ready ? "was ready and took no connections" : "did not become ready"} within ${seconds}s${busy}`;
	} else {
		const { number, place } = outcome.node;
		const where = place.host === null ? "" : ` (${place.host})`;
		reason = `${nodes.length === 1 ? "" : `node ${number} of ${nodes.length}${where}: `}${outcome.how}`;
	}
	const words = log.lastWords();
	throw failure("broker-start", {
		system: system.key,
		reason: `${reason}${words && `, last words: ${words}`}`,
		log: logPath,
	});
}

// --- internal ---

const HEALTH_MS = 100;

/** Which command failed, and how; null if none failed. */
async function runBefore(
	{ place, command, number }: BrokerNode,
	log: BrokerLog,
	over: AbortSignal,
): Promise<string | null> {
	if (!place.run) return null;
	const { before = [], env = {} } = command;
	for (const argv of before) {
		// Start nothing more.
		if (over.aborted) return null;
		const { ended } = await place.run({ argv, env }, (line) => log.write(line, number));
		const { how, well } = await ended;
		if (!well) return `${argv[0]}: ${how}`;
	}
	return null;
}
