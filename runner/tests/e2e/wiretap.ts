import { createHash } from "node:crypto";
import { connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** For tests: a message as it went over the wire, without what belongs to one run alone. */
export interface Tapped {
	readonly producer: number;
	readonly stream: number;
	readonly sequence: number;
	/** ns since T0. */
	readonly intendedNs: number;
	/** Of the bytes behind the envelope, and behind the sender's lag where it follows there. */
	readonly body: string;
}

/** For tests: hears what clients send through a NATS server, knowing nothing of mqbench but the envelope. */
export interface Wiretap {
	/** All that the server had until now, in the order in which they came; nothing is heard any more. */
	end(): Promise<readonly Tapped[]>;
}

/** Subscribes to all topics of mqbench at "nats://host:port"; listens when it returns. */
export async function wiretap(url: string): Promise<Wiretap> {
	const { hostname, port } = new URL(url);
	const socket = connect(Number(port), hostname);
	onTestFinished(() => void socket.destroy());
	const messages: Tapped[] = [];
	const answers: (() => void)[] = [];
	listen(socket, {
		message: (payload) => void messages.push(read(payload)),
		pong: () => answers.shift()?.(),
	});
	/** What comes before the answer was there before the question. */
	const caughtUp = () =>
		new Promise<void>((resolve, reject) => {
			answers.push(resolve);
			socket.once("close", () => reject(new Error("the server hung up")));
			socket.write("PING\r\n");
		});
	socket.write('CONNECT {"verbose":false,"pedantic":false}\r\n');
	socket.write("SUB mqbench.> 1\r\n");
	await caughtUp();
	return {
		async end() {
			await caughtUp();
			socket.destroy();
			return messages;
		},
	};
}

// --- internal ---

/** "MQB1". */
const MAGIC = 0x4d514231;
const ENVELOPE_BYTES = 48;

interface Heard {
	message(payload: Buffer): void;
	pong(): void;
}

/** The few words of NATS that a subscriber hears. */
function listen(socket: Socket, heard: Heard): void {
	let rest = Buffer.alloc(0);
	socket.on("data", (piece) => {
		rest = Buffer.concat([rest, piece]);
		for (;;) {
			const end = rest.indexOf("\r\n");
			if (end < 0) return;
			const line = rest.subarray(0, end).toString("latin1");
			const after = end + 2;
			// MSG <subject> <sid> [reply] <bytes>
			const bytes = line.startsWith("MSG ") ? Number(line.slice(line.lastIndexOf(" ") + 1)) : null;
			if (bytes === null) {
				if (line === "PING") socket.write("PONG\r\n");
				if (line === "PONG") heard.pong();
				if (line.startsWith("-ERR")) socket.destroy(new Error(line));
				rest = rest.subarray(after);
				continue;
			}
			if (rest.length < after + bytes + 2) return;
			heard.message(rest.subarray(after, after + bytes));
			rest = rest.subarray(after + bytes + 2);
		}
	});
}

/** magic, run, producer, stream: 4 bytes each; sequence, intended, sent, lag: 8 bytes each; big endian. */
function read(payload: Buffer): Tapped {
	if (payload.readUInt32BE(0) !== MAGIC)
		throw new Error(`no message of mqbench: ${payload.toString("hex", 0, 40)}`);
	return {
		producer: payload.readUInt32BE(8),
		stream: payload.readUInt32BE(12),
		sequence: Number(payload.readBigUInt64BE(16)),
		intendedNs: Number(payload.readBigUInt64BE(24)),
		body: createHash("sha256").update(payload.subarray(ENVELOPE_BYTES)).digest("hex"),
	};
}
