import { execFile } from "node:child_process";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { EXIT, MqbenchError } from "../errors.ts";
import { type PageServer, startServer } from "./server.ts";

interface Options {
	method?: string;
	headers?: Record<string, string>;
}

async function served(port: number | null = null) {
	const stop = vi.fn(() => "it stops");
	const server = await startServer({
		port,
		page: () => "<p>live",
		policy: () => "default-src 'none'",
		scripts: { "a.js": () => "run()" },
		stop,
	});
	onTestFinished(() => server.close(0));
	return { server, stop, url: new URL(server.url) };
}

function opened(
	url: string | URL,
	{ method = "GET", headers = {} }: Options = {},
): Promise<IncomingMessage & { asked: ClientRequest }> {
	return new Promise((resolve, reject) => {
		const asked = request(url, { method, headers, agent: false }, (answer) =>
			resolve(Object.assign(answer, { asked })),
		);
		asked.on("error", reject);
		asked.end();
	});
}

async function get(url: string | URL, options?: Options) {
	const answer = await opened(url, options);
	let text = "";
	for await (const part of answer.setEncoding("utf8")) text += part;
	const { statusCode: status, headers } = answer;
	return { status, text, headers };
}

async function events(server: PageServer) {
	const answer = await opened(new URL("events", server.url));
	let text = "";
	answer.setEncoding("utf8").on("data", (part) => {
		text += part;
	});
	const over = new Promise<void>((resolve) => answer.once("close", resolve));
	// Leaving in the middle of an answer is not an error.
	answer.on("error", () => {});
	const list = () =>
		[...text.matchAll(/^event: (\w+)\ndata: (.*)\n\n/gm)].map(([, event, data = ""]) => [
			event,
			JSON.parse(data),
		]);
	return { list, over, type: answer.headers["content-type"], leave: () => answer.asked.destroy() };
}

test("the page, its scripts and its events are served under the token alone", async () => {
	const { server, url } = await served();
	expect(url.hostname).toBe("127.0.0.1");
	expect(url.pathname).toMatch(/^\/[0-9a-f]{32}\/$/);
	expect(await get(url)).toMatchObject({
		status: 200,
		text: "<p>live",
		headers: {
			"content-type": "text/html; charset=utf-8",
			"content-security-policy": "default-src 'none'",
			"cache-control": "no-store",
			"referrer-policy": "no-referrer",
		},
	});
	expect(await get(new URL("a.js", url))).toMatchObject({ text: "run()" });
	const other = await served();
	for (const path of [
		"/",
		"/index.html",
		"/events",
		"/a.js",
		other.url.pathname,
		`${url.pathname.slice(0, -2)}/`,
		`/x${url.pathname}`,
		`${url.pathname}b.js`,
		`${url.pathname}constructor`,
		`${url.pathname}events/x`,
		`${url.pathname}?x`,
	])
		expect(await get(new URL(path, server.url)), path).toMatchObject({ status: 404, text: "" });
});

const EVIL = "http://evil.example";
const refused = (status: number, method: string, headers: Record<string, string>) =>
	["", "events", "a.js", "stop"].map((path) => [status, method, path, headers] as const);

test.each<readonly [status: number, method: string, path: string, headers: Record<string, string>]>(
	[
		// The only actions are reading and stopping.
		...["HEAD", "OPTIONS", "PUT", "DELETE"].flatMap((method) => refused(405, method, {})),
		...refused(405, "POST", {}).slice(0, 3),
		[404, "GET", "stop", {}],
		// Another site, another port, a page without an address, and a stop without an origin.
		...[EVIL, "http://127.0.0.1:1", "null"].flatMap((origin) =>
			["GET", "POST"].flatMap((method) => refused(403, method, { origin })),
		),
		[403, "POST", "stop", {}],
		// DNS rebinding.
		...[
			"evil.example",
			"evil.example:80",
			"localhost.evil.example",
			"127.0.0.1.evil.example",
			"x127.0.0.1",
			"10.0.0.1:80",
			"[::1]:80",
			"localhost:80:80",
			"localhost/",
			"a@localhost",
			"localhost:",
		].flatMap((host) => refused(403, "GET", { host })),
		[403, "POST", "stop", { host: "evil.example", origin: EVIL }],
	],
)("%i: %s %j with %j reads and does nothing", async (status, method, path, headers) => {
	const { url, stop } = await served();
	expect(await get(new URL(path, url), { method, headers })).toMatchObject({ status, text: "" });
	expect(stop).not.toHaveBeenCalled();
});

test("the page itself may stop it, also through another port, and is served by any name of this machine", async () => {
	const { url, stop } = await served();
	for (const host of [url.host, "localhost:9000"]) {
		const headers = { host, origin: `http://${host}` };
		const stopped = await get(new URL("stop", url), { method: "POST", headers });
		expect(stopped).toMatchObject({ status: 200, text: "it stops" });
		expect(await get(url, { headers })).toMatchObject({ status: 200 });
	}
	expect(stop).toHaveBeenCalledTimes(2);
	for (const host of ["localhost", "LOCALHOST:80", "127.0.0.1:1"])
		expect(await get(url, { headers: { host } })).toMatchObject({ status: 200 });
});

test("a stop is nothing without the token, nor by an address that is good once", async () => {
	const { server, url, stop } = await served();
	const post = (to: URL) => get(to, { method: "POST", headers: { origin: url.origin } });
	expect(await post(new URL("/stop", url))).toMatchObject({ status: 404 });
	const once = new URL("stop", server.urlForOnce());
	expect(await post(once)).toMatchObject({ status: 303, text: "" });
	expect(await post(once)).toMatchObject({ status: 404 });
	expect(stop).not.toHaveBeenCalled();
});

test("the address without its last slash leads to the page", async () => {
	const { url } = await served();
	expect(await get(new URL(url.pathname.slice(0, -1), url))).toMatchObject({
		status: 303,
		headers: { location: url.pathname },
	});
});

test("an address for a command line leads to the page once, and neither has nor gives the token that stays", async () => {
	const { server, url } = await served();
	const once = server.urlForOnce();
	expect(once).not.toContain(url.pathname);
	const { status, headers } = await get(once);
	expect(status).toBe(303);
	expect(headers.location).not.toBe(url.pathname);
	expect(await get(new URL(headers.location ?? "", url))).toMatchObject({ text: "<p>live" });
	expect(await get(once)).toMatchObject({ status: 404, text: "" });
	expect(await get(url)).toMatchObject({ status: 200 });
});

test.skipIf(process.platform !== "linux" || process.getuid?.() !== 0)(
	"another user who reads the command line is not led there, and the browser still is",
	async () => {
		const { server } = await served();
		const once = server.urlForOnce();
		const asks = `fetch(process.argv[1]).then(({ status }) => process.stdout.write(String(status)))`;
		const { stdout } = await promisify(execFile)(process.execPath, ["-e", asks, once], {
			uid: 65_534,
			gid: 65_534,
			cwd: "/",
		});
		expect(stdout).toBe("404");
		expect(await get(once)).toMatchObject({ status: 303 });
	},
);

test("64 connections are served at once, and others are closed until one of them ends", async () => {
	const { server, url } = await served();
	const all = await Promise.all(Array.from({ length: 64 }, () => events(server)));
	await expect(get(url)).rejects.toThrow();
	all[0]?.leave();
	const status = () =>
		get(url).then(
			(answer) => answer.status,
			() => null,
		);
	await expect.poll(status).toBe(200);
});

test("that address is good for a minute, though nobody has come", async () => {
	const { server, url } = await served();
	vi.useFakeTimers({ toFake: ["setTimeout"] });
	onTestFinished(() => void vi.useRealTimers());
	const [soon, late] = [server.urlForOnce(), server.urlForOnce()];
	vi.advanceTimersByTime(59_999);
	expect(await get(soon)).toMatchObject({ status: 303 });
	vi.advanceTimersByTime(1);
	expect(await get(late)).toMatchObject({ status: 404, text: "" });
	expect(await get(url)).toMatchObject({ status: 200 });
});

describe("a connection", () => {
	test("gets the newest of each kind, then what happens, line breaks and all", async () => {
		const { server } = await served();
		server.push("strip", 1);
		server.push("strip", 2);
		const early = await events(server);
		expect(early.type).toBe("text/event-stream");
		server.push("over", { text: "a\nb\r\n\ndata: c" });
		const late = await events(server);
		server.push("strip", 3);
		const text = ["over", { text: "a\nb\r\n\ndata: c" }];
		for (const one of [early, late])
			await expect.poll(one.list).toEqual([["strip", 2], text, ["strip", 3]]);
	});

	test("that is lost keeps nobody else from being told", async () => {
		const { server } = await served();
		const [gone, stays] = [await events(server), await events(server)];
		gone.leave();
		await gone.over;
		for (const n of [1, 2, 3]) server.push("event", n);
		await expect.poll(() => stays.list().length).toBe(3);
	});

	test("that takes nothing is dropped before it fills the memory", async () => {
		const { server } = await served();
		const answer = await opened(new URL("events", server.url));
		answer.on("error", () => {});
		const over = new Promise((resolve) => answer.once("close", resolve));
		// More than a socket buffers, and then more than the server keeps for it.
		for (let i = 0; i < 40; i++) server.push("event", "x".repeat(500_000));
		answer.resume();
		await over;
		expect(answer.complete).toBe(false);
	});

	test("gets all that was pushed before the server ends, however much it is", async () => {
		const { server, url } = await served();
		const one = await events(server);
		const html = "<p>é\u{1F4A5}".repeat(300_000);
		server.push("report", { html });
		await server.close();
		await one.over;
		expect(one.list().at(-1)).toEqual(["report", { html }]);
		await expect(get(url)).rejects.toThrow(/ECONNREFUSED/);
	});

	test("that takes nothing does not keep the server from ending", async () => {
		const { server, url } = await served();
		const answer = await opened(new URL("events", url));
		answer.on("error", () => {});
		server.push("report", "x".repeat(30_000_000));
		await server.close(50);
		await expect(get(url)).rejects.toThrow(/ECONNREFUSED/);
	});
});

test("a page that cannot be made is an answer without content, and ends nothing", async () => {
	let broken = true;
	const server = await startServer({
		port: null,
		page() {
			if (broken) throw new Error("no page");
			return "<p>";
		},
		policy: () => "",
		scripts: {},
		stop: () => "",
	});
	onTestFinished(() => server.close(0));
	await expect(get(server.url)).rejects.toThrow();
	broken = false;
	expect(await get(server.url)).toMatchObject({ status: 200, text: "<p>" });
});

test("a port that is taken is one sentence, which says what to do", async () => {
	const taken = createServer();
	await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
	onTestFinished(() => void taken.close());
	const { port } = taken.address() as AddressInfo;
	const error = await served(port).catch((error: unknown) => error);
	expect(error).toBeInstanceOf(MqbenchError);
	expect(error).toMatchObject({
		exit: EXIT.environment,
		message: `--watch-port ${port}: the page cannot be served there (the port is taken on 127.0.0.1). Give another port, or drop --watch-port to use a free one.`,
	});
});
