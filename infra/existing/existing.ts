import { connect } from "node:net";
import { failure } from "../../runner/errors.ts";
import { brokerOf } from "../../runner/scenario/brokers.ts";
import { none } from "../local/local.ts";
import type { Rig } from "../rig.ts";
import { type Address, addresses } from "./addresses.ts";

const CONNECT_MS = 5_000;

/**
 * Target existing: somebody else's broker. It is only asked whether it listens; nothing is started or stopped. Of a cluster one
 * node that answers is enough: which others are down is the driver's to find out.
 */
export function existingRig(stop: AbortSignal): Rig {
	return {
		clients: [{ kind: "local", index: 0 }],
		async open({ system }) {
			if (system.url === null) return none();
			const all = addresses(system.url, brokerOf(system).defaultPort);
			const reasons = await Promise.all(all.map((one) => refusal(one, stop)));
			if (stop.aborted)
				throw failure("interrupted", { signal: String(stop.reason) });
			if (!reasons.includes(null))
				throw failure("broker-unreachable", {
					system: system.key,
					where: all.map(({ host, port }) => `${host}:${port}`).join(", "),
					reason: [...new Set(reasons)].join("; "),
				});
			return {
				...none(),
				url: system.url,
				sameHost: all.some(({ host }) => isLoopback(host)),
			};
		},
		async teardown() {},
	};
}

// --- internal ---

/** Why nothing answers there; null: something does. A sentence now is better than a client library's words in a minute. */
function refusal(
	{ host, port }: Address,
	signal: AbortSignal,
): Promise<string | null> {
	return new Promise((resolve) => {
		const socket = connect({ host, port, timeout: CONNECT_MS, signal });
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
	ENOTFOUND: "no such host",
	EHOSTUNREACH: "host unreachable",
	ETIMEDOUT: "timed out",
};

function isLoopback(host: string): boolean {
	return host === "localhost" || host === "::1" || /^127\./.test(host);
}
