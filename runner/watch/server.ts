import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import {
	createServer,
	type IncomingMessage,
	type Server,
	type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { failure } from "../errors.ts";
import { reasonOf } from "../reason.ts";

/** A server of one page, on this machine alone, that pushes events to whoever has it open. */
export interface PageServer {
	/** With the token without which nothing is served. */
	readonly url: string;
	/** Leads to `url` once, within a minute: for a command line, which others on the machine can read. */
	urlForOnce(): string;
	/** To all that are connected. */
	push(event: string, data: unknown): void;
	/** Ends connections when all that was pushed is on its way, or `ms` are over; then nobody is served any more. */
	close(ms?: number): Promise<void>;
}

interface PageOptions {
	/** null: any that is free. */
	readonly port: number | null;
	readonly page: () => PageContent;
	/** Files beside the page, by name. */
	readonly scripts: Readonly<Record<string, () => string>>;
	/** What a connection gets first. */
	readonly snapshot: () => unknown;
	/** What the page's button does; returns what the page is told. */
	readonly stop: () => string;
}

interface PageContent {
	readonly html: string;
	/** Its Content-Security-Policy; null: the page has one of its own. */
	readonly policy: string | null;
}

/**
 * Serves it on 127.0.0.1. A browser that was lured here by another name (DNS rebinding) or from another site is refused; through a
 * forwarded port, whatever its number, the page is served as here.
 */
export async function startServer(options: PageOptions): Promise<PageServer> {
	const serving = new Serving(options);
	await serving.listen();
	return serving;
}

// --- internal ---

const HOST = "127.0.0.1";
/** A connection that has not taken this much by now is dropped: it gets a new snapshot when it is back. */
const MOST_UNREAD = 4_000_000;
/** After which a browser that has lost its connection asks again. */
const AGAIN_MS = 1000;
/** A browser that is told of an address has asked for it by then, also on a slow machine. */
const ONCE_MS = 60_000;

class Serving implements PageServer {
	readonly #options: PageOptions;
	readonly #token = randomBytes(16).toString("hex");
	readonly #server: Server;
	readonly #open = new Set<ServerResponse>();
	/** Tokens that lead to the page one single time. */
	readonly #once = new Set<string>();

	constructor(options: PageOptions) {
		this.#options = options;
		this.#server = createServer((request, response) => {
			try {
				this.#answer(request, response);
			} catch {
				// What goes wrong here is the page's own: it must not end the command.
				response.destroy();
			}
		});
		// Without a listener the last connection that was lost would end the command.
		this.#server.on("error", () => {});
	}

	async listen(): Promise<void> {
		const port = this.#options.port ?? 0;
		await new Promise<void>((resolve, reject) => {
			this.#server.once("error", (error: NodeJS.ErrnoException) => {
				const taken = error.code === "EADDRINUSE";
				reject(
					failure("watch-port", {
						port,
						reason: taken ? null : reasonOf(error),
					}),
				);
			});
			this.#server.listen(port, HOST, resolve);
		});
	}

	get url(): string {
		return `${this.#origin()}/${this.#token}/`;
	}

	urlForOnce(): string {
		const token = randomBytes(16).toString("hex");
		this.#once.add(token);
		// A browser that never came leaves it to whoever reads the list of processes.
		setTimeout(() => this.#once.delete(token), ONCE_MS).unref();
		return `${this.#origin()}/${token}/`;
	}

	push(event: string, data: unknown): void {
		const text = eventText(event, data);
		for (const response of this.#open) {
			if (response.writableLength > MOST_UNREAD) response.destroy();
			else response.write(text);
		}
	}

	async close(ms = 5000): Promise<void> {
		const open = [...this.#open];
		const late = setTimeout(() => {
			for (const response of open) response.destroy();
		}, ms);
		await Promise.all(
			open.map(
				(response) =>
					new Promise<void>((resolve) => {
						response.once("close", resolve);
						response.end();
					}),
			),
		);
		clearTimeout(late);
		this.#server.close();
		this.#server.closeAllConnections();
	}

	#origin(): string {
		const { port } = this.#server.address() as AddressInfo;
		return `http://${HOST}:${port}`;
	}

	#answer(request: IncomingMessage, response: ServerResponse): void {
		const { method = "", url = "", headers } = request;
		const host = headers.host ?? "";
		const [, token = "", what = "", ...more] = url.split("/");
		const bare = url === `/${token}` && same(token, this.#token);
		for (const [name, value] of Object.entries(HEADERS))
			response.setHeader(name, value);
		if (!/^(?:localhost|127\.0\.0\.1)(?::\d+)?$/i.test(host))
			refuse(response, 403);
		else if (bare || this.#takeOnce(token))
			response.writeHead(303, { location: `/${this.#token}/` }).end();
		else if (!same(token, this.#token) || more.length > 0)
			refuse(response, 404);
		else if (method === "GET") this.#serve(what, response);
		else if (method !== "POST" || what !== "stop") refuse(response, 405);
		// A browser names the site that asks; no other site may.
		else if (headers.origin !== `http://${host}`) refuse(response, 403);
		else send(response, "text/plain", this.#options.stop());
	}

	#serve(what: string, response: ServerResponse): void {
		const { page, scripts } = this.#options;
		if (what === "") {
			const { html, policy } = page();
			if (policy !== null)
				response.setHeader("content-security-policy", policy);
			send(response, "text/html", html);
		} else if (what === "events") this.#connect(response);
		else if (Object.hasOwn(scripts, what))
			send(response, "text/javascript", scripts[what]?.() ?? "");
		else refuse(response, 404);
	}

	#takeOnce(token: string): boolean {
		const found = [...this.#once].find((one) => same(token, one));
		return found !== undefined && this.#once.delete(found);
	}

	#connect(response: ServerResponse): void {
		response.writeHead(200, { "content-type": "text/event-stream" });
		response.write(`retry: ${AGAIN_MS}\n\n`);
		response.write(eventText("snapshot", this.#options.snapshot()));
		this.#open.add(response);
		response.once("close", () => this.#open.delete(response));
		response.on("error", () => {});
	}
}

const HEADERS = {
	"cache-control": "no-store",
	"referrer-policy": "no-referrer",
	"x-content-type-options": "nosniff",
	"x-frame-options": "DENY",
	"cross-origin-resource-policy": "same-origin",
	"cross-origin-opener-policy": "same-origin",
} as const;

/** JSON has no line breaks. */
function eventText(event: string, data: unknown): string {
	return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

function send(response: ServerResponse, type: string, text: string): void {
	response.setHeader("content-type", `${type}; charset=utf-8`);
	response.end(text);
}

/** Without a word of what there is. */
function refuse(response: ServerResponse, status: number): void {
	response.writeHead(status).end();
}

/** In a time that says nothing of how much of it is right: sums have one length. */
function same(given: string, token: string): boolean {
	const sum = (text: string) => createHash("sha256").update(text).digest();
	return timingSafeEqual(sum(given), sum(token));
}
