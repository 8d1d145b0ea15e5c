import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";

type Env = Readonly<Record<string, string | undefined>>;

/** Folder in which mqbench keeps what it builds: MQBENCH_CACHE_DIR, else the user's cache folder. */
export function cacheFolder(env: Env, platform: string): string {
	if (env.MQBENCH_CACHE_DIR) return path.resolve(env.MQBENCH_CACHE_DIR);
	const home = env.HOME || homedir();
	if (platform === "win32")
		return path.join(
			env.LOCALAPPDATA || path.join(home, "AppData", "Local"),
			"mqbench",
			"Cache",
		);
	if (platform === "darwin")
		return path.join(home, "Library", "Caches", "mqbench");
	const xdg = env.XDG_CACHE_HOME;
	// The XDG rules: a relative path is to be ignored.
	return path.join(
		xdg && path.isAbsolute(xdg) ? xdg : path.join(home, ".cache"),
		"mqbench",
	);
}

/**
 * Name of the build of these sources for a platform and processor, in Node's words: equal sources give equal binaries, so a changed file of
 * Go, go.mod or go.sum is a new folder.
 */
export function buildKey(
	extensions: string,
	platform: string,
	arch: string,
	flags: readonly string[],
): string {
	const hash = createHash("sha256");
	hash.update(JSON.stringify([platform, arch, flags]));
	for (const file of sources(extensions)) {
		hash.update(`\0${file}\0`);
		hash.update(readFileSync(path.join(extensions, file)));
	}
	return hash.digest("hex").slice(0, 16);
}

// --- internal ---

function sources(extensions: string): string[] {
	return readdirSync(extensions, { recursive: true, encoding: "utf8" })
		.map((file) => file.split(path.sep).join("/"))
		.filter(
			(file) =>
				/(^|\/)go\.(mod|sum)$/.test(file) ||
				(file.endsWith(".go") && !file.endsWith("_test.go")),
		)
		.sort();
}
