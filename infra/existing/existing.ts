import { brokerOf } from "../../runner/brokers/index.ts";
import { failure } from "../../runner/errors.ts";
import type { Rig } from "../rig.ts";
import { untouchedBroker } from "../rig.ts";
import { nodesHere, unreachable } from "./reach.ts";

/**
 * Target existing: somebody else's broker. mqbench only checks that it listens, and starts and stops nothing. `fromHere` false: its clients are in
 * a cluster, whose addresses mean nothing to this machine.
 */
export function existingRig(stop: AbortSignal, fromHere = true): Rig {
	return {
		clients: [],
		async open({ system }) {
			if (system.url === null) return untouchedBroker();
			if (!fromHere) return { ...untouchedBroker(), url: system.url, sameHost: false };
			const ports = brokerOf(system).urls;
			const gone = await unreachable(system.url, ports, stop);
			if (gone !== null) throw failure("broker-unreachable", { system: system.key, ...gone });
			return { ...untouchedBroker(), url: system.url, ...nodesHere(system.url, ports) };
		},
		async teardown() {},
	};
}
