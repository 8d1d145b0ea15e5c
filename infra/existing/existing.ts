import { brokerOf } from "../../runner/brokers/index.ts";
import { failure } from "../../runner/errors.ts";
import type { RigFile } from "../../runner/scenario/rig-file.ts";
import { type Broker, type BrokerRequest, type Rig, untouchedBroker } from "../rig.ts";
import { askedOf, differences } from "../rig-asked.ts";
import { nodesHere, unreachable } from "./reach.ts";

/**
 * Target existing: a running broker of the user. mqbench only checks that it listens, and starts and stops nothing. If `fromHere` is false,
 * its clients are in a cluster, whose addresses mean nothing to this machine.
 */
export function existingRig(stop: AbortSignal, fromHere = true): Rig {
	return {
		clients: [],
		async open({ system }) {
			const { url, key } = system;
			if (url === null) return untouchedBroker();
			if (!fromHere) return { ...untouchedBroker(), url, sameHost: false };
			const ports = brokerOf(system).urls;
			const gone = await unreachable(url, ports, stop);
			if (gone !== null) throw failure("broker-unreachable", { system: key, ...gone });
			return { ...untouchedBroker(), url, ...nodesHere(url, ports) };
		},
		async teardown() {},
	};
}

/** Brokers that are started for one run each, on hosts of a rig. */
interface OnHosts {
	open(entry: RigFile["brokers"][number], request: BrokerRequest): Promise<Broker>;
	close(): Promise<void>;
}

/**
 * A rig that stays up. Either its brokers exist before this command and after it, and runs differ only by their topics; or its hosts do, and each
 * run gets a new broker on them.
 */
export function standingRig(rig: RigFile, stop: AbortSignal, onHosts: OnHosts): Rig {
	const { id } = rig;
	return {
		clients: [],
		async open(request) {
			const { key, url } = request.system;
			const entry = rig.brokers.find(({ system }) => system === key);
			if (entry && entry.hosts.length > 0) return onHosts.open(entry, request);
			// A system without a process does not need the rig.
			if (url === null || !entry) return untouchedBroker();
			const what = entry.asked === null ? [] : differences(entry.asked, askedOf(request));
			if (what.length > 0) throw failure("rig-differs", { system: key, id, what });
			const ports = brokerOf(request.system).urls;
			const gone = await unreachable(url, ports, stop);
			const remedy =
				REMEDY[rig.target] ?? "Start the broker there, or correct the url in the rig's file";
			if (gone !== null) throw failure("rig-unreachable", { system: key, id, ...gone, remedy });
			const { server, settings, topology, nodesShareHost } = entry;
			const here = nodesHere(url, ports);
			return {
				...untouchedBroker(),
				url,
				version: server,
				settings,
				topology,
				nodesShareHost,
				pids: here.pids,
				sameHost: entry.sameHost || here.sameHost,
			};
		},
		teardown: () => onHosts.close(),
	};
}

// --- internal ---

const REMEDY: Readonly<Partial<Record<RigFile["target"], string>>> = {
	local: "Is npx mqbench up still running? It stands a new one up",
	aws: "npx mqbench rigs list says whether it is still there",
};
