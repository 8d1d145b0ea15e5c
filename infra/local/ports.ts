import { randomInt } from "node:crypto";
import { createServer, type Server } from "node:net";
import { failure, MqbenchError } from "../../runner/errors.ts";
import { reasonOf } from "../../runner/reason.ts";
import type { System } from "../../runner/scenario/scenario.ts";

/**
 * Ports on 127.0.0.1 that are free now, all different; the first one is the system's own, if it has one. Another program may take one
 * before the broker does; then the broker's log shows it.
 */
export async function freePorts(system: System, count: number): Promise<number[]> {
	const servers: Server[] = [];
	try {
		for (let i = 0; i < count; i++) servers.push(await hold(system, i === 0 ? system.port : null));
		return servers.map((server) => (server.address() as { port: number }).port);
	} finally {
		await Promise.all(servers.map((server) => new Promise((r) => server.close(r))));
	}
}

/** A port that was free a moment ago is taken: try others. */
export class FreePortTaken extends MqbenchError {
	constructor({ code, message, exit }: MqbenchError) {
		super(code, message, exit);
	}
}

/** Another program may take a port between choosing it and listening on it; then try others. */
export async function untilPortsAreFree<T>(attempt: () => Promise<T>): Promise<T> {
	for (let tries = 1; ; tries++)
		try {
			return await attempt();
		} catch (error) {
			if (!(error instanceof FreePortTaken) || tries === TRIES) throw error;
		}
}

// --- internal ---

const TRIES = 3;
const MOST_DRAWS = 100;

/**
 * Below the ports that Linux (from 32768) and others (from 49152) take for connections: one of those could be taken while the broker is down,
 * even by a client that tries to reach it, which then is connected to itself.
 */
const LOWEST = 20_000;
const HIGHEST = 32_767;

async function hold(system: System, port: number | null): Promise<Server> {
	for (let tries = 1; ; tries++)
		try {
			return await listen(port ?? randomInt(LOWEST, HIGHEST + 1));
		} catch (thrown) {
			const error = thrown as NodeJS.ErrnoException;
			// Taken, or kept by the system for others.
			if (port === null && tries < MOST_DRAWS) continue;
			if (port === null) throw error;
			if (error.code === "EADDRINUSE") throw failure("port-taken", { system: system.key, port });
			const reason = reasonOf(error);
			throw failure("port-refused", { system: system.key, port, reason });
		}
}

function listen(port: number): Promise<Server> {
	return new Promise((resolve, reject) => {
		const server = createServer();
		server.once("error", reject);
		server.listen(port, "127.0.0.1", () => resolve(server));
	});
}
