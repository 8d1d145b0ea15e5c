import {
	chmodSync,
	cpSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { laterPrograms, withLargeDriver } from "../../runner/brokers/index.ts";
import { sha256OfFile } from "../../runner/sha256.ts";
import { BUILD_FLAGS } from "./build.ts";
import { buildKey } from "./cache.ts";
import { type FakeGo, machine } from "./go.fake.ts";
import { type Manifest, packageName } from "./packed.ts";
import { FIRST, LARGE } from "./programs.ts";

const NAME = packageName(process.platform, process.arch);

/** A machine with the package of this platform beside its extensions, made from what its Go has built there; then the Go is gone. */
async function packed(go: FakeGo | null = null) {
	const of = machine();
	const { k6, server } = await of.resolve();
	const folder = path.join(of.folder, "node_modules", NAME);
	const bin = path.join(folder, "bin");
	cpSync(path.dirname(k6), bin, { recursive: true });
	rmSync(path.join(bin, "build.json"));
	const sha256: Record<string, string> = {};
	for (const name of readdirSync(bin)) sha256[name] = await sha256OfFile(path.join(bin, name));
	const key = (programs: typeof FIRST) =>
		buildKey(of.extensions, process.platform, process.arch, [...BUILD_FLAGS, "1.2.3"], programs);
	const manifest: Manifest = {
		schema: 1,
		mqbench: "1.2.3",
		platform: "any",
		go: "go9.9.9",
		builds: [key(FIRST), key(LARGE)],
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
	return { ...of, bin, package: folder, manifest, server };
}

describe("with the package of the platform", () => {
	test("nothing is built, and what runs is said: also the k6 of drivers that take long to compile", async () => {
		const { resolve, bin, cache, told } = await packed();
		const before = told.length;
		const [broker = ""] = withLargeDriver();
		for (const systems of [[], [{ broker }]]) {
			const found = await resolve(systems as never);
			expect(found.k6).toBe(path.join(bin, "k6"));
			expect(found.go).toBe("go9.9.9");
			expect(found.origin).toBe(`package ${NAME} 1.2.3`);
		}
		expect(told.slice(before)).toEqual([]);
		expect(() => readdirSync(cache)).toThrow("ENOENT");
	});

	test("one of other sources is passed over: without Go a sentence says so, with Go it is built", async () => {
		const without = await packed();
		const change = ({ extensions }: typeof without) =>
			writeFileSync(path.join(extensions, "main.go"), "package main // new\n");
		change(without);
		await expect(without.resolve()).rejects.toMatchObject({
			code: "go-missing",
			message: expect.stringContaining(
				`The package ${NAME} is not used: it was made of other sources (mqbench 1.2.3).`,
			),
		});
		const other = await packed({});
		change(other);
		const found = await other.resolve();
		expect(found.k6).toContain(other.cache);
		expect(found.origin).toBe("built here from extensions/");
	});

	test.each([
		[
			"changed",
			(bin: string) => writeFileSync(path.join(bin, "k6"), "other"),
			"k6 in it is not what was packed: install it again",
		],
		[
			"missing",
			(bin: string) => rmSync(path.join(bin, "agent")),
			"agent in it is missing: install it again",
		],
		[
			"unreadable",
			(bin: string) => writeFileSync(path.join(bin, "../manifest.json"), "{"),
			"its manifest.json cannot be read",
		],
	])("a file that is %s is never run", async (_, harm, sentence) => {
		const { resolve, bin } = await packed();
		harm(bin);
		await expect(resolve()).rejects.toMatchObject({
			code: "go-missing",
			message: expect.stringContaining(sentence),
		});
	});

	test("one that was left out is named, with what leaves it out", async () => {
		const { resolve, package: folder } = await packed();
		rmSync(folder, { recursive: true });
		await expect(resolve()).rejects.toMatchObject({
			message: expect.stringMatching(/ is not installed: .*--omit=optional/),
		});
	});

	test("programs that lost the right to run are copied into the cache, once", async () => {
		const { resolve, bin, cache } = await packed();
		for (const name of readdirSync(bin)) chmodSync(path.join(bin, name), 0o644);
		const { k6, origin } = await resolve();
		expect(k6).toContain(cache);
		expect(readFileSync(k6)).toEqual(readFileSync(path.join(bin, "k6")));
		expect(origin).toBe(`package ${NAME} 1.2.3`);
		chmodSync(k6, 0o700);
		expect((await resolve()).k6).toBe(k6);
		// It would be 755 again.
		expect(readdirSync(path.join(cache, "bin"))).toHaveLength(1);
	});

	test("a server that is not in it needs Go, and says so", async () => {
		const { resolve } = await packed();
		const [{ name = "" } = {}] = laterPrograms;
		const { server } = await resolve();
		await expect(server(name)).rejects.toMatchObject({
			code: "go-missing",
			message: expect.stringContaining(`${name} is not among its programs`),
		});
	});

	test("MQBENCH_K6 comes before it", async () => {
		const { bin, folder, world, extensions, cache } = await packed();
		const own = path.join(folder, "own");
		mkdirSync(own);
		cpSync(bin, own, { recursive: true });
		const env = { ...world.env, MQBENCH_K6: path.join(own, "k6") };
		const found = await machine(null, env).resolve();
		expect(found).toMatchObject({
			k6: path.join(own, "k6"),
			origin: "named by MQBENCH_K6",
			go: null,
		});
		expect([extensions, cache].some((one) => found.k6.startsWith(one))).toBe(false);
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
