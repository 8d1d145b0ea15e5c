import { connect } from "node:net";
import { failure } from "../../runner/errors.ts";
import { none } from "../local/local.ts";
import type { Rig } from "../rig.ts";

const CONNECT_MS = 5_000;

/** Target existing: somebody else's broker. It is only asked whether it listens; nothing is started or stopped. */
export function existingRig(stop: AbortSignal): Rig {
	return {
		clients: [{ kind: "local", index: 0 }],
		async open(system) {
			if (system.url === null) return none();
			const url = new URL(system.url);
			await listens(system.key, url, stop);
			return { ...none(), url: system.url, sameHost: isLoopback(url.hostname) };
		},
		async teardown() {},
	};
}

// --- internal ---

const DEFAULT_PORTS: Readonly<Record<string, number>> = {
	"nats:": 4222,
	"tls:": 4222,
	"ws:": 80,
	"wss:": 443,
};

/** A sentence now is better than a client library's words in a minute. */
function listens(system: string, url: URL, stop: AbortSignal): Promise<void> {
	const host = url.hostname.replace(/^\[|\]$/g, "");
	const port = Number(url.port) || DEFAULT_PORTS[url.protocol] || 4222;
	return new Promise((resolve, reject) => {
		const socket = connect({ host, port, timeout: CONNECT_MS, signal: stop });
		const fail = (reason: string) => {
			socket.destroy();
			reject(
				stop.aborted
					? failure("interrupted", { signal: String(stop.reason) })
					: failure("broker-unreachable", {
							system,
							where: `${host}:${port}`,
							reason,
						}),
			);
		};
		socket.once("connect", () => {
			socket.destroy();
			resolve();
		});
		socket.once("timeout", () => fail(`no answer in ${CONNECT_MS / 1000}s`));
		socket.once("error", (error: NodeJS.ErrnoException) =>
			fail(REASONS[error.code ?? ""] ?? error.message),
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
	return host === "localhost" || host === "[::1]" || /^127\./.test(host);
}
