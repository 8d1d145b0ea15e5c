import { createServer, type Server } from "node:net";
import { failure, MqbenchError } from "../../runner/errors.ts";
import { reasonOf } from "../../runner/reason.ts";
import type { System } from "../../runner/scenario/scenario.ts";

/**
 * Ports on 127.0.0.1 that are free now, all different; the first one is the system's own, if it has one. Another program may take one before the
 * broker does; then the broker's log shows it.
 */
export async function freePorts(
	system: System,
	count: number,
): Promise<number[]> {
	const servers: Server[] = [];
	try {
		for (let i = 0; i < count; i++)
			servers.push(await hold(system, i === 0 ? system.port : null));
		return servers.map((server) => (server.address() as { port: number }).port);
	} finally {
		await Promise.all(
			servers.map((server) => new Promise((r) => server.close(r))),
		);
	}
}

/** A port that was free a moment ago is taken: try others. */
export class FreePortTaken extends MqbenchError {
	constructor({ code, message, exit }: MqbenchError) {
		super(code, message, exit);
	}
}

/** Another program may take a port between choosing it and listening on it; then try others. */
export async function untilPortsAreFree<T>(
	attempt: () => Promise<T>,
): Promise<T> {
	for (let tries = 1; ; tries++)
		try {
			return await attempt();
		} catch (error) {
			if (!(error instanceof FreePortTaken) || tries === TRIES) throw error;
		}
}

// --- internal ---

const TRIES = 3;

function hold(system: System, port: number | null): Promise<Server> {
	return new Promise((resolve, reject) => {
		const server = createServer();
		server.once("error", (error: NodeJS.ErrnoException) =>
			reject(
				port === null
					? error
					: error.code === "EADDRINUSE"
						? failure("port-taken", { system: system.key, port })
						: failure("port-refused", {
								system: system.key,
								port,
								reason: reasonOf(error),
							}),
			),
		);
		server.listen(port ?? 0, "127.0.0.1", () => resolve(server));
	});
}
