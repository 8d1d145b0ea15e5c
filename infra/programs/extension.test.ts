import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { zipSync } from "fflate";
import { describe, expect, test } from "vitest";
import { fakeWorld } from "../../runner/world.fake.ts";
import { testFolder } from "../test-folder.fake.ts";
import { extension, MANIFEST } from "./extension.fake.ts";
import { readExtension, readExtensions, treeSum } from "./extension.ts";

const inFolder = (cwd: string, named = { path: "./xk6-mybroker" }) =>
	readExtension(named, fakeWorld({ cwd, env: process.env }));

test("a folder is its module, manifest and sum", async () => {
	const cwd = extension();
	const found = await inFolder(cwd);
	expect(found).toMatchObject({
		module: "example.com/xk6-mybroker",
		version: null,
		title: "example.com/xk6-mybroker in ./xk6-mybroker",
		manifest: { broker: "mybroker", local: { ready: "port" } },
	});
	expect(found.sum).toMatch(/^h1:[A-Za-z0-9+/]{43}=$/);
});

test("the sum follows every file and name, but not git's, a go.work, scenarios or results", async () => {
	const at = (files: Record<string, string>) => {
		const folder = testFolder();
		for (const [name, text] of Object.entries(files)) {
			mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
			writeFileSync(path.join(folder, name), text);
		}
		return treeSum(folder);
	};
	const sum = await at({ "a.go": "a", "b/c.go": "c" });
	expect(await at({ "a.go": "a", "b/c.go": "c", ".git/HEAD": "x", "go.work": "y" })).toBe(sum);
	const results = {
		"s.yaml": "x",
		"s.lock": "x",
		"out/command.json": "{}",
		"out/runs/1/plan.json": "{}",
	};
	expect(await at({ "a.go": "a", "b/c.go": "c", ...results })).toBe(sum);
	for (const other of [
		{ "a.go": "a" },
		{ "a.go": "b", "b/c.go": "c" },
		{ "a.go": "a", "c.go": "c" },
	])
		expect(await at(other)).not.toBe(sum);
});

describe("is refused in one sentence, and nothing is run", () => {
	const without = (key: string) => JSON.stringify({ ...MANIFEST, [key]: undefined });
	const option = (schema: unknown) => ({ ...MANIFEST, options: { properties: { a: schema } } });
	const local = (...command: string[]) => ({ ...MANIFEST, local: { command } });
	const deep = `${"[".repeat(30_000)}${"]".repeat(30_000)}`;

	test.each<[string, unknown, RegExp]>([
		["no JSON", "{", /mqbench.json, cannot be read: it is not JSON/],
		["huge", `"${"x".repeat(70_000)}"`, /larger than 64KiB/],
		["a list", [], /mqbench.json: .*expected object/],
		[
			"deep",
			`{"contract":1,"options":{"properties":{"a":{"description":"x","default":${deep}}}}}`,
			/mqbench.json/,
		],
		["without a contract", without("contract"), /mqbench.json contract/],
		["without a title", without("title"), /mqbench.json title/],
		["an unknown key", { ...MANIFEST, run: "rm -rf ~" }, /Unrecognized key: "run"/],
		[
			"an unknown key below",
			{ ...MANIFEST, traits: { fast: true } },
			/mqbench.json traits: Unrecognized key: "fast"/,
		],
		["a name of ours", { ...MANIFEST, broker: "kafka" }, /mqbench has a kafka of its own/],
		[
			"a name that is a path",
			{ ...MANIFEST, broker: "../x" },
			/mqbench.json broker: must be a lowercase word/,
		],
		["a prototype", `{"contract":1,"__proto__":{"broker":"x"}}`, /mqbench.json/],
		[
			"an option of ours",
			option({ description: "x" }).options && {
				...MANIFEST,
				options: { properties: { command: { description: "x" } } },
			},
			/mqbench has that option itself/,
		],
		[
			"a regular expression",
			option({ type: "string", pattern: "(a+)+$", description: "x" }),
			/Unrecognized key: "pattern"/,
		],
		["a reference", option({ $ref: "#", description: "x" }), /Unrecognized key: "\$ref"/],
		["a title of two lines", { ...MANIFEST, title: "a\u001b[2Jb" }, /title: must be one line/],
		["a command that leads out", local("{module}/../../bin/sh"), /must not lead out of the module/],
		[
			"an argument that leads out",
			local("node", "{module}/../x"),
			/must not lead out of the module/,
		],
		["a program by its path", local("/bin/sh", "-c", "x"), /must begin with the name of a program/],
	])("%s", async (_, manifest, message) => {
		const cwd = extension(manifest);
		const said = await inFolder(cwd).catch((error) => error);
		expect(said).toMatchObject({ code: "extension-refused", exit: 2 });
		expect(said.message).toMatch(message);
		expect(said.message).toMatch(
			/^\.\/xk6-mybroker: .*mqbench\.json.* Correct .*Nothing of it was run\.$/,
		);
		expect(said.message.split("\n")).toHaveLength(1);
	});

	test("another contract, with both numbers, whatever else its manifest has", async () => {
		const cwd = extension({ contract: 7, name: "of tomorrow" });
		await expect(inFolder(cwd)).rejects.toMatchObject({
			code: "extension-contract",
			message: expect.stringContaining(
				"for contract 7 of mqbench's drivers, and this mqbench has contract 1",
			),
		});
	});

	test.each<[string, Record<string, string>, RegExp]>([
		["no module", { "go.mod": "go 1.26" }, /names no module/],
		[
			"a module of ours",
			{ "go.mod": "module github.com/nats-io/nats.go" },
			/which mqbench itself uses/,
		],
		["shell characters", { "go.mod": "module x;$(touch\tevil)" }, /names no module/],
	])("%s", async (_, files, message) => {
		const cwd = extension(MANIFEST, files);
		await expect(inFolder(cwd)).rejects.toThrow(message);
		expect(readdirSync(cwd)).toEqual(["xk6-mybroker"]);
	});

	test("a link, which may lead out of it", async () => {
		const cwd = extension();
		symlinkSync("/etc", path.join(cwd, "xk6-mybroker/etc"));
		await expect(inFolder(cwd)).rejects.toThrow(
			/"etc" in it is not a plain file, and may lead out of it/,
		);
	});

	test("a manifest that is a link", async () => {
		const cwd = extension(MANIFEST, { "go.mod": "module x" });
		const folder = path.join(cwd, "other");
		mkdirSync(folder);
		writeFileSync(path.join(folder, "go.mod"), "module x");
		symlinkSync("/etc/passwd", path.join(folder, "mqbench.json"));
		await expect(inFolder(cwd, { path: "other" })).rejects.toThrow(/it is a symbolic link/);
	});

	test.each(["nowhere", "; touch evil", "$(touch evil)", "xk6-mybroker/go.mod"])(
		"path: %s",
		async (named) => {
			const cwd = extension();
			await expect(inFolder(cwd, { path: named })).rejects.toMatchObject({
				code: "extension-refused",
			});
			expect(readdirSync(cwd)).toEqual(["xk6-mybroker"]);
		},
	);

	test("what is missing is named", async () => {
		const cwd = extension();
		mkdirSync(path.join(cwd, "empty"));
		for (const [named, file] of [
			["nowhere", "nowhere"],
			["empty", "empty/go.mod"],
		] as const)
			await expect(inFolder(cwd, { path: named })).rejects.toThrow(
				`there is no ${path.join(cwd, file)}. Correct that file, or the path.`,
			);
	});

	test("the same broker twice", async () => {
		const cwd = extension();
		const twice = [{ path: "xk6-mybroker" }, { path: "./xk6-mybroker" }];
		await expect(readExtensions(twice, fakeWorld({ cwd, env: process.env }))).rejects.toThrow(
			/xk6-mybroker has the same broker or module/,
		);
	});
});

describe("a module of a proxy", () => {
	const named = { module: "example.com/xk6-mybroker", version: "v1.2.3" };

	/** A proxy in a folder, and an own cache of modules. */
	function proxy(manifest: unknown = MANIFEST) {
		const folder = testFolder();
		const at = path.join(folder, "example.com/xk6-mybroker/@v");
		mkdirSync(at, { recursive: true });
		const mod = "module example.com/xk6-mybroker\n\ngo 1.26.0\n";
		const name = `${named.module}@${named.version}`;
		const bytes = (text: string) => new TextEncoder().encode(text);
		writeFileSync(path.join(at, "list"), "v1.2.3\n");
		writeFileSync(
			path.join(at, "v1.2.3.info"),
			'{"Version":"v1.2.3","Time":"2026-01-01T00:00:00Z"}',
		);
		writeFileSync(path.join(at, "v1.2.3.mod"), mod);
		writeFileSync(
			path.join(at, "v1.2.3.zip"),
			zipSync({
				[`${name}/go.mod`]: bytes(mod),
				[`${name}/mqbench.json`]: bytes(JSON.stringify(manifest)),
			}),
		);
		const env = {
			...process.env,
			GOPROXY: `file://${folder}`,
			GONOSUMDB: "*",
			GOFLAGS: "-modcacherw",
			GOMODCACHE: path.join(testFolder(), "modules"),
		};
		return { env, world: fakeWorld({ cwd: folder, env }) };
	}

	test("has the sum that Go computes, and a manifest that is read from Go's own copy", async () => {
		const { world, env } = proxy();
		const found = await readExtension(named, world);
		expect(found).toMatchObject({ ...named, title: "example.com/xk6-mybroker v1.2.3" });
		const said = execFileSync(
			"go",
			["mod", "download", "-json", `${named.module}@${named.version}`],
			{ cwd: "/", env, encoding: "utf8" },
		);
		expect(found.sum).toBe(JSON.parse(said).Sum);
	});

	test("that is not there is a sentence", async () => {
		const { world } = proxy();
		await expect(readExtension({ ...named, version: "v9.9.9" }, world)).rejects.toMatchObject({
			code: "extension-refused",
			message: expect.stringMatching(
				/^example.com\/xk6-mybroker v9.9.9: .*it cannot be downloaded: .*v9\.9\.9/,
			),
		});
	});
});
