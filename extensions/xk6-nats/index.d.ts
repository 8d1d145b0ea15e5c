/** NATS in k6 scripts: https://github.com/mqbench/mqbench/tree/main/extensions/xk6-nats */
declare module "k6/x/nats" {
	/** What a message can be: text is sent as UTF-8. */
	export type Bytes = string | ArrayBuffer | Uint8Array | number[];

	export interface Configuration {
		/** Servers of one cluster. Default: nats://127.0.0.1:4222. */
		servers?: string[];
		/** Take any certificate. */
		unsafe?: boolean;
		token?: string;
		user?: string;
		password?: string;
		/** Path of a credentials file. */
		creds?: string;
		/** Encrypt; with files for a private authority or a client's certificate. */
		tls?: boolean | { ca?: string; cert?: string; key?: string; serverName?: string; insecure?: boolean };
	}

	export interface Message {
		topic: string;
		/** The body as text. */
		data: string;
		/** The body as bytes. */
		raw: Uint8Array;
		/** The first value of each header. */
		header: Record<string, string>;
		/** Where an answer goes; "" where nobody asked. */
		reply: string;
		/** Answers a request. */
		respond(data: Bytes, headers?: Record<string, string>): void;
	}

	/** A message to publish; raw wins over data. */
	export interface Outgoing {
		topic: string;
		data?: Bytes;
		raw?: Bytes;
		header?: Record<string, string>;
	}

	export interface Subscription {
		close(): void;
	}

	export interface Acknowledgement {
		stream: string;
		sequence: number;
		/** The stream has a message with this Nats-Msg-Id already. */
		duplicate: boolean;
	}

	/** Keys and values of the server's stream configuration; storage, discard, retention and compression also as numbers of the Go library. */
	export interface StreamConfiguration {
		name: string;
		subjects?: string[];
		storage?: "file" | "memory" | number;
		discard?: "old" | "new" | number;
		[key: string]: unknown;
	}

	/** A client. VUs of a process whose configuration is the same share one connection, which ends with the test. */
	export class Nats {
		/** Connects, or throws; while k6 only looks at a script (inspect, archive) nothing connects and calls do nothing. */
		constructor(configuration: Configuration);
		/** Hands the message to the connection, and returns. */
		publish(subject: string, data: Bytes): void;
		publishWithHeaders(subject: string, data: Bytes, headers: Record<string, string>): void;
		publishMsg(message: Outgoing): void;
		/** The handler runs on the VU's event loop: while the script awaits a promise of this module. */
		subscribe(subject: string, handler: (message: Message) => void): Subscription;
		/** Waits for the answer, 5 s at most. */
		request(subject: string, data: Bytes, headers?: Record<string, string>): Message;
		requestAsync(subject: string, data: Bytes, headers?: Record<string, string>): Promise<Message>;
		/** Adds the stream, or updates it. At the top of a script: once in the test, before any VU runs. */
		jetStreamSetup(configuration: StreamConfiguration): void;
		jetStreamSetupAsync(configuration: StreamConfiguration): Promise<void>;
		jetStreamDelete(name: string): void;
		jetStreamDeleteAsync(name: string): Promise<void>;
		/** Waits for the acknowledgement, 5 s at most. */
		jetStreamPublish(subject: string, data: Bytes): Acknowledgement;
		jetStreamPublishAsync(subject: string, data: Bytes): Promise<Acknowledgement>;
		jetStreamPublishWithHeaders(subject: string, data: Bytes, headers: Record<string, string>): Acknowledgement;
		jetStreamPublishWithHeadersAsync(subject: string, data: Bytes, headers: Record<string, string>): Promise<Acknowledgement>;
		jetStreamPublishMsg(message: Outgoing): Acknowledgement;
		jetStreamPublishMsgAsync(message: Outgoing): Promise<Acknowledgement>;
		/** All that the stream has, and what comes; acknowledged when the VU has it. */
		jetStreamSubscribe(subject: string, handler: (message: Message) => void): Subscription;
		/** Ends this client's subscriptions, and waits until what it published has left. */
		close(): void;
	}

	/** Waits while handlers run: `await sleep(1)`. k6's own sleep stops the event loop. */
	export function sleep(seconds: number): Promise<void>;
}
