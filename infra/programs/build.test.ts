import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { machine } from "./go.fake.ts";
import { pathOf } from "./real.fake.ts";

const PROGRAMS = ["k6", "nats-server", "agent"];

describe("the first use", () => {
	test("builds all programs into one folder of the cache, and says how far it is", async () => {
		const { resolve, told, cache } = machine();
		const found = await resolve();
		const bin = path.join(cache, "bin");
		const folder = path.dirname(found.k6);
		// Neither a lock nor temporary files.
		expect(readdirSync(bin).map((name) => path.join(bin, name))).toEqual([folder]);
		expect(readdirSync(folder).sort()).toEqual([...PROGRAMS, "build.json"].sort());
		for (const program of PROGRAMS)
			expect(statSync(await pathOf(found, program)).mode & 0o111).not.toBe(0);
		expect(found.go).toBe("go1.26.8");
		expect(told).toEqual([
			"Building the load generator (k6 with mqbench's extensions) and nats-server with Go. This happens once, and takes 100 to 150 seconds on 2 cores.",
			...["modules 0/2", "modules 1/2", "modules 2/2"],
			...["packages 0/3", "packages 1/3", "packages 2/3"],
			expect.stringMatching(/^Built in /),
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
		const before = commands();
		await resolve();
		expect(commands()).toEqual(before);
	});

	test.each([...PROGRAMS, "build.json"])(
		"builds again when %s in the cache is damaged, and removes what killed builds have left",
		async (name) => {
			const { resolve, commands, cache } = machine();
			const folder = path.dirname((await resolve()).k6);
			const [key, bin] = [path.basename(folder), path.join(cache, "bin")];
			writeFileSync(path.join(folder, name), "{");
			writeFileSync(path.join(bin, `.${key}-killed`), "");
			writeFileSync(path.join(bin, ".other-busy"), "");
			await resolve();
			expect(commands().filter((command) => command.startsWith("build "))).toHaveLength(2);
			expect(statSync(path.join(folder, name)).size).toBeGreaterThan(20);
			expect(readdirSync(bin).sort()).toEqual([".other-busy", key].sort());
		},
	);
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
			"the proxy does not have it",
			{ download: fails("go: a@v1: reading https://proxy.example/a/@v/v1.zip: 404 Not Found") },
			"go-proxy",
			/404 Not Found/,
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
		expect(told).not.toContainEqual(expect.stringMatching(/^Built/));
	});

	test("there is no Go", async () => {
		await expect(machine(null).resolve()).rejects.toMatchObject({
			code: "go-missing",
			exit: 3,
			message: expect.stringMatching(/install Go .* or set MQBENCH_K6/),
		});
	});

	test("the next try builds as if nothing had been", async () => {
		const { resolve, folder } = machine({ list: '[ -e "$PWD/../mended" ] || exit 1; echo a' });
		await expect(resolve()).rejects.toMatchObject({ code: "go-build" });
		writeFileSync(path.join(folder, "mended"), "");
		expect(existsSync((await resolve()).k6)).toBe(true);
	});
});
