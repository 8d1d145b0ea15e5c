import { mkdirSync, readdirSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { testFolder } from "../test-folder.fake.ts";
import { buildKey } from "./build.ts";
import { cacheFolder } from "./cache.ts";
import { trimBuilds } from "./once.ts";
import { platformOf } from "./programs.ts";

test.each([
	["linux", {}, "/home/me/.cache/mqbench"],
	["linux", { XDG_CACHE_HOME: "/xdg" }, "/xdg/mqbench"],
	// The XDG rules: a relative path is to be ignored.
	["linux", { XDG_CACHE_HOME: "xdg" }, "/home/me/.cache/mqbench"],
	["darwin", { XDG_CACHE_HOME: "/xdg" }, "/home/me/Library/Caches/mqbench"],
	["win32", { LOCALAPPDATA: "/local" }, "/local/mqbench/Cache"],
	["win32", {}, "/home/me/AppData/Local/mqbench/Cache"],
	["linux", { MQBENCH_CACHE_DIR: "/mine" }, "/mine"],
	["win32", { LOCALAPPDATA: "/local", MQBENCH_CACHE_DIR: "/mine" }, "/mine"],
])("the cache folder on %s with %j is %s", (platform, env, folder) => {
	expect(cacheFolder({ HOME: "/home/me", ...env }, platform)).toBe(folder);
});

describe("the key of a build", () => {
	const LINUX = platformOf("linux", "x64");
	const key = (file = "cmd/main.go", text = "package main\n", version = "1", platform = LINUX) => {
		const folder = testFolder();
		mkdirSync(path.join(folder, "cmd"));
		writeFileSync(path.join(folder, "go.mod"), "module x\n");
		writeFileSync(path.join(folder, "go.sum"), "");
		writeFileSync(path.join(folder, "cmd", "main.go"), "package main\n");
		writeFileSync(path.join(folder, file), text);
		return buildKey(folder, version, platform);
	};

	test("is the same for the same sources, wherever they lie, and another one for another version and platform", () => {
		expect(key()).toMatch(/^[0-9a-f]{16}$/);
		expect(key()).toBe(key());
		const others = [
			key(undefined, undefined, "2"),
			key(undefined, undefined, "1", platformOf("darwin", "x64")),
			key(undefined, undefined, "1", platformOf("linux", "arm64")),
		];
		expect(new Set([key(), ...others]).size).toBe(4);
	});

	test.each([
		["go.mod", "module y\n", true],
		["go.sum", "x", true],
		["cmd/main.go", "package main // new\n", true],
		["cmd/other.go", "package main\n", true],
		["cmd/defaults.json", "{}", true],
		["cmd/go.mod", "module z\n", true],
		["cmd/main_test.go", "text", false],
		["README.md", "text", false],
	])("with %s %j changes: %s", (file, text, changes) => {
		expect(key(file, text) !== key()).toBe(changes);
	});
});

test("builds beyond 500 MB are removed, first those not used for longest, and none that a command may be using, nor what is none", async () => {
	const bin = testFolder();
	const DAY = 24 * 3600 * 1000;
	const nowMs = 100 * DAY;
	const build = (name: string, daysAgo: number, bytes: number) => {
		const folder = path.join(bin, name);
		mkdirSync(folder);
		writeFileSync(path.join(folder, "k6"), "");
		truncateSync(path.join(folder, "k6"), bytes);
		const sha256 = { k6: "0" };
		const file = { schema: 1, go: "go1.26.8", mqbench: "1.2.3", sha256, platform: "linux/amd64" };
		writeFileSync(path.join(folder, "build.json"), JSON.stringify(file));
		const at = new Date(nowMs - daysAgo * DAY);
		utimesSync(folder, at, at);
	};
	build("a", 2, 200e6);
	build("b", 3, 200e6);
	build("c", 4, 200e6);
	build("d", 5, 50e6);
	mkdirSync(path.join(bin, "x.lock"));
	await trimBuilds(bin, nowMs);
	await trimBuilds(path.join(bin, "missing"), nowMs);
	expect(readdirSync(bin)).toEqual(["a", "b", "d", "x.lock"]);
	for (const name of ["e", "f", "g"]) build(name, 0.001, 200e6);
	await trimBuilds(bin, nowMs);
	expect(readdirSync(bin)).toEqual(["e", "f", "g", "x.lock"]);
});
