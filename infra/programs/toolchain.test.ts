import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { zipSync } from "fflate";
import { describe, expect, onTestFinished, test } from "vitest";
import { type FakeWorld, fakeWorld } from "../../runner/world.fake.ts";
import { testFolder } from "../test-folder.fake.ts";
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

/** A proxy that has only this Go; `status`: it answers with that instead. */
async function proxy(status = 200) {
	const asked: string[] = [];
	const server = createServer((request, response) => {
		asked.push(String(request.url));
		response.writeHead(status).end(zipSync(FILES));
	});
	await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
	onTestFinished(() => void server.close());
	const { port } = server.address() as AddressInfo;
	return { url: `http://127.0.0.1:${port}/mirror/`, asked };
}

/** A machine without Go. */
function machine(GOPROXY = "", ask: FakeWorld["ask"] = null) {
	const folder = testFolder();
	const extensions = path.join(folder, "extensions");
	const cache = path.join(folder, "cache");
	mkdirSync(extensions);
	writeFileSync(path.join(extensions, "go.mod"), "module x\n\ngo 1.26.0\n");
	const env = { PATH: "/usr/bin:/bin", MQBENCH_CACHE_DIR: cache, GOPROXY };
	const stop = new AbortController();
	const world = { ...fakeWorld({ cwd: folder, env }), ask, stop: stop.signal };
	const ready = ({
		yes = true,
		sums = { [PLATFORM]: hash1(FILES) } as Record<string, string>,
		onProgress = () => {},
	} = {}) =>
		goReady(world, {
			extensions,
			yes,
			why: "Why not.",
			platform: PLATFORM,
			sums,
			onProgress,
			onWait: () => {},
		});
	return { ready, stop, folder: path.join(cache, "go") };
}

test("a hash is the one that Go's checksum database has", () => {
	// As go.sum has that of a go.mod, which is hashed as a folder of its own.
	expect(hash1({ "go.mod": text("module github.com/google/uuid\n") })).toBe(
		"h1:TIyPZe4MgqvfeYDBFedMoGGpEw/LqOeaOT+nhxU+yHo=",
	);
	// Names and contents both count, the order does not.
	const [a, b] = [text("1"), text("2")];
	expect(hash1({ x: a, y: b })).toBe(hash1({ y: b, x: a }));
	expect(hash1({ x: a, y: b })).not.toBe(hash1({ x: b, y: a }));
});

describe("where no Go is", () => {
	test("one is fetched from the user's proxy, checked, kept, and builds", async () => {
		const { url, asked } = await proxy();
		const { ready, folder } = machine(`${url},direct`);
		expect(await ready()).toMatchObject({
			PATH: `${folder}/${TOOLCHAIN}/bin:/usr/bin:/bin`,
			GOTOOLCHAIN: "local",
		});
		await ready();
		expect(asked).toEqual([`/mirror/golang.org/toolchain/@v/v0.0.1-${TOOLCHAIN}.plan9-mips.zip`]);
		expect(readdirSync(folder)).toEqual([TOOLCHAIN]);
	});

	test("Ctrl-C while it arrives leaves nothing", async () => {
		const { url } = await proxy();
		const { ready, stop, folder } = machine(url);
		const onProgress = () => stop.abort("SIGINT");
		await expect(ready({ onProgress })).rejects.toMatchObject({ code: "interrupted" });
		expect(readdirSync(folder)).toEqual([]);
	});

	test("another Go than the one that was asked for is not kept", async () => {
		const { url } = await proxy();
		const { ready, folder } = machine(url);
		await expect(ready({ sums: { [PLATFORM]: "h1:other" } })).rejects.toMatchObject({
			code: "go-unfetched",
			message: expect.stringContaining("checksum database"),
		});
		expect(readdirSync(folder)).toEqual([]);
		// There is no question about one without a known checksum.
		await expect(ready({ yes: false, sums: {} })).rejects.toMatchObject({ code: "go-missing" });
	});

	test("a proxy that does not give it is named with the reason, never with its login", async () => {
		const { url } = await proxy(403);
		const page = path.join(testFolder(), "proxy");
		const zip = path.join(page, `golang.org/toolchain/@v/v0.0.1-${TOOLCHAIN}.plan9-mips.zip`);
		mkdirSync(path.dirname(zip), { recursive: true });
		writeFileSync(zip, "<html>");
		for (const [from, reason] of [
			[url, /HTTP status 403/],
			[url.replace("//", "//me:hunter2@"), /^(?!.*hunter2).*credentials/s],
			["http://127.0.0.1:9/", /from http:\/\/127\.0\.0\.1:9\/.*(?:ECONNREFUSED|bad port)/s],
			[pathToFileURL("/nowhere").href, /there is no such file/],
			[pathToFileURL(page).href, /^(?!.*\n\s+at )/s],
		] as const)
			await expect(machine(from).ready()).rejects.toMatchObject({
				code: "go-unfetched",
				message: expect.stringMatching(reason),
			});
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

	test("without a proxy the sentence has all ways out", async () => {
		await expect(machine("direct").ready()).rejects.toMatchObject({
			code: "go-missing",
			message: expect.stringMatching(/Why not\..*set GOPROXY/s),
		});
	});
});

test.each([
	["https://a.example/x,https://b.example|direct", "https://a.example/x"],
	["off", undefined],
	["direct|https://b.example", "https://b.example/"],
	["", undefined],
])("of GOPROXY=%s it asks %s", (text, url) => {
	expect(proxyIn(text)?.href).toBe(url);
});
