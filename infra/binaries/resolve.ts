import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { failure, MqbenchError } from "../../runner/errors.ts";
import { reasonOf } from "../../runner/reason.ts";
import { orInterrupted } from "../../runner/stop.ts";
import type { World } from "../../runner/world.ts";
import { platformName } from "../platform.ts";
import { BUILD_FLAGS, build, makeCache, readBuild } from "./build.ts";
import { buildKey, cacheFolder } from "./cache.ts";
import { takeLock } from "./lock.ts";
import { PROGRAMS, type Programs, programIn, programsIn } from "./programs.ts";

/** Paths of the programs, ready to run on this machine, or on hosts of another platform. */
export interface Binaries extends Programs {
	/** Version of Go that built them; null: they are not ours to know. */
	readonly go: string | null;
	/**
	 * The same programs for `host`, which is "linux/arm64" (Go's words): these, if this machine is as well, else from the cache or a
	 * build with Go. Fails with `programs-missing`, naming the host.
	 */
	on(platform: string, host: string): Promise<Binaries>;
}

export interface ResolveOptions {
	/** Folder of the Go module. */
	readonly extensions: string;
	readonly version: string;
	readonly progress: BuildProgress;
}

/** Told about a build, which takes a minute: what a person who watches wants to know. */
export interface BuildProgress {
	/** `platform`: of hosts ("linux/arm64"); absent: for this machine. */
	begin(platform?: string): void;
	waiting(pid: number | null): void;
	step(phase: "modules" | "packages", done: number, all: number): void;
	end(): void;
}

/**
 * Finds k6, nats-server and agent: MQBENCH_K6 (and its neighbours) > the cache > a build with Go. A build happens once for each
 * state of the sources and each platform, under a lock.
 */
export async function resolveBinaries(
	world: World,
	options: ResolveOptions,
): Promise<Binaries> {
	const own = world.env.MQBENCH_K6;
	const found = own
		? await named(world, own)
		: await cached(world, options, HERE);
	const elsewhere = new Map<string, Promise<Found>>();
	const on = (platform: string, host: string): Promise<Binaries> => {
		if (platform === HERE.name) return Promise.resolve(here);
		// Hosts are prepared all at once.
		const asked =
			elsewhere.get(platform) ?? forHost(world, options, platform, host);
		elsewhere.set(platform, asked);
		const made = asked.then((programs) => ({ ...programs, on }));
		made.catch(() => elsewhere.delete(platform));
		return made;
	};
	const here: Binaries = { ...found, on };
	return here;
}

// --- internal ---

const EXTENSION = "k6/x/mqbench";

/** Without `on`. */
type Found = Omit<Binaries, "on">;

/** A system and its processor: in Go's words, and in Node's, by which the cache names builds. */
interface Platform {
	readonly name: string;
	readonly system: string;
	readonly processor: string;
}

const HERE: Platform = {
	name: platformName(process.platform, process.arch),
	system: process.platform,
	processor: process.arch,
};

/** What hosts may be beside this machine's own. */
const HOSTS: readonly Platform[] = [
	{ name: "linux/amd64", system: "linux", processor: "x64" },
	{ name: "linux/arm64", system: "linux", processor: "arm64" },
];

function exe({ system }: Platform): string {
	return system === "win32" ? ".exe" : "";
}

/** MQBENCH_K6, and what lies beside it. */
async function named(world: World, own: string): Promise<Found> {
	const k6 = path.resolve(world.cwd, own);
	await checkK6(k6);
	const folder = path.dirname(k6);
	const missing = PROGRAMS.filter(
		(name) => name !== "k6" && !existsSync(programIn(folder, name, exe(HERE))),
	);
	if (missing.length > 0)
		throw failure("k6-unusable", {
			path: own,
			reason: `${missing.join(" and ")} must lie beside it and ${missing.length > 1 ? "do" : "does"} not`,
		});
	return { ...programsIn(folder, exe(HERE)), k6, go: null };
}

/** They run nowhere here: what they are is known by their build alone. */
async function forHost(
	world: World,
	options: ResolveOptions,
	platform: string,
	host: string,
): Promise<Found> {
	const known = HOSTS.find(({ name }) => name === platform);
	const names = [...new Set([...HOSTS, HERE].map(({ name }) => name))];
	const missing = (reason: string, remedy: string) =>
		failure("programs-missing", { host, platform, reason, remedy });
	if (known === undefined)
		throw missing(
			`mqbench has no programs for that, only for ${names.slice(0, -1).join(", ")} and ${names.at(-1)}`,
			`Name other hosts, or run mqbench on one that is ${platform}`,
		);
	try {
		return await cached(world, options, known);
	} catch (error) {
		if (!(error instanceof MqbenchError) || error.code !== "go-missing")
			throw error;
		throw missing(
			`${world.env.MQBENCH_K6 ? `MQBENCH_K6 names programs of this machine only (${HERE.name}), and those for ${platform}` : `its programs`} have to be built here with Go, which is not on PATH`,
			`Install Go (https://go.dev/dl, or your distribution's package), name hosts that are ${HERE.name}, or run mqbench on one that is ${platform}`,
		);
	}
}

async function cached(
	world: World,
	options: ResolveOptions,
	platform: Platform,
): Promise<Found> {
	const bin = path.join(cacheFolder(world.env, process.platform), "bin");
	const key = buildKey(
		options.extensions,
		platform.system,
		platform.processor,
		[...BUILD_FLAGS, options.version],
	);
	const folder = path.join(bin, key);
	let found = await readBuild(folder, exe(platform));
	if (!found) {
		await makeCache(bin);
		await buildLocked(world, options, folder, platform);
		found = await readBuild(folder, exe(platform));
		if (!found)
			throw failure("go-build", {
				last: `${folder} is not what was built a moment ago`,
			});
	}
	return { ...programsIn(folder, exe(platform)), go: found.go };
}

async function buildLocked(
	world: World,
	options: ResolveOptions,
	folder: string,
	platform: Platform,
): Promise<void> {
	const { progress } = options;
	const lock = await takeLock(`${folder}.lock`, world.stop, (pid) =>
		progress.waiting(pid),
	).catch((error: NodeJS.ErrnoException) => {
		orInterrupted(world.stop);
		throw failure("cache-unwritable", {
			path: path.dirname(folder),
			reason: reasonOf(error),
		});
	});
	try {
		// Whoever held the lock may have built it meanwhile.
		if (await readBuild(folder, exe(platform))) return;
		if (platform === HERE) progress.begin();
		else progress.begin(platform.name);
		await build({
			folder,
			version: options.version,
			platform: platform.name,
			exe: exe(platform),
			cwd: options.extensions,
			env: world.env,
			stop: world.stop,
			onProgress: (phase, done, all) => progress.step(phase, done, all),
		});
		progress.end();
	} finally {
		await lock.release();
	}
}

/** A stock k6 would fail in mid-run with words that nobody understands. */
async function checkK6(k6: string): Promise<void> {
	let text: string;
	try {
		({ stdout: text } = await promisify(execFile)(k6, ["version"], {
			timeout: 10_000,
		}));
	} catch (error) {
		const { code, message } = error as NodeJS.ErrnoException;
		throw failure("k6-unusable", {
			path: k6,
			reason:
				code === "ENOENT"
					? "there is no such file"
					: code === "EACCES"
						? "it may not be executed"
						: `it does not run (${message.split("\n")[0]})`,
		});
	}
	if (!text.includes(EXTENSION))
		throw failure("k6-unusable", {
			path: k6,
			reason: `it was built without the extension ${EXTENSION}`,
		});
}
