import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import path from "node:path";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import { realBinaries } from "../../../infra/programs/real.fake.ts";
import { temporaryFolder } from "./mqbench.ts";

/**
 * For tests: a NATS server that is not mqbench's, on loopback and a free port unless given another; it is gone when the test is over.
 * `config` is in nats-server's format.
 */
export async function ownNats(
	config = "",
	port = -1,
): Promise<{ readonly url: string; readonly child: ChildProcess }> {
	const file = path.join(temporaryFolder(), "nats.conf");
	// The given configuration comes last, and counts.
	writeFileSync(file, `host: 127.0.0.1\n${config}\n`);
	const program = await (await realBinaries()).server("nats-server");
	const child = spawn(program, ["-p", `${port}`, "-c", file], {
		stdio: ["ignore", "ignore", "pipe"],
	});
	onTestFinished(() => void child.kill("SIGKILL"));
	return new Promise((resolve, reject) => {
		child.once("error", reject);
		const words: string[] = [];
		createInterface({ input: child.stderr }).on("line", (line) => {
			words.push(line);
			if (!/\] Server is ready$/.test(line)) return;
			const at = /Listening for client connections on (\S+)$/m.exec(words.join("\n"))?.[1];
			resolve({ url: `nats://${at}`, child });
		});
		child.once("exit", () => reject(new Error(words.join("\n"))));
	});
}

/** JetStream, its files in a folder of the test. */
export function jetStream(): string {
	return `jetstream { store_dir: ${JSON.stringify(temporaryFolder())} }`;
}

/** JetStream's figures of a stream. */
export interface Holding {
	readonly messages: number;
	readonly consumers: readonly string[];
	readonly config: unknown;
}

/** A client of NATS that can ask, and send. */
export class Nats {
	readonly #wire: Wire;
	readonly #waiting = new Map<string, (payload: string) => void>();
	#next = 0;

	private constructor(wire: Wire) {
		this.#wire = wire;
	}

	static async connect(url: string): Promise<Nats> {
		const nats: Nats = new Nats(
			await openWire(url, "_INBOX.test.>", (subject, payload) => {
				nats.#waiting.get(subject)?.(payload.toString());
				nats.#waiting.delete(subject);
			}),
		);
		return nats;
	}

	/** Asks the JetStream API, or a stream to store a message. Fails with the server's words. */
	async request(subject: string, body: unknown = ""): Promise<Record<string, unknown>> {
		const text = typeof body === "string" ? body : JSON.stringify(body);
		const inbox = `_INBOX.test.${this.#next++}`;
		const answer = new Promise<string>((resolve) => this.#waiting.set(inbox, resolve));
		this.#wire.write(`PUB ${subject} ${inbox} ${Buffer.byteLength(text)}\r\n${text}\r\n`);
		const parsed = JSON.parse(await answer);
		if (parsed.error) throw new Error(`${subject}: ${JSON.stringify(parsed.error)}`);
		return parsed;
	}

	/** Every stream with its state, and the names of its consumers: everything in JetStream. */
	async inventory(): Promise<Record<string, Holding>> {
		const { streams } = (await this.request("$JS.API.STREAM.LIST")) as {
			streams: { config: { name: string }; state: { messages: number } }[];
		};
		const found: Record<string, Holding> = {};
		for (const { config, state } of streams ?? []) {
			const { consumers } = (await this.request(`$JS.API.CONSUMER.NAMES.${config.name}`)) as {
				consumers: string[];
			};
			found[config.name] = { messages: state.messages, consumers: consumers ?? [], config };
		}
		return found;
	}
}

/** A message as sent over the wire, without the parts that differ in each run. */
export interface Tapped {
	readonly producer: number;
	readonly stream: number;
	readonly sequence: number;
	/** ns since T0. */
	readonly intendedNs: number;
	/** SHA-256 of the bytes behind the envelope, and behind the sender's lag where it follows. */
	readonly body: string;
}

/**
 * Receives the messages that clients of mqbench send through a server, and uses nothing of mqbench but the envelope; it listens when this
 * returns. `end` gives all that the server had until then, in their order of arrival.
 */
export async function wiretap(url: string): Promise<{ end(): Promise<readonly Tapped[]> }> {
	const messages: Tapped[] = [];
	const wire = await openWire(url, "mqbench.>", (_, payload) => void messages.push(read(payload)));
	return {
		async end() {
			await wire.caughtUp();
			return messages;
		},
	};
}

// --- internal ---

interface Wire {
	write(text: string): void;
	/** Everything received before the answer to a question was there before the question. */
	caughtUp(): Promise<void>;
}

/** The part of NATS' protocol that a subscriber needs, which can also send. */
async function openWire(
	url: string,
	subject: string,
	message: (subject: string, payload: Buffer) => void,
): Promise<Wire> {
	const { hostname, port, username } = new URL(url);
	const socket = connect({ host: hostname, port: Number(port) });
	onTestFinished(() => void socket.destroy());
	socket.on("error", () => {});
	await once(socket, "connect");
	const answers: (() => void)[] = [];
	let rest = Buffer.alloc(0);
	socket.on("data", (piece) => {
		rest = Buffer.concat([rest, piece]);
		for (;;) {
			const end = rest.indexOf("\r\n");
			if (end < 0) return;
			// MSG <subject> <sid> [reply] <bytes>, HMSG <subject> <sid> [reply] <bytes of headers> <bytes>
			const [verb, on = "", ...more] = rest.toString("latin1", 0, end).split(" ");
			const isMessage = verb === "MSG" || verb === "HMSG";
			const from = end + 2;
			const to = isMessage ? from + Number(more.at(-1)) : from;
			if (isMessage && rest.length < to + 2) return;
			if (isMessage)
				message(on, rest.subarray(verb === "HMSG" ? from + Number(more.at(-2)) : from, to));
			if (verb === "PING") socket.write("PONG\r\n");
			if (verb === "PONG") answers.shift()?.();
			rest = rest.subarray(isMessage ? to + 2 : to);
		}
	});
	const wire: Wire = {
		write: (text) => void socket.write(text),
		caughtUp: () =>
			new Promise((resolve, reject) => {
				answers.push(resolve);
				socket.once("close", () => reject(new Error("the server hung up")));
				socket.write("PING\r\n");
			}),
	};
	const login = JSON.stringify({ verbose: false, pedantic: false, auth_token: username });
	wire.write(`CONNECT ${login}\r\nSUB ${subject} 1\r\n`);
	await wire.caughtUp();
	return wire;
}

/** "MQB1". */
const MAGIC = 0x4d514231;
const ENVELOPE_BYTES = 48;

/** Big endian: magic, run, producer and stream with 4 bytes each, then sequence, intended, sent and lag with 8. */
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
