import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { treeOf } from "../pid.ts";
import { readOr } from "../read-or.ts";

/**
 * Processes of this machine that listen at a port, children left out. None where /proc does not show a socket's process (another user's,
 * another system), or where a forwarder listens, because it hides the broker behind it.
 */
export function listenersAt(port: number): number[] {
	const sockets = new Set([...inodes("tcp", port), ...inodes("tcp6", port)]);
	const pids = list("/proc")
		.filter((name) => /^\d+$/.test(name))
		.filter((pid) => linksOf(pid).some((to) => sockets.has(to)))
		.map(Number);
	if (pids.some((pid) => FORWARDERS.test(read(`/proc/${pid}/comm`)))) return [];
	return pids.filter((pid) => !pids.some((top) => top !== pid && treeOf(top).includes(pid)));
}

// --- internal ---

/** They hand connections on to a container, a pod or another host. */
const FORWARDERS =
	/^(docker-proxy|rootlessport|slirp4netns|pasta|ssh|socat|kubectl|haproxy|envoy|nginx)/;

/** proc(5): local address:port is field 2, the state 4 (0A: it listens), the inode 10. */
function inodes(table: "tcp" | "tcp6", port: number): string[] {
	const hex = port.toString(16).toUpperCase().padStart(4, "0");
	return read(`/proc/net/${table}`)
		.split("\n")
		.map((line) => line.trim().split(/\s+/))
		.filter(([, at, , state]) => at?.endsWith(`:${hex}`) && state === "0A")
		.map((fields) => `socket:[${fields[9]}]`);
}

/** The targets of a process's open files. */
function linksOf(pid: string): string[] {
	const folder = `/proc/${pid}/fd`;
	return list(folder).map((fd) => readOr("", () => readlinkSync(`${folder}/${fd}`)));
}

const list = (folder: string) => readOr<string[]>([], () => readdirSync(folder));
const read = (file: string) => readOr("", () => readFileSync(file, "utf8"));
