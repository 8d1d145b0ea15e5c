import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { failure } from "../errors.ts";
import { reasonOf } from "../reason.ts";

/** A server of one page, on this machine only, that pushes events to every open copy. */
export type PageServer = Awaited<ReturnType<typeof startServer>>;

interface PageOptions {
	/** null for any free port. */
	readonly port: number | null;
	readonly page: () => string;
	readonly policy: () => string;
	readonly scripts: Readonly<Record<string, () => string>>;
	readonly stop: () => string;
}

/** Serves on 127.0.0.1, also through forwarded ports; refuses requests by another host name (DNS rebinding) or from other sites. */
export async function startServer({ port, page, policy, scripts, stop }: PageOptions) {
	const own = newToken();
	/** All that serve the page: the first one, and those that once-tokens led to. */
	const tokens = new Set([own]);
	const once = new Set<string>();
	const open = new Set<ServerResponse>();
	/** The events that a new connection gets first: the newest of each kind. */
	const newest = new Map<string, Buffer>();
	const times = { headersTimeout: SILENT_MS, connectionsCheckingInterval: SILENT_MS / 2 };
	const server = createServer(times, (request, response) => {
		try {
			answer(request, response);
		} catch {
			// A bug in the page must not end the command.
			response.destroy();
		}
	});
	server.maxConnections = MOST_CONNECTIONS;
	await listening(server, port ?? 0);
	// Without a listener, an error of the last connection would end the command.
	server.on("error", () => {});
	const origin = `http://${HOST}:${(server.address() as AddressInfo).port}`;
	return {
		/** Contains the token without which nothing is served. */
		url: `${origin}/${own}/`,
		/** Works once, within a minute, because others can read command lines. Linux shows a connection's user; other users are refused there. */
		urlForOnce() {
			const token = newToken();
			once.add(token);
			// If no browser came, the list of processes would still show a working token.
			setTimeout(() => once.delete(token), ONCE_MS).unref();
			return `${origin}/${token}/`;
		},
		/** Sends to all connections, and the newest of each kind of event to later ones. */
		push(event: string, data: unknown) {
			// JSON has no line breaks.
			const text = Buffer.from(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
			newest.set(event, text);
			for (const response of open) {
				if (response.writableLength > MOST_UNREAD) response.destroy();
				else response.write(text);
			}
		},
		/** Stops serving when everything pushed has been sent, or after `ms`. */
		async close(ms = 5000) {
			const late = setTimeout(() => server.closeAllConnections(), ms);
			await Promise.all(
				[...open].map((one) => new Promise((resolve) => one.once("close", resolve).end())),
			);
			clearTimeout(late);
			server.close();
			server.closeAllConnections();
		},
	};

	function answer(
		{ method = "", url = "", headers, socket }: IncomingMessage,
		response: ServerResponse,
	) {
		const host = headers.host ?? "";
		const [, token = "", what = "", ...more] = url.split("/");
		const known = isOneOf(token, tokens);
		for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
		if (!/^(?:localhost|127\.0\.0\.1)(?::\d+)?$/i.test(host)) refuse(response, 403);
		// A browser names the site that asks, and no other site may.
		else if (![undefined, `http://${host}`].includes(headers.origin)) refuse(response, 403);
		else if (known && url === `/${token}`) redirect(response, token);
		else if (isOneOf(token, once) && !isOthers(socket)) {
			once.delete(token);
			const its = newToken();
			tokens.add(its);
			redirect(response, its);
		} else if (!known || more.length > 0) refuse(response, 404);
		else if (method === "GET") serve(what, response);
		else if (method !== "POST" || what !== "stop") refuse(response, 405);
		// Every browser names the site that posts, so a request without one is not the page's.
		else if (headers.origin === undefined) refuse(response, 403);
		else send(response, "text/plain", stop());
	}

	function serve(what: string, response: ServerResponse) {
		if (what === "") {
			response.setHeader("content-security-policy", policy());
			send(response, "text/html", page());
		} else if (what === "events") connect(response);
		else if (Object.hasOwn(scripts, what))
			send(response, "text/javascript", scripts[what]?.() ?? "");
		else refuse(response, 404);
	}

	function connect(response: ServerResponse) {
		response.writeHead(200, { "content-type": "text/event-stream" });
		response.write(`retry: ${AGAIN_MS}\n\n`);
		for (const event of newest.values()) response.write(event);
		open.add(response);
		response.once("close", () => open.delete(response));
		response.on("error", () => {});
	}
}

// --- internal ---

const HOST = "127.0.0.1";
/** A connection with more unread bytes is dropped, and gets the newest events when it is back. */
const MOST_UNREAD = 4_000_000;
/** A page uses one, and a few while it loads. More could take time from the measurement. */
const MOST_CONNECTIONS = 64;
/** A connection without a request is closed after this. */
const SILENT_MS = 10_000;
/** A browser reconnects after this. */
const AGAIN_MS = 1000;
/** Long enough for a browser on a slow machine. */
const ONCE_MS = 60_000;

const HEADERS = {
	"cache-control": "no-store",
	"referrer-policy": "no-referrer",
	"x-content-type-options": "nosniff",
	"x-frame-options": "DENY",
	"cross-origin-resource-policy": "same-origin",
	"cross-origin-opener-policy": "same-origin",
} as const;

function listening(server: Server, port: number): Promise<void> {
	return new Promise((resolve, reject) => {
		server.once("error", (error: NodeJS.ErrnoException) => {
			const taken = error.code === "EADDRINUSE";
			const reason = taken ? `the port is taken on ${HOST}` : reasonOf(error);
			reject(failure("watch-port", { port, reason }));
		});
		server.listen(port, HOST, resolve);
	});
}

function send(response: ServerResponse, type: string, text: string): void {
	response.setHeader("content-type", `${type}; charset=utf-8`);
	response.end(text);
}

/** Reveals nothing about existing addresses. */
function refuse(response: ServerResponse, status: number): void {
	response.writeHead(status).end();
}

function redirect(response: ServerResponse, token: string): void {
	response.writeHead(303, { location: `/${token}/` }).end();
}

function newToken(): string {
	return randomBytes(16).toString("hex");
}

/** Whether the connection is another user's, as far as the system shows. Root may do anything. */
function isOthers({ remoteAddress, remotePort, localPort }: Socket): boolean {
	const of = (port = 0) => port.toString(16).toUpperCase().padStart(4, "0");
	const bytes = (remoteAddress ?? "").split(".").map(Number);
	const from = `${Buffer.from(bytes).reverse().toString("hex").toUpperCase()}:${of(remotePort)}`;
	let table: string;
	try {
		table = readFileSync("/proc/net/tcp", "latin1");
	} catch {
		return false;
	}
	const row = table
		.split("\n")
		.map((line) => line.trim().split(/\s+/))
		.find(([, own, to]) => own === from && to?.endsWith(`:${of(localPort)}`));
	return row !== undefined && ![0, process.getuid?.()].includes(Number(row[7]));
}

/** Each comparison takes constant time; the hashes have equal lengths. */
function isOneOf(given: string, tokens: ReadonlySet<string>): boolean {
	const sum = (text: string) => createHash("sha256").update(text).digest();
	return [...tokens].some((token) => timingSafeEqual(sum(given), sum(token)));
}
