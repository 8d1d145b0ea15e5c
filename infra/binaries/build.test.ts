import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { runs } from "../processes.fake.ts";
import { machine } from "./go.fake.ts";
import { pathOf } from "./real.fake.ts";

describe("the first use", () => {
	test("builds all programs into the cache, and says how far it is", async () => {
		const { resolve, told, cache } = machine();
		const found = await resolve();
		for (const program of ["k6", "nats-server", "agent"] as const) {
			expect(pathOf(found, program).startsWith(path.join(cache, "bin"))).toBe(true);
			expect(statSync(pathOf(found, program)).mode & 0o111).not.toBe(0);
		}
		expect(found.go).toBe("go1.26.8");
		expect(told).toEqual([
			"begin",
			"modules 0/2",
			"modules 1/2",
			"modules 2/2",
			"modules 2/2",
			"packages 0/3",
			"packages 1/3",
			"packages 2/3",
			"packages 3/3",
			"end",
		]);
	});

	test("leaves one folder in the cache: neither lock nor temporary files", async () => {
		const { resolve, cache } = machine();
		const { k6 } = await resolve();
		expect(readdirSync(path.join(cache, "bin"))).toEqual([path.basename(path.dirname(k6))]);
		expect(readdirSync(path.dirname(k6)).sort()).toEqual([
			"agent",
			"build.json",
			"k6",
			"nats-server",
		]);
	});

	test("builds a static binary for this machine, whatever the user's Go settings are", async () => {
		const { resolve, folder } = machine(
			{ download: 'env > "$PWD/../env"' },
			{
				GOFLAGS: "-mod=vendor",
				GOOS: "plan9",
				GOARCH: "mips",
				GOWORK: "/elsewhere",
				CGO_ENABLED: "1",
				GOPROXY: "https://proxy.example",
				GOPRIVATE: "example.com",
			},
		);
		await resolve();
		const seen = readFileSync(path.join(folder, "env"), "utf8");
		for (const line of [
			"GOFLAGS=-mod=readonly",
			"GOWORK=off",
			"CGO_ENABLED=0",
			"GOPROXY=https://proxy.example",
			"GOPRIVATE=example.com",
		])
			expect(seen.split("\n")).toContain(line);
		expect(seen).not.toMatch(/plan9|mips/);
	});
});

describe("a later use", () => {
	test("takes what is in the cache, and asks Go nothing", async () => {
		const { resolve, commands } = machine();
		await resolve();
		const before = commands().length;
		await resolve();
		expect(commands()).toHaveLength(before);
	});

	test.each(["k6", "nats-server", "agent"] as const)(
		"builds again when %s in the cache is damaged",
		async (program) => {
			const { resolve, commands } = machine();
			const found = await resolve();
			writeFileSync(pathOf(found, program), "half of it");
			await resolve();
			expect(builds(commands())).toBe(2);
			expect(statSync(pathOf(found, program)).size).toBeGreaterThan(20);
		},
	);

	test("builds again when build.json in the cache is no JSON", async () => {
		const { resolve, commands } = machine();
		const { k6 } = await resolve();
		writeFileSync(path.join(path.dirname(k6), "build.json"), "{");
		await resolve();
		expect(builds(commands())).toBe(2);
	});

	test("removes what a build that was killed has left", async () => {
		const { resolve, cache } = machine();
		const { k6 } = await resolve();
		const key = path.basename(path.dirname(k6));
		const bin = path.join(cache, "bin");
		writeFileSync(path.join(bin, `.${key}-killed`), "");
		writeFileSync(path.join(bin, ".other-busy"), "");
		writeFileSync(k6, "damaged");
		await resolve();
		expect(readdirSync(bin).sort()).toEqual([".other-busy", key].sort());
	});
});

describe("a build that fails says why in a sentence, and leaves nothing", () => {
	const fails = (words: string, code = 1) => `echo '${words}' >&2; exit ${code}`;

	test.each([
		[
			"the module proxy is unreachable",
			{
				download: fails(
					'go: go.k6.io/k6/v2@v2.1.0: Get "https://me:pw@proxy.example/x": dial tcp: lookup proxy.example: no such host',
				),
			},
			"go-proxy",
			/cannot be downloaded:\n {2}go: go\.k6\.io.*https:\/\/\*\*\*@proxy\.example.*no such host\nWays out: set GOPROXY/,
		],
		[
			"the proxy is unreachable, as go mod download -json words it",
			{
				download:
					'printf \'{\\n\\t"Path": "a",\\n\\t"Error": "a@v1: Get \\\\"https://proxy.example/a\\\\": dial tcp: connection refused"\\n}\\n\'; exit 1',
			},
			"go-proxy",
			/\n {2}a@v1: Get "https:\/\/proxy\.example\/a": dial tcp: connection refused\n/,
		],
		[
			"the toolchain cannot be fetched",
			{ env: fails("go: download go1.26.0 for linux/amd64: toolchain not available") },
			"go-proxy",
			/toolchain not available/,
		],
		[
			"a module is not what go.sum says",
			{
				download: fails(
					"verifying a@v1: checksum mismatch\n\tdownloaded: h1:x\n\tgo.sum: h1:y\nSECURITY ERROR",
				),
			},
			"go-sum",
			/is not what extensions\/go\.sum says.*SECURITY ERROR.*use another one/s,
		],
		[
			"the code does not compile",
			{ build: fails("./main.go:3:1: syntax error") },
			"go-build",
			/Go's last words:\n.*\.\/main\.go:3:1: syntax error/s,
		],
		[
			"the disk is full, among hundreds of package names",
			{
				build:
					"echo 'a.go:1:2: write /x: no space left on device' >&2; for i in $(seq 500); do echo example.com/p$i >&2; done; exit 1",
			},
			"build-disk-full",
			/No room to build/,
		],
		["Go says that all went well and has built nothing", { build: "exit 0" }, undefined, /ENOENT/],
	])("%s", async (_, go, code, message) => {
		const { resolve, cache, told } = machine(go);
		await expect(resolve()).rejects.toMatchObject({
			...(code && { code, exit: 3 }),
			message: expect.stringMatching(message),
		});
		expect(readdirSync(path.join(cache, "bin"))).toEqual([]);
		expect(told).not.toContain("end");
	});

	test.each([
		"go: a@v1: reading https://proxy.example/a/@v/v1.zip: 404 Not Found",
		"go: module lookup disabled by GOPROXY=off",
	])("the proxy does not give it: %s", async (words) => {
		const refused = machine({ download: fails(words) }).resolve();
		await expect(refused).rejects.toMatchObject({ code: "go-proxy" });
	});

	test("there is no Go", async () => {
		const { resolve } = machine(null);
		await expect(resolve()).rejects.toMatchObject({
			code: "go-missing",
			exit: 3,
			message: expect.stringMatching(/install Go .* or set MQBENCH_K6/),
		});
	});

	test.each([
		["go1.22.2", "local"],
		["go1.20.14", ""],
	])("Go is too old: %s with GOTOOLCHAIN=%s", async (version, toolchain) => {
		const { resolve } = machine({ env: `echo ${version}; echo ${toolchain}` });
		await expect(resolve()).rejects.toMatchObject({
			code: "go-old",
			message: expect.stringMatching(
				/^go1\.2\d\.\d+ is too old .* needs Go 1\.26 or newer \(GOTOOLCHAIN=local/,
			),
		});
	});

	test("an old Go that may fetch a newer one is not refused", async () => {
		const { resolve } = machine({
			env: 'if [ "$#" = 2 ]; then echo go1.22.2; echo auto; else echo go1.26.0; fi',
		});
		expect((await resolve()).go).toBe("go1.26.0");
	});

	test("the next try builds as if nothing had been", async () => {
		const { resolve, folder } = machine({ list: '[ -e "$PWD/../mended" ] || exit 1; echo a' });
		await expect(resolve()).rejects.toMatchObject({ code: "go-build" });
		writeFileSync(path.join(folder, "mended"), "");
		expect(existsSync((await resolve()).k6)).toBe(true);
	});
});

test("Ctrl-C ends Go with what it has started, and leaves nothing", async () => {
	const stop = new AbortController();
	const { resolve, cache, folder } = machine(
		{ build: 'sleep 100 & echo $! > "$PWD/../pid"; wait' },
		{},
		stop.signal,
	);
	const resolved = resolve();
	const pid = path.join(folder, "pid");
	while (!existsSync(pid)) await new Promise((r) => setTimeout(r, 10));
	stop.abort("SIGINT");
	await expect(resolved).rejects.toMatchObject({
		code: "interrupted",
		message: "Stopped by SIGINT.",
	});
	expect(runs(Number(readFileSync(pid, "utf8")))).toBe(false);
	expect(readdirSync(path.join(cache, "bin"))).toEqual([]);
});

// --- internal ---

function builds(commands: readonly string[]): number {
	return commands.filter((command) => command.startsWith("build ")).length;
}
