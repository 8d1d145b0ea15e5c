import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { zipSync } from "fflate";
import { describe, expect, onTestFinished, test } from "vitest";
import { type FakeWorld, fakeWorld } from "../../runner/world.fake.ts";
import { testFolder } from "../test-folder.fake.ts";
import { go } from "./go.ts";
import { goReady, hash1, proxyIn, TOOLCHAIN } from "./toolchain.ts";

const PLATFORM = "plan9/mips";
const MODULE = `golang.org/toolchain@v0.0.1-${TOOLCHAIN}.plan9-mips`;
const text = (words: string) => new TextEncoder().encode(words);
/** A Go that knows its version, and no modes, as the zip of a module. */
const FILES = {
	[`${MODULE}/bin/go`]: text(
		`#!/bin/sh\nfor name in "$@"; do case "$name" in GOVERSION) echo ${TOOLCHAIN};; GOTOOLCHAIN) echo "$GOTOOLCHAIN";; esac; done\n`,
	),
	[`${MODULE}/LICENSE`]: text("BSD\n"),
};

interface Proxy {
	readonly url: string;
	readonly asked: string[];
}

/** A proxy that has only this Go; `status`: it answers with that instead; `held`: not before this is true. */
async function proxy(status = 200, held = () => true): Promise<Proxy> {
	const asked: string[] = [];
	const server = createServer(async (request, response) => {
		asked.push(`${request.url} ${request.headers.authorization ?? ""}`.trim());
		while (!held()) await sleep(10);
		response.writeHead(status).end(zipSync(FILES));
	});
	await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
	onTestFinished(() => void server.close());
	const { port } = server.address() as AddressInfo;
	return { url: `http://127.0.0.1:${port}/mirror/`, asked };
}

/** A machine without Go. */
function machine(
	GOPROXY?: string,
	ask: FakeWorld["ask"] = null,
	more: Readonly<Record<string, string>> = {},
) {
	const folder = testFolder();
	const extensions = path.join(folder, "extensions");
	mkdirSync(extensions);
	writeFileSync(path.join(extensions, "go.mod"), "module x\n\ngo 1.26.0\n");
	const env = { PATH: "/usr/bin:/bin", ...(GOPROXY ? { GOPROXY } : {}), ...more };
	const stop = new AbortController();
	const world = { ...fakeWorld({ cwd: folder, env }), ask, stop: stop.signal };
	const cache = path.join(folder, "cache");
	const waited: (number | null)[] = [];
	const ready = ({
		yes = true,
		sums = { [PLATFORM]: hash1(FILES) } as Record<string, string>,
		onProgress = () => {},
	} = {}) =>
		goReady(world, {
			extensions,
			cache,
			yes,
			why: "Why not.",
			platform: PLATFORM,
			sums,
			onProgress,
			onWait: (pid) => void waited.push(pid),
		});
	return { ready, waited, stop, extensions, folder: path.join(cache, "go") };
}

const versionOf = async (env: Awaited<ReturnType<typeof goReady>>) => {
	const said: string[] = [];
	await go(["env", "GOVERSION", "GOTOOLCHAIN"], {
		cwd: testFolder(),
		env,
		stop: new AbortController().signal,
		onStdout: (line) => void said.push(line),
	});
	return said;
};

test("a hash is the one that Go's checksum database has", () => {
	// As go.sum has that of a go.mod, which is hashed as a folder of its own.
	const file = { "go.mod": text("module github.com/google/uuid\n") };
	expect(hash1(file)).toBe("h1:TIyPZe4MgqvfeYDBFedMoGGpEw/LqOeaOT+nhxU+yHo=");
	// Names and contents both count, the order does not.
	const [a, b] = [text("1"), text("2")];
	expect(hash1({ x: a, y: b })).toBe(hash1({ y: b, x: a }));
	expect(hash1({ x: a, y: b })).not.toBe(hash1({ x: b, y: a }));
});

describe("where no Go is", () => {
	test("one is fetched from the user's proxy, checked, kept, and builds", async () => {
		const { url, asked } = await proxy();
		const { ready, folder } = machine(`${url},direct`);
		const env = await ready();
		expect(await versionOf(env)).toEqual([TOOLCHAIN, "local"]);
		await ready();
		expect(asked).toEqual([`/mirror/golang.org/toolchain/@v/v0.0.1-${TOOLCHAIN}.plan9-mips.zip`]);
		expect(readdirSync(folder)).toEqual([TOOLCHAIN]);
	});

	test("two that need it at once fetch it once, and the one that waits says for whom", async () => {
		let waits = (): number => 0;
		const { url, asked } = await proxy(200, () => waits() > 0);
		const { ready, waited } = machine(url);
		waits = () => waited.length;
		await Promise.all([ready(), ready()]);
		expect(asked).toHaveLength(1);
		expect(waited).toEqual([process.pid]);
	});

	test("who stops it when it has arrived waits for no unpacking, and leaves nothing", async () => {
		const { url } = await proxy();
		const { ready, stop, folder } = machine(url);
		const onProgress = () => stop.abort("SIGINT");
		await expect(ready({ onProgress })).rejects.toMatchObject({ code: "interrupted" });
		expect(readdirSync(folder)).toEqual([]);
	});

	test("a login in GOPROXY is used, and never told", async () => {
		const { url, asked } = await proxy(403);
		const { ready } = machine(url.replace("//", "//me:hunter2@"));
		await expect(ready()).rejects.toMatchObject({
			code: "go-unfetched",
			message: expect.stringMatching(/^(?!.*hunter2).*status 403/s),
		});
		expect(asked[0]).toContain(`Basic ${Buffer.from("me:hunter2").toString("base64")}`);
	});

	test("another Go than the one that was asked for is not kept", async () => {
		const { url } = await proxy();
		const { ready, folder } = machine(url);
		await expect(ready({ sums: { [PLATFORM]: "h1:other" } })).rejects.toMatchObject({
			code: "go-unfetched",
			message: expect.stringContaining("checksum database"),
		});
		expect(readdirSync(folder)).toEqual([]);
		// Nobody is asked for one whose checksum is not known.
		await expect(ready({ yes: false, sums: {} })).rejects.toMatchObject({ code: "go-missing" });
	});

	test("a proxy that is not reached is named with the reason, and what Node does not use", async () => {
		const env = { HTTPS_PROXY: "http://127.0.0.1:9" };
		const { ready } = machine("http://127.0.0.1:9/", null, env);
		await expect(ready()).rejects.toMatchObject({
			code: "go-unfetched",
			message: expect.stringMatching(
				/could not be fetched from http:\/\/127\.0\.0\.1:9\/.*(?:ECONNREFUSED|bad port).*HTTPS_PROXY/s,
			),
		});
	});

	test("what is no zip is one sentence", async () => {
		const file = path.join(testFolder(), "proxy");
		const { ready } = machine(pathToFileURL(file).href);
		await expect(ready()).rejects.toMatchObject({ code: "go-unfetched" });
		const where = path.join(file, "golang.org/toolchain/@v");
		mkdirSync(where, { recursive: true });
		const zip = path.join(where, `v0.0.1-${TOOLCHAIN}.plan9-mips.zip`);
		writeFileSync(zip, "<html>");
		await expect(ready()).rejects.toMatchObject({
			code: "go-unfetched",
			message: expect.not.stringMatching(/\n\s+at /),
		});
		writeFileSync(zip, zipSync(FILES));
		expect((await versionOf(await ready()))[0]).toBe(TOOLCHAIN);
	});

	test("it is asked for first; without anybody to ask it says so, and after a no nothing is fetched", async () => {
		const { url, asked } = await proxy();
		const questions: string[] = [];
		const answer = (word: string) => async (question: string) => {
			questions.push(question);
			return word;
		};
		await expect(machine(url).ready({ yes: false })).rejects.toMatchObject({
			code: "go-unasked",
			message: expect.stringContaining("--yes"),
		});
		await expect(machine(url, answer("n")).ready({ yes: false })).rejects.toMatchObject({
			code: "go-missing",
		});
		expect(asked).toEqual([]);
		await machine(url, answer("y")).ready({ yes: false });
		expect(asked).toHaveLength(1);
		expect(questions[0]).toContain(TOOLCHAIN);
	});

	test.each([undefined, "direct", "off"])(
		"without a proxy (%s) the sentence has all ways out",
		async (GOPROXY) => {
			const { ready, folder } = machine(GOPROXY);
			await expect(ready()).rejects.toMatchObject({
				code: "go-missing",
				message: expect.stringMatching(/Why not\..*set GOPROXY/s),
			});
			expect(existsSync(folder)).toBe(false);
		},
	);
});

test.each([
	["https://a.example/x,https://b.example|direct", "https://a.example/x"],
	["off", undefined],
	["direct|https://b.example", "https://b.example/"],
	["", undefined],
])("of GOPROXY=%s it asks %s", (text, url) => {
	expect(proxyIn(text)?.href).toBe(url);
});
