import { failure } from "../../runner/errors.ts";
import type { RigFile } from "../../runner/scenario/rig-file.ts";
import { isLoopback } from "../../runner/scenario/rig-file.ts";
import { missingCpus } from "../local/pinned.ts";
import { unfit } from "../remote/trouble.ts";
import type { BrokerRequest } from "../rig.ts";
import { type SshHost, sshName } from "../ssh/host.ts";
import { type BrokerHost, plainAddress } from "./host.ts";

/** A host of the entry, and the port of its node. */
export interface ChosenHost {
	readonly ssh: SshHost;
	/** For people, as in rig.json. */
	readonly host: string;
	readonly address: string;
}

/** The hosts for the nodes. Fails if there are too few, or one is listed twice. */
export function chooseHosts(
	entry: RigFile["brokers"][number],
	{ system, faults = [] }: BrokerRequest,
): ChosenHost[] {
	const count = system.options.nodes ?? 1;
	const { hosts } = entry;
	const chosen = hosts.slice(0, count).map((host) => ({
		address: host.address,
		host: host.host,
		ssh: {
			host: host.host,
			user: host.user ?? null,
			port: host.port ?? null,
			identity: host.identity ?? null,
			knownHosts: host.knownHosts ?? null,
			hostKeyKnown: host.hostKeyKnown,
			setUp: host.setUp,
			bootMinutes: host.bootMinutes,
			broker: system.key,
		},
	}));
	const wrong = (reason: string, remedy: string) =>
		failure("broker-missing", { system: system.key, what: reason, remedy });
	if (chosen.length < count)
		throw wrong(
			`${count} nodes need as many hosts, and the rig has ${hosts.length === 1 ? "one" : hosts.length}`,
			"Add hosts to the rig's file, or ask for fewer nodes",
		);
	for (const [i, host] of chosen.entries()) {
		const twin = chosen
			.slice(0, i)
			.find(
				({ ssh, address }) =>
					address === host.address ||
					(ssh.host === host.ssh.host && (ssh.port ?? 22) === (host.ssh.port ?? 22)),
			);
		if (twin)
			throw wrong(
				`two of its nodes would be on one host (${sshName(host.ssh)}, ${host.address}), and each needs one of its own`,
				"Name another host in the rig's file, or ask for fewer nodes",
			);
	}
	const cannot = faults.find((action) => action === "partition" || action === "latency");
	if (cannot)
		throw failure("fault-impossible", {
			system: system.key,
			action: cannot,
			reason: "mqbench has no network of its own between these hosts",
		});
	return chosen;
}

/** Checks whether these hosts can run that broker's nodes. Fails with a sentence if not. */
export function checkHosts(
	request: BrokerRequest,
	chosen: readonly ChosenHost[],
	hosts: readonly BrokerHost[],
): void {
	checkAlike(request, hosts);
	checkApart(request, hosts);
	checkAddresses(chosen, hosts);
	checkPin(request, hosts);
}

// --- internal ---

/** One machine under two names would run two nodes, and no figure would show it. */
function checkApart({ system }: BrokerRequest, hosts: readonly BrokerHost[]): void {
	for (const [i, host] of hosts.entries()) {
		const { identity } = host.facts;
		if (identity === null) continue;
		const twin = hosts.slice(0, i).find(({ facts }) => facts.identity === identity);
		if (twin)
			throw failure("broker-missing", {
				system: system.key,
				what: `two of its nodes would be on one host, which is reached as ${twin.name} and as ${host.name}, and each needs one of its own`,
				remedy: "Name another host in the rig's file, or ask for fewer nodes",
			});
	}
}

/** A node listens only at its host's address. */
function checkAddresses(chosen: readonly ChosenHost[], hosts: readonly BrokerHost[]): void {
	for (const [i, { remote, facts }] of hosts.entries()) {
		const address = chosen[i]?.address ?? "";
		const { addresses } = facts;
		if (addresses === null || addresses.includes(plainAddress(address))) continue;
		const others = addresses.filter((one) => !isLoopback(one));
		throw unfit(
			remote,
			`it has no address ${address}, where its node has to listen (it has ${others.length === 0 ? "none but its loopback" : others.join(", ")})`,
			"Correct brokers[].hosts[].address in the rig's file",
		);
	}
}

/** The copied programs are for one system and processor. */
function checkAlike({ system }: BrokerRequest, hosts: readonly BrokerHost[]): void {
	const [first] = hosts;
	const other = hosts.find(({ facts }) => facts.platform !== first?.facts.platform);
	if (first && other)
		throw failure("broker-missing", {
			system: system.key,
			what: `its hosts are not alike: ${first.name} is ${first.facts.platform}, and ${other.name} is ${other.facts.platform}`,
			remedy: "Name hosts of one kind",
		});
}

/** The hosts' CPUs, and whether a program can choose them. */
function checkPin({ cpus }: BrokerRequest, hosts: readonly BrokerHost[]): void {
	if (cpus === null) return;
	for (const { name, facts } of hosts) {
		if (facts.taskset === "")
			throw failure("pin-impossible", {
				cpus,
				reason: `taskset is not on PATH of ${name} (package util-linux of its distribution)`,
			});
		const missing = missingCpus(cpus, facts.cpus);
		if (missing !== null)
			throw failure("pin-impossible", {
				cpus,
				reason: `${name} has the CPUs ${facts.cpus}, and ${missing}`,
			});
	}
}
