import { createServer, type Socket } from "node:net";
import type { Link } from "../remote/link.ts";
import { lastLine } from "../remote/trouble.ts";

/** A tunnel from this machine to an address that a host can reach, through the connection to the host. */
export interface Tunnel {
	/** "127.0.0.1:40123". */
	readonly address: string;
	/** Why the last connection through it failed; "" if none has failed. */
	trouble(): string;
	close(): Promise<void>;
}

/**
 * Opens a tunnel. `target` is "10.0.0.5:8222" as the host reaches it, `agent` the program's path there. It does not need ssh's port
 * forwarding, which many servers forbid.
 */
export async function openTunnel(link: Link, agent: string, target: string): Promise<Tunnel> {
	const open = new Set<Socket>();
	let trouble = "";
	const server = createServer((socket) => {
		open.add(socket);
		const there = link.spawn(DIAL, [agent, target]);
		let err = "";
		there.stderr.setEncoding("utf8").on("data", (text) => {
			err += text;
		});
		socket.on("error", () => {});
		socket.once("close", () => {
			open.delete(socket);
			there.stdin.destroy();
			there.kill();
		});
		socket.pipe(there.stdin);
		let head: Buffer | null = Buffer.alloc(0);
		there.stdout.on("data", (piece: Buffer) => {
			if (socket.destroyed) return;
			if (head === null) return void socket.write(piece);
			head = Buffer.concat([head, piece]);
			const at = head.indexOf(BEGIN);
			if (at < 0) return;
			socket.write(head.subarray(at + BEGIN.length));
			head = null;
		});
		void there.code.then(() => {
			trouble = lastLine(err) || trouble;
			socket.destroySoon();
		});
	});
	await new Promise<void>((resolve, reject) => {
		server.once("error", reject);
		server.listen(0, "127.0.0.1", resolve);
	});
	const bound = server.address();
	return {
		address: `127.0.0.1:${typeof bound === "object" ? bound?.port : ""}`,
		trouble: () => trouble,
		close: () =>
			new Promise<void>((resolve) => {
				server.close(() => resolve());
				for (const socket of open) socket.destroy();
			}),
	};
}

// --- internal ---

/** After the host's greeting. */
const BEGIN = "\nmqbench:dial\n";

/** $1 agent, $2 address. */
const DIAL = 'echo; echo "mqbench:dial"; exec "$1" tunnel "$2"';
