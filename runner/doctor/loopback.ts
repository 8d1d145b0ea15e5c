import { connect, createServer, type Socket } from "node:net";
import type { Times } from "./times.ts";

/**
 * Round trips of 256 bytes over loopback TCP within this process, 1000 times, or for 0.6 s, after 100 to warm up. Node's own loop is a
 * part of each: a floor for comparing machines, not what a broker adds.
 */
export async function loopback(): Promise<Times> {
	const server = createServer({ noDelay: true }, (socket) => {
		socket.on("error", () => {});
		socket.on("data", (data) => void socket.write(data));
	});
	let client: Socket | undefined;
	try {
		await new Promise<void>((resolve, reject) => {
			server.once("error", reject);
			server.listen(0, "127.0.0.1", resolve);
		});
		const { port } = server.address() as { port: number };
		client = connect({ port, host: "127.0.0.1", noDelay: true });
		return await pingPong(client);
	} finally {
		client?.destroy();
		server.close();
	}
}

// --- internal ---

const WARM_UP = 100;
const ROUND_TRIPS = 1000;
const MOST_MS = 600;
const MESSAGE = Buffer.alloc(256);

function pingPong(client: Socket): Promise<Times> {
	return new Promise((resolve, reject) => {
		const times: number[] = [];
		let pending = 0;
		let sent = 0n;
		let done = 0;
		const end = performance.now() + MOST_MS;
		const next = () => {
			pending = MESSAGE.length;
			sent = process.hrtime.bigint();
			client.write(MESSAGE);
		};
		client.once("connect", next);
		client.once("error", reject);
		client.on("data", (data) => {
			pending -= data.length;
			if (pending > 0) return;
			if (done++ >= WARM_UP) times.push(Number(process.hrtime.bigint() - sent));
			if (times.length < ROUND_TRIPS && performance.now() < end) next();
			else resolve(times.sort((a, b) => a - b));
		});
	});
}
