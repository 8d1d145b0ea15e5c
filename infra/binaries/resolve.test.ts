import {
	chmodSync,
	copyFileSync,
	cpSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	writeFileSync,
} from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { laterPrograms, withLargeDriver } from "../../runner/brokers/index.ts";
import { script } from "../test-folder.fake.ts";
import { machine } from "./go.fake.ts";

test("two that need a build at once make one between them; the second is told whom it waits for", async () => {
	const { resolve, commands, told } = machine();
	const [first, second] = await Promise.all([resolve(), resolve()]);
	expect(second).toMatchObject({ ...first, server: expect.anything(), on: expect.anything() });
	expect(commands().filter((c) => c.startsWith("build "))).toHaveLength(1);
	expect(told.filter((t) => t === "begin")).toHaveLength(1);
	expect(told).toContain(`waiting for ${process.pid}`);
});

describe("a server that is not needed by every run", () => {
	const [{ name = "" } = {}] = laterPrograms;

	test("is built when it is asked for, once, and kept beside the others", async () => {
		const { resolve, told, commands, cache } = machine();
		const { server } = await resolve();
		expect(told).not.toContain(`begin ${name}`);
		const [first, second] = await Promise.all([server(name), server(name)]);
		expect(readFileSync(first, "utf8")).toContain(name);
		expect(second).toBe(first);
		expect(await (await resolve()).server(name)).toBe(first);
		expect(told.filter((one) => one === `begin ${name}`)).toHaveLength(1);
		expect(commands().filter((one) => one.startsWith("build "))).toHaveLength(2);
		expect(readdirSync(path.join(cache, "bin"))).toHaveLength(2);
	});

	test("is not built anew when something else changes", async () => {
		const { resolve, extensions } = machine();
		const { k6, server } = await resolve();
		const before = await server(name);
		writeFileSync(path.join(extensions, "main.go"), "package main // other\n");
		const again = await resolve();
		expect(again.k6).not.toBe(k6);
		expect(await again.server(name)).toBe(before);
	});

	test("is taken from beside MQBENCH_K6, if it lies there", async () => {
		const { resolve, folder, world } = machine();
		const { k6, server } = await resolve();
		const own = path.join(folder, "own");
		cpSync(path.dirname(k6), own, { recursive: true });
		const env = { ...world.env, MQBENCH_K6: path.join(own, "k6") };
		const named = await machine({}, env).resolve();
		expect(await named.server(name)).not.toContain(own);
		copyFileSync(await server(name), path.join(own, name));
		const beside = await machine({}, env).resolve();
		expect(await beside.server(name)).toBe(path.join(own, name));
	});
});

describe("a system whose driver takes long to compile", () => {
	const [broker = ""] = withLargeDriver();

	test("gets a k6 of its own, built when it is first measured; others have the one that is there", async () => {
		const { resolve, told, commands } = machine();
		const { k6 } = await resolve();
		const large = await resolve([{ broker }]);
		expect(large.k6).not.toBe(k6);
		expect((await resolve([{ broker }])).k6).toBe(large.k6);
		expect((await resolve([{ broker: "nats" }])).k6).toBe(k6);
		expect(told.filter((one) => one.startsWith("begin"))).toEqual([
			"begin",
			expect.stringMatching(/^begin k6 with the drivers of .*NATS Streaming/),
		]);
		expect(
			commands()
				.filter((one) => one.startsWith("build "))
				.map((one) => one.includes("-tags large")),
		).toEqual([false, true]);
	});

	test("is measured with MQBENCH_K6, if that is set", async () => {
		const { resolve, world } = machine();
		const { k6 } = await resolve();
		const own = machine({}, { ...world.env, MQBENCH_K6: k6 });
		expect((await own.resolve([{ broker }])).k6).toBe(k6);
	});
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
	const own = (k6: string | null, neighbours = ["nats-server", "agent"]) => {
		const found = machine(null, { MQBENCH_K6: "mine/k6" });
		const mine = path.join(found.folder, "mine");
		mkdirSync(mine);
		if (k6 !== null) script(path.join(mine, "k6"), k6);
		for (const name of neighbours) script(path.join(mine, name), "exit 0");
		return { ...found, mine };
	};
	const OURS = "echo 'Extensions:'; echo '  k6/x/mqbench v1 [js]'";

	test("names a k6 that is used with what lies beside it, and no Go is needed", async () => {
		const { resolve, mine } = own(OURS);
		expect(await resolve()).toMatchObject({
			k6: path.join(mine, "k6"),
			brokers: { "nats-server": path.join(mine, "nats-server") },
			agent: path.join(mine, "agent"),
			go: null,
		});
	});

	test("names programs of this machine only: for hosts of another platform there must be a Go", async () => {
		const { resolve } = own(OURS);
		const { on } = await resolve();
		const other = process.arch === "arm64" ? "linux/amd64" : "linux/arm64";
		await expect(on(other, "bench@h1")).rejects.toMatchObject({
			code: "programs-missing",
			exit: 3,
			message: expect.stringMatching(
				/^bench@h1: it is linux\/\w+, and MQBENCH_K6 names programs of this machine only \(\w+\/\w+\), and those for linux\/\w+ have to be built here with Go, which is not on PATH\. Install Go /,
			),
		});
	});

	test.each([
		["a stock k6", "echo k6 v2.1.0", "built without the extension k6/x/mqbench"],
		["nothing", null, "there is no such file"],
		["what fails", "echo no >&2; exit 7", "it does not run"],
	])("names %s: refused with the reason", async (_, k6, reason) => {
		const { resolve } = own(k6);
		await expect(resolve()).rejects.toMatchObject({
			code: "k6-unusable",
			exit: 3,
			message: expect.stringContaining(reason),
		});
	});

	test("names a file that is not executable: refused with the reason", async () => {
		const { resolve, mine } = own(OURS);
		chmodSync(path.join(mine, "k6"), 0o644);
		await expect(resolve()).rejects.toMatchObject({
			code: "k6-unusable",
			message: expect.stringContaining("it is not executable"),
		});
	});

	test.each([
		[["agent"], "nats-server must lie beside it and does not"],
		[[], "agent and nats-server must lie beside it and do not"],
	])("with only %j beside it is refused", async (neighbours, reason) => {
		const { resolve } = own(OURS, neighbours);
		await expect(resolve()).rejects.toThrow(reason);
	});
});
