import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { type BrokerName, laterPrograms, withLargeDriver } from "../../runner/brokers/index.ts";
import type { BuiltProgram } from "../../runner/brokers/server.ts";
import { failure, MqbenchError } from "../../runner/errors.ts";
import { reasonOf } from "../../runner/reason.ts";
import { orInterrupted } from "../../runner/stop.ts";
import { tell } from "../../runner/text/tell.ts";
import type { World } from "../../runner/world.ts";
import { takeLock } from "../lock.ts";
import { platformName } from "../platform.ts";
import { BUILD_FLAGS, build, makeCache, readBuild } from "./build.ts";
import { buildKey, cacheFolder } from "./cache.ts";
import { findPacked, packageName } from "./packed.ts";
import { FIRST, LARGE, largeTitle, type Programs, programIn, programsIn } from "./programs.ts";
import { goReady } from "./toolchain.ts";
import { trimBuilds } from "./trim.ts";
import { keepUsed } from "./used.ts";

/** Paths of the programs, ready to run on this machine, or on hosts of another platform. */
export interface Binaries extends Programs {
	/** Version of Go that built them; null: not known, because we did not build them. */
	readonly go: string | null;
	/** Where they come from, for people: "package @mqbench/linux-x64 0.2.0". */
	readonly origin: string;
	/** The path of a server that mqbench builds, by its name, also of one that is none of `brokers`: it is built now if it never was. */
	server(name: string): Promise<string>;
	/**
	 * The same programs for `host`, which is "linux/arm64" (Go's words): these, if this machine is the same, otherwise from the cache or a new
	 * build. Fails with `programs-missing`, naming the host.
	 */
	on(platform: string, host: string): Promise<Binaries>;
}

export interface ResolveOptions {
	/** Folder of the Go module. */
	readonly extensions: string;
	readonly version: string;
	readonly progress: BuildProgress;
	/** Systems that k6 is to drive: some drivers are in a k6 of their own. Left out: none of those. */
	readonly systems?: readonly { readonly broker: BrokerName }[];
	/** Where no Go is, fetch one without a question. */
	readonly yes?: boolean;
}

/** Called with lines for people during a build, which takes a minute. */
export interface BuildProgress {
	/** `server`: its name; null: k6 and what comes with it. `platform`: of hosts ("linux/arm64"); absent: this machine's. */
	begin(server: string | null, platform?: string): void;
	waiting(pid: number): void;
	/** A sentence about what is going to be built. */
	note(text: string): void;
	step(phase: "toolchain" | "modules" | "packages", done: number, all: number): void;
	end(): void;
}

/**
 * Finds k6, nats-server and agent: MQBENCH_K6 (and the files beside it), else the package of the platform, else the cache, else a build with the
 * Go on PATH, else with a Go that is fetched. Builds happen once for each state of the sources and each platform, under a lock.
 */
export async function resolveBinaries(world: World, options: ResolveOptions): Promise<Binaries> {
	const own = world.env.MQBENCH_K6;
	const here: Binaries = {
		...(own ? await named(world, own) : await cached(world, options, HERE)),
		server: servers(world, options, HERE, own ?? null),
		on,
	};
	const elsewhere = new Map<string, Promise<Binaries>>();
	function on(platform: string, host: string): Promise<Binaries> {
		if (platform === HERE.name) return Promise.resolve(here);
		// All hosts are prepared at the same time.
		const asked =
			elsewhere.get(platform) ??
			forHost(world, options, platform, host).then((made) => ({ ...made, on }));
		elsewhere.set(platform, asked);
		asked.catch(() => elsewhere.delete(platform));
		return asked;
	}
	return here;
}

// --- internal ---

const EXTENSION = "k6/x/mqbench";

type Found = Omit<Binaries, "server" | "on">;

/** A platform: in Go's words, and in Node's, which name builds in the cache. */
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

/** Platforms that hosts may have, besides this machine's own. */
const HOSTS: readonly Platform[] = [
	{ name: "linux/amd64", system: "linux", processor: "x64" },
	{ name: "linux/arm64", system: "linux", processor: "arm64" },
];

function exe({ system }: Platform): string {
	return system === "win32" ? ".exe" : "";
}

/** MQBENCH_K6, and the programs beside it. */
async function named(world: World, own: string): Promise<Found> {
	const k6 = path.resolve(world.cwd, own);
	await checkK6(k6);
	const folder = path.dirname(k6);
	const missing = FIRST.map(({ name }) => name).filter(
		(name) => name !== "k6" && !existsSync(programIn(folder, name, exe(HERE))),
	);
	if (missing.length > 0)
		throw failure("k6-unusable", {
			path: own,
			reason: `${missing.join(" and ")} must lie beside it and ${missing.length > 1 ? "do" : "does"} not`,
		});
	return { ...programsIn(folder, exe(HERE)), k6, go: null, origin: "named by MQBENCH_K6" };
}

/** These do not run here, so only their build says what they are. */
async function forHost(
	world: World,
	options: ResolveOptions,
	platform: string,
	host: string,
): Promise<Omit<Binaries, "on">> {
	const known = HOSTS.find(({ name }) => name === platform);
	const names = [...new Set([...HOSTS, HERE].map(({ name }) => name))];
	const missing = (reason: string, remedy: string) =>
		failure("programs-missing", { host, platform, reason, remedy });
	if (known === undefined)
		throw missing(
			`mqbench has no programs for that, only for ${names.slice(0, -1).join(", ")} and ${names.at(-1) ?? ""}`,
			`Name other hosts, or run mqbench on one that is ${platform}`,
		);
	const withGo = async <Made>(making: Promise<Made>): Promise<Made> => {
		try {
			return await making;
		} catch (error) {
			if (!(error instanceof MqbenchError) || error.code !== "go-missing") throw error;
			throw missing(
				`${
					world.env.MQBENCH_K6
						? `MQBENCH_K6 names programs of this machine only (${HERE.name}), and those for ${platform}`
						: "its programs"
				} have to be built here with Go, which is not on PATH`,
				`Install Go (https://go.dev/dl, or your distribution's package), name hosts that are ${HERE.name}, or run mqbench on one that is ${platform}`,
			);
		}
	};
	const server = servers(world, options, known, null);
	return {
		...(await withGo(cached(world, options, known))),
		server: (name) => withGo(server(name)),
	};
}

/** Finds a server: beside `own` (MQBENCH_K6), in the cache, or by a build of it. */
function servers(
	world: World,
	options: ResolveOptions,
	platform: Platform,
	own: string | null,
): Binaries["server"] {
	const asked = new Map<string, Promise<string>>();
	const find = async (name: string): Promise<string> => {
		const beside =
			own && programIn(path.dirname(path.resolve(world.cwd, own)), name, exe(platform));
		if (beside && existsSync(beside)) return beside;
		const later = laterPrograms.find((program) => program.name === name);
		const { folder } = await made(world, options, platform, later ? [later] : FIRST);
		return programIn(folder, name, exe(platform));
	};
	return (name) => {
		const found = asked.get(name) ?? find(name);
		asked.set(name, found);
		found.catch(() => asked.delete(name));
		return found;
	};
}

async function cached(world: World, options: ResolveOptions, platform: Platform): Promise<Found> {
	const { folder, go, origin } = await made(world, options, platform, FIRST);
	const programs = { ...programsIn(folder, exe(platform)), go, origin };
	const brokers = options.systems?.map(({ broker }) => broker) ?? [];
	if (withLargeDriver(brokers).length === 0) return programs;
	const large = await made(world, options, platform, LARGE);
	return { ...programs, k6: programIn(large.folder, "k6", exe(platform)) };
}

/** The folder with these programs, which are built if they never were. */
async function made(
	world: World,
	options: ResolveOptions,
	platform: Platform,
	programs: readonly BuiltProgram[],
): Promise<{ folder: string; go: string; origin: string }> {
	const bin = path.join(cacheFolder(world.env, process.platform), "bin");
	const key = buildKey(
		options.extensions,
		platform.system,
		platform.processor,
		[...BUILD_FLAGS, options.version],
		programs,
	);
	const folder = path.join(bin, key);
	const packed = await findPacked(packageName(platform.system, platform.processor), {
		near: path.dirname(options.extensions),
		cache: folder,
		key,
		programs,
		exe: exe(platform),
	});
	if ("folder" in packed) {
		if (packed.folder === folder) keepUsed(path.join(folder, "build.json"));
		const { build, name } = packed;
		const origin = `package ${name}`;
		return { folder: packed.folder, go: build.go, origin };
	}
	let build = await readBuild(folder, exe(platform), programs);
	if (!build) {
		await makeCache(bin);
		await buildLocked(world, options, folder, { platform, programs, why: packed.why });
		build = await readBuild(folder, exe(platform), programs);
		if (!build) throw failure("go-build", { last: `${folder} is not what was built a moment ago` });
	}
	keepUsed(path.join(folder, "build.json"));
	return { folder, go: build.go, origin: "built here from extensions/" };
}

async function buildLocked(
	world: World,
	options: ResolveOptions,
	folder: string,
	{
		platform,
		programs,
		why,
	}: {
		readonly platform: Platform;
		readonly programs: readonly BuiltProgram[];
		/** Why there is no package. */
		readonly why: string | null;
	},
): Promise<void> {
	const { extensions, progress, yes = false } = options;
	const lock = await takeLock(`${folder}.lock`, world.stop, (pid) => progress.waiting(pid)).catch(
		(error: NodeJS.ErrnoException) => {
			orInterrupted(world.stop);
			throw failure("cache-unwritable", { path: path.dirname(folder), reason: reasonOf(error) });
		},
	);
	try {
		// The holder of the lock may have built it meanwhile.
		if (await readBuild(folder, exe(platform), programs)) return;
		if (why !== null) progress.note(why);
		const env = await goReady(world, {
			extensions,
			yes,
			why,
			cache: cacheFolder(world.env, process.platform),
			onProgress: (done, all) => progress.step("toolchain", done, all),
			onWait: (pid) => progress.waiting(pid),
		});
		progress.begin(
			programs === FIRST
				? null
				: programs === LARGE
					? largeTitle
					: programs.map(({ name }) => name).join(),
			...(platform === HERE ? [] : [platform.name]),
		);
		await build({
			folder,
			programs,
			version: options.version,
			platform: platform.name,
			exe: exe(platform),
			cwd: options.extensions,
			env,
			stop: world.stop,
			onProgress: (phase, done, all) => progress.step(phase, done, all),
		});
		progress.end();
		keepUsed(path.join(folder, "build.json"));
		await trimBuilds(path.dirname(folder), world.clock.nowMs());
	} finally {
		await lock.release();
	}
}

/** A stock k6 would fail in the middle of a run, with an unhelpful message. */
async function checkK6(k6: string): Promise<void> {
	let text: string;
	try {
		({ stdout: text } = await promisify(execFile)(k6, ["version"], { timeout: 10_000 }));
	} catch (error) {
		const { code, message } = error as NodeJS.ErrnoException;
		throw failure("k6-unusable", {
			path: k6,
			reason:
				code === "ENOENT"
					? tell("no-such-file")
					: code === "EACCES"
						? "it is not executable"
						: `it does not run (${message.split("\n")[0]})`,
		});
	}
	if (!text.includes(EXTENSION))
		throw failure("k6-unusable", {
			path: k6,
			reason: `it was built without the extension ${EXTENSION}`,
		});
}
