import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { laterPrograms } from "../../runner/brokers/index.ts";
import { platformName } from "../platform.ts";
import { script } from "../test-folder.fake.ts";
import { machine } from "./go.fake.ts";
import { pathOf } from "./real.fake.ts";

const HERE = platformName(process.platform, process.arch);
const OTHER = HERE === "linux/arm64" ? "linux/amd64" : "linux/arm64";
const builds = (lines: readonly string[], words = "build ") =>
	lines.filter((line) => line.includes(words));

test("two that need a build at once make one between them; the second is told whom it waits for", async () => {
	const { resolve, commands, told } = machine();
	const [first, second] = await Promise.all([resolve(), resolve()]);
	expect(second).toMatchObject({ ...first, server: expect.anything(), on: expect.anything() });
	expect(builds(commands())).toHaveLength(1);
	expect(builds(told, "Building")).toHaveLength(1);
	expect(told).toContainEqual(expect.stringContaining(`(pid ${process.pid}) is building`));
});

describe("programs for hosts", () => {
	test("of this machine's own platform are its own", async () => {
		const { resolve, commands } = machine();
		const own = await resolve();
		const before = commands();
		expect(await own.on(HERE, "h1")).toBe(own);
		expect(commands()).toEqual(before);
	});

	test("of another one are built for any of its processors, once for all hosts that need them", async () => {
		const { resolve, told, commands } = machine(
			{
				build: `
		while [ "$1" != -o ]; do shift; done
		for program in k6 nats-server agent; do
			printf '#!/bin/sh\\n# %s %s/%s %s k6/x/mqbench\\n' $program $GOOS $GOARCH "$GOAMD64 $GOARM64 $CGO_ENABLED" > "$2$program"
			chmod +x "$2$program"
		done`,
			},
			{ GOAMD64: "v4", GOARM64: "v9.0" },
		);
		const own = await resolve();
		const [theirs = own, ...more] = await Promise.all(
			["h1", "h2", "h3"].map((host) => own.on(OTHER, host)),
		);
		const again = await (await resolve()).on(OTHER, "h1");
		for (const one of more) expect(one.k6).toBe(again.k6);
		for (const program of ["k6", "nats-server", "agent"]) {
			const file = await pathOf(theirs, program);
			expect(readFileSync(file, "utf8")).toContain(`# ${program} ${OTHER} v1 v8.0 0 `);
			expect(statSync(file).mode & 0o111).not.toBe(0);
			const ours = readFileSync(await pathOf(own, program), "utf8");
			expect(ours).toContain(`${program} ${HERE}`);
		}
		expect(theirs.go).toBe("go1.26.8");
		expect(builds(told, `with Go for ${OTHER} hosts.`)).toHaveLength(1);
		expect(builds(commands())).toHaveLength(2);
	});

	test("are tried again after a build that failed; without Go the host is named, with the ways out", async () => {
		const { resolve, folder } = machine();
		const own = await resolve();
		const go = path.join(folder, "bin", "go");
		const text = readFileSync(go);
		writeFileSync(go, "exit 127\n");
		await expect(own.on(OTHER, "bench@h1")).rejects.toMatchObject({
			code: "programs-missing",
			message: `bench@h1: it is ${OTHER}, and its programs have to be built here with Go, which is not on PATH. Install Go (https://go.dev/dl, or your distribution's package), name hosts that are ${HERE}, or run mqbench on one that is ${OTHER}.`,
		});
		writeFileSync(go, text);
		expect((await own.on(OTHER, "h1")).k6).not.toBe(own.k6);
	});

	test("of a platform for which there are none are refused, with those that there are", async () => {
		const { on } = await machine().resolve();
		await expect(on("linux/riscv64", "bench@h1")).rejects.toMatchObject({
			code: "programs-missing",
			exit: 3,
			message: expect.stringMatching(
				/^bench@h1: it is linux\/riscv64, and mqbench has no programs for that, only for linux\/amd64 and .*linux\/arm64.*\. Name other hosts, or run mqbench on one that is linux\/riscv64\.$/,
			),
		});
	});
});

test("a server that is not needed by every run is built when it is asked for, once, and not anew when something else changes", async () => {
	const [{ name = "" } = {}] = laterPrograms;
	const { resolve, told, commands, cache, extensions } = machine();
	const { server, k6 } = await resolve();
	expect(builds(told, `Building ${name} with Go`)).toEqual([]);
	const [first, second] = await Promise.all([server(name), server(name)]);
	expect(readFileSync(first, "utf8")).toContain(name);
	expect(second).toBe(first);
	expect(builds(told, `Building ${name} with Go`)).toHaveLength(1);
	expect(readdirSync(path.join(cache, "bin"))).toHaveLength(2);
	writeFileSync(path.join(extensions, "main.go"), "package main // other\n");
	const again = await resolve();
	expect(again.k6).not.toBe(k6);
	expect(await again.server(name)).toBe(first);
	expect(builds(commands())).toHaveLength(3);
});

test("the first k6 drives NATS and no broker; that of all drivers is built when a scenario first has another system, unless MQBENCH_K6 is set", async () => {
	const { resolve, told, commands, world } = machine();
	const { k6 } = await resolve();
	const all = await resolve([{ broker: "nats" }, { broker: "kafka" }]);
	expect(all.k6).not.toBe(k6);
	expect((await resolve([{ broker: "sqs" }])).k6).toBe(all.k6);
	expect((await resolve([{ broker: "nats" }, { broker: "noop" }])).k6).toBe(k6);
	expect(builds(told, "Building")).toEqual([
		expect.stringContaining("the load generator"),
		expect.stringMatching(/^Building k6 with the drivers of all systems/),
	]);
	expect(builds(commands()).map((one) => one.includes("-tags drivers"))).toEqual([false, true]);
	const own = machine({}, { ...world.env, MQBENCH_K6: k6 });
	expect((await own.resolve([{ broker: "kafka" }])).k6).toBe(k6);
});

test("a cache folder that cannot be used as a part of its path is a file, is named with the reason", async () => {
	const { resolve, cache } = machine();
	writeFileSync(cache, "");
	await expect(resolve()).rejects.toMatchObject({
		code: "cache-unwritable",
		exit: 3,
		message: `The cache folder ${path.join(cache, "bin")} cannot be used (a part of the path is a file). Set MQBENCH_CACHE_DIR to a folder that you can write to.`,
	});
});

describe("MQBENCH_K6", () => {
	const OURS = "echo 'Extensions:'; echo '  k6/x/mqbench v1 [js]'";
	const own = (k6: string | null, neighbours = ["nats-server", "agent"]) => {
		const found = machine(null, { MQBENCH_K6: "mine/k6" });
		const mine = path.join(found.folder, "mine");
		mkdirSync(mine);
		if (k6 !== null) script(path.join(mine, "k6"), k6);
		for (const name of neighbours) script(path.join(mine, name), "exit 0");
		return { ...found, mine };
	};

	test("names a k6 that is used with what lies beside it, and no Go is needed, except for hosts of another platform", async () => {
		const { resolve, mine } = own(OURS);
		const found = await resolve();
		expect(found).toMatchObject({
			k6: path.join(mine, "k6"),
			agent: path.join(mine, "agent"),
			go: null,
		});
		expect(await found.server("nats-server")).toBe(path.join(mine, "nats-server"));
		await expect(found.on(OTHER, "bench@h1")).rejects.toMatchObject({
			code: "programs-missing",
			message: expect.stringContaining("have to be built here with Go"),
		});
	});

	test.each([
		["a stock k6", "echo k6 v2.1.0", "built without the extension k6/x/mqbench"],
		["nothing", null, "there is no such file"],
		["what fails", "echo no >&2; exit 7", "it does not run"],
		["a file that is not executable", OURS, "permission denied"],
	])("names %s: refused with the reason", async (_, k6, reason) => {
		const { resolve, mine } = own(k6);
		if (reason === "permission denied") chmodSync(path.join(mine, "k6"), 0o644);
		await expect(resolve()).rejects.toMatchObject({
			code: "k6-unusable",
			exit: 3,
			message: expect.stringContaining(reason),
		});
	});

	test.each([
		[["agent"], "nats-server must be in the same folder and is not"],
		[[], "agent and nats-server must be in the same folder and are not"],
	])("with only %j beside it is refused", async (neighbours, reason) => {
		await expect(own(OURS, neighbours).resolve()).rejects.toThrow(reason);
	});
});
