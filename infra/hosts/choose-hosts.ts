import { hostPort } from "../../runner/brokers/addresses.ts";
import type { BrokerProcess } from "../../runner/brokers/process.ts";
import { failure } from "../../runner/errors.ts";
import type { RigFile } from "../../runner/scenario/rig-file.ts";
import { missingCpus } from "../local/pinned.ts";
import type { BrokerRequest } from "../rig.ts";
import type { SshHost } from "../ssh/host.ts";
import type { NodeMachine } from "./sites.ts";

/** The hosts for the nodes, with their names in rig.json and where their nodes listen. Fails if there are too few. */
export function chooseHosts(
	{ hosts }: RigFile["brokers"][number],
	{ system, faults = [] }: BrokerRequest,
) {
	const count = system.options.nodes ?? 1;
	if (hosts.length < count)
		throw failure("broker-missing", {
			system: system.key,
			what: `${count} nodes need as many hosts, and the rig has ${hosts.length === 1 ? "one" : hosts.length}`,
			remedy: "Add hosts to the rig's file, or ask for fewer nodes",
		});
	const cannot = faults.find((action) => action === "partition" || action === "latency");
	if (cannot)
		throw failure("fault-impossible", {
			system: system.key,
			action: cannot,
			reason: "mqbench has no network of its own between these hosts",
		});
	return hosts.slice(0, count).map(({ address, ...more }) => {
		const { host, user = null, port = null, identity = null, knownHosts = null } = more;
		const ssh: SshHost = { ...more, user, port, identity, knownHosts, broker: system.key };
		return { address, hostname: host, ssh };
	});
}

/** Finds mistakes that nothing else reports: nodes that share a machine, a port that is taken, missing CPUs. Fails with a sentence. */
export async function checkHosts(
	{ system, cpus }: BrokerRequest,
	{ ports }: Pick<BrokerProcess, "ports">,
	machines: readonly NodeMachine[],
): Promise<void> {
	for (const [i, { host }] of machines.entries()) {
		const { name, facts } = host;
		const twin = machines
			.slice(0, i)
			.find((one) => facts.identity !== null && one.host.facts.identity === facts.identity);
		if (twin)
			throw failure("broker-missing", {
				system: system.key,
				what: `two of its nodes would be on one host, which is reached as ${twin.host.name} and as ${name}, and each needs one of its own`,
				remedy: "Name another host in the rig's file, or ask for fewer nodes",
			});
		const missing = cpus === null || facts.cpus === "" ? null : missingCpus(cpus, facts.cpus);
		if (cpus !== null && missing !== null)
			throw failure("pin-impossible", {
				cpus,
				reason: `${name} has the CPUs ${facts.cpus}, and ${missing}`,
			});
	}
	await Promise.all(
		machines.map(async ({ address, hostname, host: { link, agent } }) => {
			const at = ports(machines.length).map(({ number, from }) =>
				hostPort(from === "itself" ? "127.0.0.1" : address, number),
			);
			const { values } = await link.run(TAKEN, [agent, ...at]);
			const port = /\d+$/.exec(values.taken ?? "")?.[0];
			if (port) throw failure("host-port-taken", { system: system.key, port, host: hostname });
		}),
	);
}

// --- internal ---

/** $1 agent, then addresses of nodes: a program that accepts a connection there is not ours. */
const TAKEN =
	'a=$1; shift; for at; do "$a" ping "$at" >/dev/null 2>&1 </dev/null && echo "mqbench:taken=$at" && break; done; true';
