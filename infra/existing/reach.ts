import { connect } from "node:net";
import { type Address, addresses, hostPort, type Ports } from "../../runner/brokers/addresses.ts";
import { isLoopback } from "../../runner/scenario/rig-file.ts";
import { orInterrupted } from "../../runner/stop.ts";
import type { Broker } from "../rig.ts";
import { listenersAt } from "./listeners.ts";

const CONNECT_MS = 5_000;

/** A broker that does not answer: where, and why. */
export interface Unreachable {
	/** "10.0.0.5:4222, 10.0.0.6:4222": never the URL, which may hold a password. */
	readonly where: string;
	readonly reason: string;
}

/**
 * Checks whether the nodes in a URL listen; null if one does. For a cluster that is enough, since the driver finds out which others are
 * down. A sentence now is better than a client library's error in a minute.
 */
export async function unreachable(
	url: string,
	ports: Ports,
	stop: AbortSignal,
): Promise<Unreachable | null> {
	const all = addresses(url, ports);
	const reasons = await Promise.all(all.map((one) => refusal(one, stop)));
	orInterrupted(stop);
	return reasons.includes(null)
		? null
		: {
				where: all.map(({ host, port, path }) => path ?? hostPort(host, port)).join(", "),
				reason: [...new Set(reasons)].join("; "),
			};
}

/** Whether one of the nodes is on this machine; and, as far as they can be found, the processes of those that are. */
export function nodesHere(url: string, ports: Ports): Pick<Broker, "sameHost" | "pids"> {
	const here = addresses(url, ports).filter(({ host }) => isLoopback(host));
	return {
		sameHost: here.length > 0,
		pids: [...new Set(here.flatMap(({ port }) => listenersAt(port)))],
	};
}

// --- internal ---

/** Why nothing answers there; null if something does. */
function refusal({ host, port, path }: Address, signal: AbortSignal): Promise<string | null> {
	return new Promise((resolve) => {
		const to = path === undefined ? { host, port } : { path };
		const socket = connect({ ...to, timeout: CONNECT_MS, signal });
		const end = (reason: string | null) => {
			socket.destroy();
			resolve(reason);
		};
		socket.once("connect", () => end(null));
		socket.once("timeout", () => end(`no answer in ${CONNECT_MS / 1000}s`));
		socket.once("error", (error: NodeJS.ErrnoException) =>
			end(REASONS[error.code ?? ""] ?? error.message),
		);
	});
}

const REASONS: Readonly<Record<string, string>> = {
	ECONNREFUSED: "connection refused",
	ENOENT: "no such file",
	ENOTFOUND: "no such host",
	EHOSTUNREACH: "host unreachable",
	ETIMEDOUT: "timed out",
};
