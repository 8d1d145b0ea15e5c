import { brokerOf } from "../../runner/brokers/index.ts";
import { failure, type MqbenchError } from "../../runner/errors.ts";
import type { RigFile } from "../../runner/scenario/rig-file.ts";
import type { System } from "../../runner/scenario/scenario.ts";
import { type Broker, type BrokerRequest, type Rig, rigOf, untouchedBroker } from "../rig.ts";
import { askedOf, differences } from "../rig-asked.ts";
import { nodesHere, type Unreachable, unreachable } from "./reach.ts";

/**
 * Target existing: a running broker of the user. mqbench only checks that it listens, and starts and stops nothing. If `fromHere` is false,
 * its clients are in a cluster, whose addresses mean nothing to this machine.
 */
export function existingRig(stop: AbortSignal, fromHere = true): Rig {
	return rigOf(async ({ system }: BrokerRequest) => {
		const { url, key } = system;
		if (url === null) return untouchedBroker();
		if (!fromHere) return { ...untouchedBroker(), url, sameHost: false };
		return await runningAt(url, system, stop, (gone) =>
			failure("broker-unreachable", { system: key, ...gone }),
		);
	});
}

/** Brokers on hosts, over ssh. All runs of a command share the connections, which end with it. */
export interface OnHosts {
	/**
	 * Brings up the broker of a rig's entry on its hosts, one node each, for one run, and returns when it is ready and healthy. After any failure,
	 * Ctrl-C included, nothing of it is left there, except for the copied programs.
	 */
	open(entry: RigFile["brokers"][number], request: BrokerRequest): Promise<Broker>;
	/** Ends everything still up and closes the connections. May be called more than once. */
	close(): Promise<void>;
}

/**
 * A rig that stays up. Either its brokers exist before this command and after it, and runs differ only by their topics; or its hosts do, and each
 * run gets a new broker on them.
 */
export function standingRig(rig: RigFile, stop: AbortSignal, onHosts: OnHosts): Rig {
	const { id } = rig;
	return {
		async open(request) {
			const { key, url } = request.system;
			const entry = rig.brokers.find(({ system }) => system === key);
			if (entry && entry.hosts.length > 0) return onHosts.open(entry, request);
			// A system without a process does not need the rig.
			if (url === null || !entry) return untouchedBroker();
			const what = entry.asked === null ? [] : differences(entry.asked, askedOf(request));
			if (what.length > 0) throw failure("rig-differs", { system: key, id, what });
			const remedy =
				REMEDY[rig.target] ?? "Start the broker there, or correct the url in the rig's file";
			const broker = await runningAt(url, request.system, stop, (gone) =>
				failure("rig-unreachable", { system: key, id, ...gone, remedy }),
			);
			const { server: version, settings, topology, nodesShareHost } = entry;
			const sameHost = entry.sameHost || broker.sameHost;
			return { ...broker, version, settings, topology, nodesShareHost, sameHost };
		},
		teardown: () => onHosts.close(),
	};
}

// --- internal ---

/** A broker that we did not start. Fails with `wrong` if nothing answers there. */
async function runningAt(
	url: string,
	system: System,
	stop: AbortSignal,
	wrong: (gone: Unreachable) => MqbenchError,
): Promise<Broker> {
	const ports = brokerOf(system).urls;
	const gone = await unreachable(url, ports, stop);
	if (gone !== null) throw wrong(gone);
	return { ...untouchedBroker(), url, ...nodesHere(url, ports) };
}

const REMEDY: Readonly<Partial<Record<RigFile["target"], string>>> = {
	local: "Is npx mqbench up still running? It stands a new one up",
	aws: "npx mqbench rigs list says whether it is still there",
};
