import { createServer, type Socket } from "node:net";
import type { Link } from "../machines/link.ts";

/** A tunnel from this machine to an address that a host can reach, through the connection to the host. */
export interface Tunnel {
	/** "127.0.0.1:40123". */
	readonly address: string;
	close(): Promise<void>;
}

/**
 * Opens a tunnel. `target` is "10.0.0.5:8222" as the host reaches it, `agent` the program's path there. It does not need ssh's port
 * forwarding, which many servers forbid.
 */
export async function openTunnel(link: Link, agent: string, target: string): Promise<Tunnel> {
	const open = new Set<Socket>();
	const server = createServer((socket) => {
		open.add(socket);
		const there = link.spawn('exec "$1" tunnel "$2"', [agent, target]);
		there.stderr.resume();
		socket.on("error", () => {});
		socket.once("close", () => {
			open.delete(socket);
			there.stdin.destroy();
			there.kill();
		});
		socket.pipe(there.stdin);
		there.stdout.on("data", (piece: Buffer) => {
			if (!socket.destroyed) socket.write(piece);
		});
		void there.code.then(() => socket.destroySoon());
	});
	await new Promise<void>((resolve, reject) => {
		server.once("error", reject);
		server.listen(0, "127.0.0.1", resolve);
	});
	const bound = server.address();
	return {
		address: `127.0.0.1:${typeof bound === "object" ? bound?.port : ""}`,
		close: () =>
			new Promise<void>((resolve) => {
				server.close(() => resolve());
				for (const socket of open) socket.destroy();
			}),
	};
}
