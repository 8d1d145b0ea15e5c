import { hasProcess } from "../../../runner/brokers/index.ts";
import { sizeFor } from "../../../runner/scenario/message-size.ts";
import { partitionsOf } from "../../../runner/scenario/partitions.ts";
import type { Case, Scenario, System } from "../../../runner/scenario/scenario.ts";
import { tell } from "../../../runner/text/tell.ts";
import { ratePerSecond } from "../../../runner/units.ts";
import type { MachineType } from "./machine-type.ts";

/** What a load sends through the busiest machine of a kind, 1e9 bit/s each way. Only payloads are counted, so the real traffic is larger. */
export interface Need {
	readonly inGbps: number;
	readonly outGbps: number;
}

/** What a case needs from the machines of one system. */
export interface CaseNeed {
	readonly system: string;
	readonly case: string;
	/** null: the load has no rate (closed, find) and takes what there is. */
	readonly broker: Need | null;
	readonly client: Need | null;
}

/** For each system and case of the scenario, at its highest rate; `clients` machines share the load. */
export function networkNeeds(
	{ systems, cases }: Pick<Scenario, "systems" | "cases">,
	clients: number,
): CaseNeed[] {
	const real = systems.filter(({ options }) => hasProcess(options));
	return real.flatMap((system) =>
		cases.map((one) => ({ system: system.key, case: one.name, ...needOf(system, one, clients) })),
	);
}

/** Warnings before such machines are rented: sentences with figures and what to do. Empty: the machines can always carry the load. */
export function networkWarnings(
	needs: readonly CaseNeed[],
	types: { readonly broker: MachineType | null; readonly client: MachineType },
): string[] {
	const kinds = [
		["brokers", types.broker, (need: CaseNeed) => need.broker],
		["clients", types.client, (need: CaseNeed) => need.client],
	] as const;
	return kinds.flatMap(([kind, type, trafficOf]) => {
		if (type === null) return [];
		const { baselineGbps, peakGbps } = type.network;
		const known = needs.flatMap((need) => {
			const traffic = trafficOf(need);
			return traffic === null ? [] : [{ ...need, gbps: Math.max(traffic.inGbps, traffic.outGbps) }];
		});
		const most = known.reduce<(typeof known)[number] | null>(
			(top, need) => (top === null || need.gbps > top.gbps ? need : top),
			null,
		);
		const burstable = type.burstable ? [tell("type-has-credit", { kind, type: type.name })] : [];
		const endless = needs.find((need) => trafficOf(need) === null);
		return [
			...burstable,
			...(baselineGbps === null
				? [
						tell("network-always-unknown", {
							kind,
							type: type.name,
							words: type.network.words || "unknown",
						}),
					]
				: [
						...(most !== null && most.gbps > baselineGbps
							? [tooMuch(kind, type, most, baselineGbps, peakGbps)]
							: []),
						...(endless && peakGbps !== null && peakGbps > baselineGbps
							? [
									tell("network-endless", {
										kind,
										case: endless.case,
										type: type.name,
										words: type.network.words,
										always: gbps(baselineGbps),
									}),
								]
							: []),
					]),
		];
	});
}

/** "1.88 Gbit/s". */
export function gbps(value: number): string {
	return `${Number(value.toPrecision(3))} Gbit/s`;
}

// --- internal ---

/** How often a payload goes from the clients to the brokers, and from the brokers to the clients. */
function crossings({ pattern, subscriptions }: Case): { toBrokers: number; toClients: number } {
	switch (pattern) {
		case "publish":
			return { toBrokers: 1, toClients: 0 };
		case "request-reply":
			// The request goes to its responder, the reply to its requester.
			return { toBrokers: 2, toClients: 2 };
		case "fan-out":
			return { toBrokers: 1, toClients: subscriptions };
		case "round-trip":
		case "work-queue":
		case "backlog":
			return { toBrokers: 1, toClients: 1 };
	}
}

function needOf(system: System, one: Case, clients: number): Pick<CaseNeed, "broker" | "client"> {
	const perSecond = highestRate(one);
	if (perSecond === null) return { broker: null, client: null };
	const { bytes = 0 } = sizeFor(one.message.size, system.traits) ?? {};
	const gbpsOnce = (perSecond * bytes * 8) / 1e9;
	const { toBrokers, toClients } = crossings(one);
	const { nodes = 1, replicas = 1 } = system.options;
	// A partition's leader takes its messages and sends them to those who read and to those who hold copies.
	const led = share(one.topics * partitionsOf(one, system), nodes);
	const copies = Math.min(replicas, nodes) - 1;
	// A node that leads no partition of a topic may hold copies of it. Each node gets its part of all copies.
	const replicasPerNode = nodes === 1 ? 0 : copies / (nodes - 1);
	const sent = gbpsOnce * toBrokers;
	return {
		broker: {
			inGbps: Math.max(
				sent * (led + replicasPerNode * (1 - led)),
				// If one node leads everything, the copies go to another node.
				sent * replicasPerNode,
			),
			outGbps: gbpsOnce * toClients * led + sent * led * copies,
		},
		client: {
			inGbps: gbpsOnce * toClients * share(receiversOf(one), clients),
			outGbps: sent * share(one.connections, clients),
		},
	};
}

/** Which part the machine with the most things gets, when a number of things is dealt out in turn. */
function share(things: number, machines: number): number {
	return Math.ceil(Math.max(things, 1) / machines) / Math.max(things, 1);
}

/** Connections with incoming messages. */
function receiversOf({ pattern, connections, consumerConnections }: Case) {
	return pattern === "round-trip" ? connections : consumerConnections;
}

/** Messages per second; null: not known. */
function highestRate({ schedule, find }: Case): number | null {
	return find !== null || schedule.rate === null ? null : ratePerSecond(schedule.rate);
}

function tooMuch(
	kind: string,
	type: MachineType,
	need: CaseNeed & { gbps: number },
	baselineGbps: number,
	peakGbps: number | null,
): string {
	const what = `${kind}: ${need.case} on ${need.system} puts at least ${gbps(need.gbps)} through one ${type.name} (${type.network.words})`;
	return peakGbps !== null && need.gbps > peakGbps
		? tell("network-never", { what, peak: gbps(peakGbps) })
		: tell("network-burst", { what, always: gbps(baselineGbps) });
}
