import { constants, existsSync } from "node:fs";
import { access } from "node:fs/promises";
import path from "node:path";
import {
	type BrokerName,
	driversApart,
	firstDrivers,
	laterPrograms,
} from "../../runner/brokers/index.ts";
import { type Drivers, moduleName } from "../../runner/brokers/outside.ts";
import type { BuiltProgram } from "../../runner/brokers/server.ts";
import { failure, MqbenchError } from "../../runner/errors.ts";
import { packageVersion } from "../../runner/package.ts";
import { reasonOf } from "../../runner/reason.ts";
import type { World } from "../../runner/world.ts";
import { answerOf } from "../program-answer.ts";
import { buildKey } from "./build.ts";
import { type Apart, withDrivers } from "./further.ts";
import { type Builds, builtOnce } from "./once.ts";
import { findPacked } from "./packed.ts";
import {
	ALL_DRIVERS,
	EXTENSIONS,
	FIRST,
	HERE,
	type Platform,
	platformOf,
	programIn,
	titleOf,
} from "./programs.ts";

/** Paths of the programs, ready to run on this machine, or on hosts of another platform. */
export interface Binaries {
	readonly k6: string;
	readonly agent: string;
	/** Version of Go that built them; null if unknown, because we did not build them. */
	readonly go: string | null;
	/** Where they come from, for people: "package @mqbench/linux-x64 0.2.0". */
	readonly origin: string;
	/** The path of a server that mqbench builds, or of a driver's module, by its name: it is built now if it never was. */
	server(name: string): Promise<string>;
	/**
	 * The same programs for `host`, which is "linux/arm64" (Go's words): these, if this machine is the same, otherwise from the cache or a new
	 * build. Fails with `programs-missing`, naming the host.
	 */
	on(platform: string, host: string): Promise<Binaries>;
}

export interface ResolveOptions extends Builds {
	/** Systems that k6 must support; if left out, the first run's. */
	readonly systems?: readonly { readonly broker: BrokerName }[];
	/** Drivers from outside, which the user has allowed. */
	readonly drivers?: Drivers | null;
}

/**
 * Finds k6, nats-server and agent: MQBENCH_K6 (and the files next to it), else the package of the platform, else the cache, else a build
 * with the Go on PATH, else with a downloaded Go.
 */
export async function resolveBinaries(world: World, options: ResolveOptions): Promise<Binaries> {
	const ofPlatform = async (platform: Platform): Promise<Binaries> => {
		const own = platform === HERE ? world.env.MQBENCH_K6 : undefined;
		const found = own ? await named(world, own) : await chosen(world, options, platform);
		const server = once(async (name) => {
			const beside = programIn(path.dirname(found.k6), name, platform);
			if (existsSync(beside)) return beside;
			const driver = options.drivers?.found.find(({ manifest }) => moduleName(manifest) === name);
			if (driver) return driver.folder;
			const later = laterPrograms.filter((program) => program.name === name);
			const { folder } = await made(world, options, platform, later.length > 0 ? later : FIRST);
			return programIn(folder, name, platform);
		});
		return { ...found, server, on };
	};
	const here = await ofPlatform(HERE);
	const elsewhere = once((name) => ofPlatform(HOSTS[name] ?? HERE));
	async function on(name: string, host: string): Promise<Binaries> {
		if (name === HERE.name) return here;
		const missing = (reason: string, remedy: string) =>
			failure("programs-missing", { host, platform: name, reason, remedy });
		if (!(name in HOSTS))
			throw missing(
				`mqbench has no programs for that, only for ${[...new Set([...Object.keys(HOSTS), HERE.name])].join(" and ")}`,
				`Name other hosts, or run mqbench on one that is ${name}`,
			);
		return elsewhere(name).catch((error) => {
			if (!(error instanceof MqbenchError) || error.code !== "go-missing") throw error;
			throw missing(
				"its programs have to be built here with Go, which is not on PATH",
				`Install Go (https://go.dev/dl, or your distribution's package), name hosts that are ${HERE.name}, or run mqbench on one that is ${name}`,
			);
		});
	}
	return here;
}

// --- internal ---

type Found = Omit<Binaries, "server" | "on">;

/** Platforms that hosts may have, in addition to this machine's own. */
const HOSTS: Readonly<Record<string, Platform>> = {
	"linux/amd64": platformOf("linux", "x64"),
	"linux/arm64": platformOf("linux", "arm64"),
};

/** Each is made once for all concurrent callers; after a failure it is tried again. */
function once<T>(make: (name: string) => Promise<T>): (name: string) => Promise<T> {
	const asked = new Map<string, Promise<T>>();
	return (name) => {
		const answer = asked.get(name) ?? make(name);
		asked.set(name, answer);
		answer.catch(() => asked.delete(name));
		return answer;
	};
}

/** MQBENCH_K6, and the programs next to it. */
async function named(world: World, own: string): Promise<Found> {
	const k6 = path.resolve(world.cwd, own);
	await checkK6(k6);
	const folder = path.dirname(k6);
	const missing = FIRST.map(({ name }) => name).filter(
		(name) => name !== "k6" && !existsSync(programIn(folder, name)),
	);
	if (missing.length > 0)
		throw failure("k6-unusable", {
			path: own,
			reason: `${missing.join(" and ")} must be in the same folder and ${missing.length > 1 ? "are" : "is"} not`,
		});
	return {
		k6,
		agent: programIn(folder, "agent"),
		go: null,
		origin: "named by MQBENCH_K6",
	};
}

async function chosen(world: World, options: ResolveOptions, platform: Platform): Promise<Found> {
	const { folder, ...from } = await made(world, options, platform, FIRST);
	const found = { agent: programIn(folder, "agent", platform), ...from };
	const { systems = [] } = options;
	const apart = apartOf(options);
	if (apart.length > 0)
		return { ...found, ...(await withDrivers(world, options, platform, apart)) };
	const suffices = systems.every(({ broker }) => firstDrivers.includes(broker));
	const k6 = suffices ? { folder } : await made(world, options, platform, ALL_DRIVERS);
	return { ...found, k6: programIn(k6.folder, "k6", platform) };
}

function apartOf({
	systems = [],
	drivers,
	extensions = EXTENSIONS,
}: ResolveOptions): readonly Apart[] {
	const ours = driversApart.filter((name) => systems.some(({ broker }) => broker === name));
	return [
		...ours.map((title) => ({
			title,
			module: `github.com/mqbench/mqbench/extensions/xk6-${title}`,
			version: null,
			folder: path.join(extensions, `xk6-${title}`),
			sum: null,
		})),
		...(drivers?.found ?? []),
	];
}

/** The folder with these programs: the platform's package, or the cache, where they are built if they never were. */
async function made(
	world: World,
	options: ResolveOptions,
	platform: Platform,
	programs: readonly BuiltProgram[],
): Promise<{ folder: string; go: string; origin: string }> {
	const { extensions = EXTENSIONS, version = packageVersion } = options;
	const key = buildKey(extensions, version, platform, programs);
	const packed = await findPacked(path.dirname(extensions), key, programs, platform);
	if ("folder" in packed)
		return { folder: packed.folder, go: packed.go, origin: `package ${packed.name}` };
	const once = programs === FIRST ? ", and takes 100 to 150 seconds on 2 cores" : "";
	const title = titleOf(programs);
	const build = { key, programs, why: packed.why, title, once };
	const built = await builtOnce(world, options, platform, build);
	return { ...built, origin: "built here from extensions/" };
}

/** A stock k6 would fail in the middle of a run, with an unhelpful message. */
async function checkK6(k6: string): Promise<void> {
	const extension = "k6/x/mqbench";
	const barred = await access(k6, constants.X_OK).then(() => null, reasonOf);
	const text = barred ?? (await answerOf(k6, ["version"], { longestMs: 10_000 }));
	if (text?.includes(extension)) return;
	const reason =
		text === null ? "it does not run" : `it was built without the extension ${extension}`;
	throw failure("k6-unusable", { path: k6, reason: barred ?? reason });
}
