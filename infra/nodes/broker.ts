import { mkdir } from "node:fs/promises";
import path from "node:path";
import { hideSecrets } from "../../runner/brokers/index.ts";
import type { Described, NodeDescription } from "../../runner/brokers/process.ts";
import { once } from "../../runner/once.ts";
import type { World } from "../../runner/world.ts";
import { type Broker, type BrokerRequest, NEVER } from "../rig.ts";
import { settled } from "../settled.ts";
import { bringUp } from "./bring-up.ts";
import { type BrokerLog, openBrokerLog } from "./broker-log.ts";
import { disturber } from "./disturb.ts";
import { BrokerNode } from "./node.ts";
import type { Place } from "./place.ts";

export interface OpenBroker {
	readonly facts: Omit<Described, "data" | "flushes" | "settings" | "stopMs">;
	/** The places of its nodes, in order. */
	readonly places: readonly Place[];
	readonly request: BrokerRequest;
	readonly world: Pick<World, "stop" | "clock">;
	/** Parts that only the target can provide. */
	readonly about: Pick<Broker, "binary" | "sameHost" | "topology" | "settings"> &
		Partial<Pick<Broker, "identities" | "hosts" | "notes">>;
	/** Removes everything that the target has made for the broker, when its nodes are gone. */
	remove(): Promise<void>;
	/** Turns an error into the one for people. */
	explain?(error: unknown, log: BrokerLog): unknown;
}

/**
 * Brings up a broker at its places, and returns when it is ready and healthy. After any failure, Ctrl-C included, and after `close`, nothing of it
 * is left.
 */
export async function openBroker({
	facts,
	places,
	request,
	world,
	about,
	remove,
	explain = (error) => error,
}: OpenBroker): Promise<Broker> {
	await mkdir(path.dirname(request.logPath), { recursive: true });
	const count = places.length;
	const { secrets = [] } = request.system.options;
	const log = openBrokerLog(request.logPath, count, () => world.clock.nowMs(), secrets);
	const nodes = places.map(
		(place, i) =>
			new BrokerNode({
				number: i + 1,
				place,
				command: facts.nodes[i] as NodeDescription,
				hear: (line) => log.write(line, i + 1),
				ready: (line) => facts.ready(line, i),
				answers: facts.answers,
			}),
	);
	const closing = new AbortController();
	const close = once(async () => {
		closing.abort();
		await Promise.all(nodes.map((node) => node.close()));
		await remove();
		await log.close();
	});
	try {
		await settled(nodes.map((node) => node.place.prepare(node.command)));
		const { startMs } = facts;
		await bringUp(nodes, { health: facts, log, startMs, stop: world.stop }, request);
	} catch (error) {
		await close();
		throw explain(error, log);
	}
	const stop = AbortSignal.any([world.stop, closing.signal]);
	let left = count;
	for (const { died } of nodes)
		void died.then(({ lost }) => {
			// One that cannot be seen any more may run.
			if (!lost) left--;
		});
	return {
		url: facts.url(),
		version: facts.version(),
		...(facts.metrics && { metrics: facts.metrics }),
		...about,
		settings: hideSecrets(about.settings, secrets),
		// On separate hosts each node has one for itself.
		nodesShareHost: about.sameHost && count > 1,
		get gone() {
			return left === 0;
		},
		get pids() {
			return nodes.flatMap(({ pids }) => pids);
		},
		nodeOf(name) {
			const number = Number(/\d+$/.exec(name)?.[0]);
			return nodes[number - 1]?.number ?? null;
		},
		disturb: disturber(nodes, { log, health: facts, startMs: facts.startMs, stop }),
		died: Promise.race(
			nodes.map(async ({ died, number, place: { host } }) => {
				const { how, lost } = await died;
				if (closing.signal.aborted) return NEVER;
				const who = count === 1 ? "the broker" : `node ${number} of ${count}`;
				return lost
					? `${who}: ${how}`
					: `${who}${host === null ? "" : ` on ${host}`} ended by itself (${how})`;
			}),
		),
		close,
	};
}
