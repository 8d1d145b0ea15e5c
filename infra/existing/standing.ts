import { brokerOf } from "../../runner/brokers/index.ts";
import { failure } from "../../runner/errors.ts";
import type { RigFile } from "../../runner/scenario/rig-file.ts";
import type { Broker, BrokerRequest, Rig } from "../rig.ts";
import { untouchedBroker } from "../rig.ts";
import { askedOf, differences } from "../rig-asked.ts";
import { nodesHere, unreachable } from "./reach.ts";

/** Starts the broker of a rig's entry on its hosts, for one run. */
type Open = (entry: RigFile["brokers"][number], request: BrokerRequest) => Promise<Broker>;

/**
 * A rig that stays up. Either its brokers exist before this command and after it, and runs differ only by their topics; or its hosts do, and each
 * run gets a new broker on them.
 */
export function standingRig(
	rig: RigFile,
	stop: AbortSignal,
	/** Brokers that are started anew for every run, on hosts of the rig. */
	onHosts: { open: Open; close(): Promise<void> } = NO_HOSTS,
): Rig {
	return {
		clients: [],
		async open(request) {
			const { system } = request;
			const entry = rig.brokers.find(({ system: key }) => key === system.key);
			if (entry && entry.hosts.length > 0) return onHosts.open(entry, request);
			// A system without a process does not need the rig.
			if (system.url === null || !entry) return untouchedBroker();
			const what = entry.asked === null ? [] : differences(entry.asked, askedOf(request));
			if (what.length > 0) throw failure("rig-differs", { system: system.key, id: rig.id, what });
			const ports = brokerOf(system).urls;
			const gone = await unreachable(system.url, ports, stop);
			if (gone !== null)
				throw failure("rig-unreachable", {
					system: system.key,
					id: rig.id,
					...gone,
					remedy:
						REMEDY[rig.target] ?? "Start the broker there, or correct the url in the rig's file",
				});
			const { server, settings, topology, nodesShareHost } = entry;
			const here = nodesHere(system.url, ports);
			return {
				...untouchedBroker(),
				url: system.url,
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

const NO_HOSTS = {
	async open() {
		throw new Error("this rig must not have brokers on hosts");
	},
	async close() {},
};

const REMEDY: Readonly<Partial<Record<RigFile["target"], string>>> = {
	local: "Is mqbench up still running? It stands a new one up",
	aws: "mqbench rigs list says whether it is still there",
};
