import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { testFolder } from "../test-folder.fake.ts";
import { buildKey, cacheFolder } from "./cache.ts";

describe("the cache folder", () => {
	const home = { HOME: "/home/me" };
	test.each([
		["linux", home, "/home/me/.cache/mqbench"],
		["linux", { ...home, XDG_CACHE_HOME: "/xdg" }, "/xdg/mqbench"],
		// The XDG rules: a relative path is to be ignored.
		["linux", { ...home, XDG_CACHE_HOME: "xdg" }, "/home/me/.cache/mqbench"],
		["linux", { ...home, XDG_CACHE_HOME: "" }, "/home/me/.cache/mqbench"],
		["freebsd", { ...home, XDG_CACHE_HOME: "/xdg" }, "/xdg/mqbench"],
		["darwin", home, "/home/me/Library/Caches/mqbench"],
		["darwin", { ...home, XDG_CACHE_HOME: "/xdg" }, "/home/me/Library/Caches/mqbench"],
		["win32", { ...home, LOCALAPPDATA: "/local" }, "/local/mqbench/Cache"],
		["win32", home, "/home/me/AppData/Local/mqbench/Cache"],
		["linux", { ...home, MQBENCH_CACHE_DIR: "/mine" }, "/mine"],
		["darwin", { ...home, MQBENCH_CACHE_DIR: "/mine" }, "/mine"],
		["win32", { LOCALAPPDATA: "/local", MQBENCH_CACHE_DIR: "/mine" }, "/mine"],
	])("on %s with %j is %s", (platform, env, folder) => {
		expect(cacheFolder(env, platform)).toBe(folder);
	});
});

describe("the key of a build", () => {
	const sources = () => {
		const folder = testFolder();
		mkdirSync(path.join(folder, "cmd"));
		writeFileSync(path.join(folder, "go.mod"), "module x\n");
		writeFileSync(path.join(folder, "go.sum"), "");
		writeFileSync(path.join(folder, "cmd", "main.go"), "package main\n");
		return folder;
	};
	const key = (folder: string, flags = ["-a"]) => buildKey(folder, "linux", "x64", flags);

	test("is the same for the same sources, wherever they lie", () => {
		expect(key(sources())).toBe(key(sources()));
		expect(key(sources())).toMatch(/^[0-9a-f]{16}$/);
	});

	test.each([
		["go.mod", "module y\n"],
		["go.sum", "x"],
		["cmd/main.go", "package main // new\n"],
		["cmd/other.go", "package main\n"],
		["cmd/defaults.json", "{}"],
		["cmd/go.mod", "module z\n"],
	])("changes with %s", (file, text) => {
		const folder = sources();
		const before = key(folder);
		writeFileSync(path.join(folder, file), text);
		expect(key(folder)).not.toBe(before);
	});

	test.each(["cmd/main_test.go", "README.md"])(
		"does not change with %s, which is in no binary",
		(file) => {
			const folder = sources();
			const before = key(folder);
			writeFileSync(path.join(folder, file), "text");
			expect(key(folder)).toBe(before);
		},
	);

	test("differs for another machine and for other flags", () => {
		const folder = sources();
		const keys = [
			key(folder),
			key(folder, ["-b"]),
			buildKey(folder, "darwin", "x64", ["-a"]),
			buildKey(folder, "linux", "arm64", ["-a"]),
		];
		expect(new Set(keys).size).toBe(4);
	});
});
