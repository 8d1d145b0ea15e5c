import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import type { BuiltProgram } from "../../runner/brokers/server.ts";
import { FIRST } from "./programs.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** The folder in which mqbench keeps what it builds: MQBENCH_CACHE_DIR, otherwise the user's cache folder. */
export function cacheFolder(env: Env, platform: string): string {
	if (env.MQBENCH_CACHE_DIR) return path.resolve(env.MQBENCH_CACHE_DIR);
	const home = env.HOME || homedir();
	if (platform === "win32")
		return path.join(env.LOCALAPPDATA || path.join(home, "AppData", "Local"), "mqbench", "Cache");
	if (platform === "darwin") return path.join(home, "Library", "Caches", "mqbench");
	const xdg = env.XDG_CACHE_HOME;
	// The XDG specification says to ignore relative paths.
	return path.join(xdg && path.isAbsolute(xdg) ? xdg : path.join(home, ".cache"), "mqbench");
}

/**
 * Name of the build of these programs for a platform and processor, in Node's words. Equal sources give equal binaries, so every change of a
 * Go file of their modules, of a driver's defaults.json, go.mod or go.sum gets a new folder.
 */
export function buildKey(
	extensions: string,
	platform: string,
	arch: string,
	flags: readonly string[],
	programs: readonly BuiltProgram[] = FIRST,
): string {
	const hash = createHash("sha256");
	const tags = programs.flatMap(({ tags }) => tags ?? []);
	hash.update(JSON.stringify([platform, arch, flags, ...tags]));
	const modules = new Set(programs.map(({ module }) => module));
	for (const file of sources(extensions, modules)) {
		hash.update(`\0${file}\0`);
		hash.update(readFileSync(path.join(extensions, file)));
	}
	return hash.digest("hex").slice(0, 16);
}

// --- internal ---

/** A server's module is a folder of its own; all other sources are one module's. */
function sources(extensions: string, modules: Set<string>): string[] {
	return readdirSync(extensions, { recursive: true, encoding: "utf8" })
		.map((file) => file.split(path.sep).join("/"))
		.filter(
			(file) =>
				modules.has(/^servers\/[^/]+(?=\/)/.exec(file)?.[0] ?? ".") &&
				(/(^|\/)(go\.(mod|sum)|defaults\.json)$/.test(file) ||
					(file.endsWith(".go") && !file.endsWith("_test.go"))),
		)
		.sort();
}
