import { chmodSync, cpSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { laterPrograms } from "../../runner/brokers/index.ts";
import { sha256OfFile } from "../../runner/sha256.ts";
import { buildKey } from "./build.ts";
import { type FakeGo, machine } from "./go.fake.ts";
import type { Manifest } from "./packed.ts";
import { ALL_DRIVERS, FIRST, HERE } from "./programs.ts";

const NAME = HERE.packageName;

/** A machine with the package of this platform beside its extensions, made from what its Go has built there; then the Go is gone. */
async function packed(go: FakeGo | null = null) {
	const of = machine();
	const { k6 } = await of.resolve();
	const folder = path.join(of.folder, "node_modules", NAME);
	const bin = path.join(folder, "bin");
	cpSync(path.dirname(k6), bin, { recursive: true });
	rmSync(path.join(bin, "build.json"));
	const sha256: Record<string, string> = {};
	for (const name of readdirSync(bin)) sha256[name] = await sha256OfFile(path.join(bin, name));
	const key = (programs: typeof FIRST) => buildKey(of.extensions, "1.2.3", HERE, programs);
	const manifest: Manifest = {
		schema: 1,
		mqbench: "1.2.3",
		platform: "any",
		go: "go9.9.9",
		builds: [key(FIRST), key(ALL_DRIVERS)],
		sha256,
		modules: [],
	};
	writeFileSync(path.join(folder, "manifest.json"), JSON.stringify(manifest));
	writeFileSync(
		path.join(of.folder, "package.json"),
		JSON.stringify({ optionalDependencies: { [NAME]: "1.2.3" } }),
	);
	rmSync(of.cache, { recursive: true });
	if (go === null) rmSync(path.join(of.folder, "bin", "go"));
	return { ...of, bin, package: folder };
}

describe("with the package of the platform", () => {
	test("nothing is built, and what runs is said: also for systems whose drivers a first run does not build", async () => {
		const { resolve, bin, cache, told } = await packed();
		const before = told.length;
		for (const systems of [[], [{ broker: "kafka" }]]) {
			const found = await resolve(systems as never);
			expect(found.k6).toBe(path.join(bin, "k6"));
			expect(found.go).toBe("go9.9.9");
			expect(found.origin).toBe(`package ${NAME} 1.2.3`);
		}
		expect(told.slice(before)).toEqual([]);
		expect(() => readdirSync(cache)).toThrow("ENOENT");
	});

	test("one of other sources is passed over, and the programs are built", async () => {
		const { resolve, extensions, cache } = await packed({});
		writeFileSync(path.join(extensions, "main.go"), "package main // new\n");
		const found = await resolve();
		expect(found.k6).toContain(cache);
		expect(found.origin).toBe("built here from extensions/");
	});

	test.each<[string, (of: Awaited<ReturnType<typeof packed>>) => void, string]>([
		[
			"of other sources",
			({ extensions }) => writeFileSync(path.join(extensions, "main.go"), "package main // new\n"),
			`The package ${NAME} is not used: it was made of other sources (mqbench 1.2.3).`,
		],
		[
			"with a changed file",
			({ bin }) => writeFileSync(path.join(bin, "k6"), "other"),
			"k6 in it is not what was packed: install it again",
		],
		[
			"without a file",
			({ bin }) => rmSync(path.join(bin, "agent")),
			"agent in it is missing: install it again",
		],
		[
			"whose manifest cannot be read",
			({ bin }) => writeFileSync(path.join(bin, "../manifest.json"), "{"),
			"its manifest.json cannot be read",
		],
		[
			"that was left out",
			({ package: folder }) => rmSync(folder, { recursive: true }),
			`The package ${NAME}, which has it built, is not installed: it was left out (--omit=optional)`,
		],
	])("one %s is never run, and without Go a sentence says so", async (_, harm, sentence) => {
		const of = await packed();
		harm(of);
		await expect(of.resolve()).rejects.toMatchObject({
			code: "go-missing",
			message: expect.stringContaining(sentence),
		});
	});

	test("programs that lost the right to run get it back", async () => {
		const { resolve, bin } = await packed();
		for (const name of readdirSync(bin)) chmodSync(path.join(bin, name), 0o644);
		const { k6 } = await resolve();
		expect(k6).toBe(path.join(bin, "k6"));
		expect(statSync(k6).mode & 0o777).toBe(0o755);
	});

	test("a server that is not in it needs Go, and says so", async () => {
		const [{ name = "" } = {}] = laterPrograms;
		const { server } = await (await packed()).resolve();
		await expect(server(name)).rejects.toMatchObject({
			code: "go-missing",
			message: expect.stringContaining(`${name} is not among its programs`),
		});
	});

	test("MQBENCH_K6 comes before it", async () => {
		const { bin, folder, world } = await packed();
		const own = path.join(folder, "own");
		cpSync(bin, own, { recursive: true });
		const env = { ...world.env, MQBENCH_K6: path.join(own, "k6") };
		expect(await machine(null, env).resolve()).toMatchObject({
			k6: path.join(own, "k6"),
			origin: "named by MQBENCH_K6",
			go: null,
		});
	});
});

test("a clone, which offers no package, does not speak of one", async () => {
	const { resolve, folder } = machine(null);
	writeFileSync(path.join(folder, "package.json"), "{}");
	await expect(resolve()).rejects.toMatchObject({
		code: "go-missing",
		message: expect.not.stringContaining("@mqbench"),
	});
});
