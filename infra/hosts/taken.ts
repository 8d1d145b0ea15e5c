import { isIPv6 } from "node:net";
import type { Ask, BrokerProcess, Setup, Site } from "../../runner/brokers/process.ts";
import { failure } from "../../runner/errors.ts";

/** Fails with `host-port-taken` if somebody else listens on a port that a node needs. Brokers report that in obscure words. */
export async function checkPorts(
	{ ports }: Pick<BrokerProcess, "ports">,
	{
		system,
		nodes,
		ask,
	}: Pick<Setup, "system"> & {
		readonly ask: Ask;
		readonly nodes: readonly Pick<Site, "ip" | "hostname">[];
	},
): Promise<void> {
	const listens = ports(nodes.length);
	await Promise.all(
		nodes.map(async ({ ip, hostname }, i) => {
			// Without /proc we do not know; then the broker's log shows it.
			const { said } = await ask(i, ["cat", "/proc/net/tcp", "/proc/net/tcp6"]);
			const port = listens.find(({ number, from }) =>
				listening(said, from === "itself" ? "127.0.0.1" : ip).has(number),
			)?.number;
			if (port !== undefined)
				throw failure("host-port-taken", { system: system.key, port, host: hostname });
		}),
	);
}

/** Ports that are in use at an address, or at all addresses, from the kernel's tables of IPv4 and IPv6. */
export function listening(table: string, ip: string): Set<number> {
	const takes = isIPv6(ip)
		? [words(bytesOf6(ip)), ANY_6]
		: [words(bytesOf4(ip)), ANY_4, words(mapped(ip)), ANY_6];
	const ports = new Set<number>();
	for (const [, address = "", port = "", state] of table.matchAll(
		/^\s*\d+: ([0-9A-F]+):([0-9A-F]{4}) \S+ ([0-9A-F]{2}) /gm,
	))
		if (state === LISTENS && takes.includes(address)) ports.add(Number.parseInt(port, 16));
	return ports;
}

// --- internal ---

/** State of a listening socket in the kernel's table. */
const LISTENS = "0A";

/** All addresses; for IPv6 this includes those of IPv4. */
const ANY_4 = "0".repeat(8);
const ANY_6 = "0".repeat(32);

/** An address as the kernel writes it: words of 32 bits, each in little-endian order (on amd64 and arm64). */
function words(bytes: readonly number[]): string {
	let text = "";
	for (let at = 0; at < bytes.length; at += 4)
		for (const byte of bytes.slice(at, at + 4).reverse())
			text += byte.toString(16).padStart(2, "0");
	return text.toUpperCase();
}

function bytesOf4(ip: string): number[] {
	return ip.split(".").map(Number);
}

function mapped(ip: string): number[] {
	return [...Array(10).fill(0), 255, 255, ...bytesOf4(ip)];
}

function bytesOf6(ip: string): number[] {
	// URL writes every form in the same way, without dots.
	const plain = new URL(`http://[${ip}]`).hostname.slice(1, -1);
	const [head = [], tail = []] = plain.split("::").map((part) => part.split(":").filter(Boolean));
	const zeros = Array(8 - head.length - tail.length).fill("0");
	return [...head, ...zeros, ...tail].flatMap((group) => {
		const value = Number.parseInt(group, 16);
		return [value >> 8, value & 255];
	});
}
