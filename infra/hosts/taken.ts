import { failure } from "../../runner/errors.ts";
import type { HostBroker, HostSetup } from "./host-broker.ts";

/** Fails with `host-port-taken` where somebody else listens on a port that a node needs: brokers word that in ways that few understand. */
export async function checkPorts(
	{ ports, packages }: Pick<HostBroker, "ports" | "packages">,
	{ system, nodes, ask }: Pick<HostSetup, "system" | "nodes" | "ask">,
): Promise<void> {
	await Promise.all(
		nodes.map(async ({ ip, hostname }, i) => {
			// Where there is no /proc nobody knows: then the broker's log says it.
			const { said } = await ask(i, ["cat", "/proc/net/tcp", "/proc/net/tcp6"]);
			const taken = listening(said, ip);
			const port = ports.find((one) => taken.has(one));
			if (port !== undefined)
				throw failure("host-port-taken", {
					system: system.key,
					port,
					host: hostname,
					service: packages.find((name) => name.endsWith("-server")) ?? null,
				});
		}),
	);
}

// --- internal ---

/** State of a socket that listens, in the kernel's table. */
const LISTENS = "0A";

/** Ports on which somebody listens at an address (of IPv4), or at all addresses. */
function listening(table: string, ip: string): Set<number> {
	const own = ip
		.split(".")
		.reverse()
		.map((byte) => Number(byte).toString(16).padStart(2, "0"))
		.join("")
		.toUpperCase();
	const found = new Set<number>();
	for (const [, address = "", port = "", state] of table.matchAll(
		/^\s*\d+: ([0-9A-F]+):([0-9A-F]{4}) \S+ ([0-9A-F]{2}) /gm,
	))
		if (state === LISTENS && (/^0+$/.test(address) || address.endsWith(own)))
			found.add(Number.parseInt(port, 16));
	return found;
}
