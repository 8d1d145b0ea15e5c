import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import path from "node:path";
import { onTestFinished } from "vitest";
import { pathOf, realBinaries } from "../../../infra/binaries/real.fake.ts";
import { type NatsServer, startNats } from "../nats-server.ts";
import { temporaryFolder } from "./mqbench.ts";

/** For tests: a NATS server that is not mqbench's, which is gone when the test is over. `config`: in nats-server's format. */
export async function ownNats(config = "", port?: number): Promise<NatsServer> {
	const program = pathOf(await realBinaries(), "nats-server");
	const file = path.join(temporaryFolder(), "nats.conf");
	// What the configuration says comes last, and counts.
	writeFileSync(file, `host: 127.0.0.1\n${config}\n`);
	const server = await startNats(program, ["-c", file], port, []);
	onTestFinished(() => void server.child.kill("SIGKILL"));
	return server;
}

/** JetStream, its files in a folder of the test. */
export function jetStream(): string {
	return `jetstream { store_dir: ${JSON.stringify(temporaryFolder())} }`;
}

/** A client of NATS that can ask, and send: as little of the protocol as that takes. */
export class Nats {
	readonly #socket: Socket;
	#buffer = "";
	readonly #waiting = new Map<string, (payload: string) => void>();
	#next = 0;

	private constructor(socket: Socket, token: string) {
		this.#socket = socket;
		socket.setEncoding("utf8");
		socket.on("data", (piece: string) => this.#read(piece));
		socket.on("error", () => {});
		socket.write(
			`CONNECT {"verbose":false,"pedantic":false,"auth_token":"${token}"}\r\nSUB _INBOX.test.> 1\r\n`,
		);
	}

	static async connect(url: string): Promise<Nats> {
		const { hostname, port, username } = new URL(url);
		const socket = connect({ host: hostname, port: Number(port) });
		onTestFinished(() => void socket.destroy());
		await once(socket, "connect");
		return new Nats(socket, username);
	}

	/** Asks the JetStream API, or a stream to store a message. Fails with the server's words. */
	async request(subject: string, body: unknown = ""): Promise<Record<string, unknown>> {
		const text = typeof body === "string" ? body : JSON.stringify(body);
		const inbox = `_INBOX.test.${this.#next++}`;
		const answer = new Promise<string>((resolve) => this.#waiting.set(inbox, resolve));
		this.#socket.write(`PUB ${subject} ${inbox} ${Buffer.byteLength(text)}\r\n${text}\r\n`);
		const parsed = JSON.parse(await answer);
		if (parsed.error) throw new Error(`${subject}: ${JSON.stringify(parsed.error)}`);
		return parsed;
	}

	/** Every stream with its state, and the names of its consumers: all that JetStream holds. */
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

	#read(piece: string): void {
		this.#buffer += piece;
		for (;;) {
			const end = this.#buffer.indexOf("\r\n");
			if (end < 0) return;
			const head = this.#buffer.slice(0, end);
			const [verb, subject = "", ...rest] = head.split(" ");
			if (verb === "PING") this.#socket.write("PONG\r\n");
			if (verb !== "MSG" && verb !== "HMSG") {
				this.#buffer = this.#buffer.slice(end + 2);
				continue;
			}
			const size = Number(rest.at(-1));
			if (this.#buffer.length < end + 2 + size + 2) return;
			const headers = verb === "HMSG" ? Number(rest.at(-2)) : 0;
			const payload = this.#buffer.slice(end + 2 + headers, end + 2 + size);
			this.#buffer = this.#buffer.slice(end + 2 + size + 2);
			this.#waiting.get(subject)?.(payload);
			this.#waiting.delete(subject);
		}
	}
}

export interface Holding {
	readonly messages: number;
	readonly consumers: readonly string[];
	readonly config: unknown;
}
