import { readdir, rm, stat } from "node:fs/promises";
import path from "node:path";
import { commandLine } from "../runner/shell.ts";
import type { World } from "../runner/world.ts";
import { findDocker } from "./docker/cli.ts";
import { labelOf, leftRuns, removeLabelled } from "./docker/labels.ts";
import { lockedBy } from "./lock.ts";
import { readBuildFile } from "./programs/build.ts";
import { cacheFolder, isUsed, sizeOf } from "./programs/cache.ts";
import { knownRigs } from "./rent/rigs.ts";
import { leftFolders } from "./temporary.ts";

/** Something that mqbench keeps on this machine. */
export interface Kept {
	/** "built: k6, agent, nats-server" */
	readonly what: string;
	/** A path, or the label of a run in Docker. */
	readonly where: string;
	/** null if unknown. */
	readonly bytes: number | null;
	/** Unix ms; null if unknown. */
	readonly usedMs: number | null;
	/** A command used it within the last minutes, and may be using it. */
	readonly inUse: boolean;
	/** Throws with a sentence if something of it is left. */
	remove(): Promise<void>;
}

/** The things that mqbench keeps here and may remove; for others, sentences with the way to do it. Other names are never ours. */
export async function keptHere(
	world: World,
): Promise<{ readonly kept: readonly Kept[]; readonly notes: string[] }> {
	const cache = cacheFolder(world.env, process.platform);
	const nowMs = world.clock.nowMs();
	const docker = await inDocker(world);
	const inCache = CACHED.map(([folder, name, what]) =>
		entries(path.join(cache, folder), name, what, nowMs),
	);
	const left = (await leftFolders()).map(async (where) => ({
		...(await entry(where, "left by a command that was killed", nowMs)),
		usedMs: null,
		inUse: false,
	}));
	return {
		kept: [...(await Promise.all(inCache)).flat(), ...(await Promise.all(left)), ...docker.kept],
		notes: [
			...docker.notes,
			...(await knownRigs(world)).map(
				({ folder: { id } }) =>
					`Rented, and not removed here: npx mqbench rigs destroy ${commandLine([id])}`,
			),
		],
	};
}

// --- internal ---

/** Folders of the cache, the names of our entries in them, and their kind; null if not ours. */
const CACHED: readonly [folder: string, name: RegExp, what: What][] = [
	["bin", /^[0-9a-f]{16}$/, built],
	["go", /^go1\.\d+(?:\.\d+)?$/, () => "a Go that was fetched"],
	["jars", /^[a-z-]+-[0-9a-f]{16}$/, () => "jars of a broker"],
];
type What = (folder: string) => string | null | Promise<string | null>;

async function built(folder: string): Promise<string | null> {
	const file = await readBuildFile(folder);
	if (file === null) return null;
	const programs = Object.keys(file.sha256).sort().join(", ");
	return `built: ${programs} for ${file.platform}`;
}

/** Entries with that name, and leftovers of killed builds. */
async function entries(parent: string, name: RegExp, of: What, nowMs: number): Promise<Kept[]> {
	const found = await readdir(parent).catch(() => []);
	const all = found.map(async (base): Promise<Kept[]> => {
		const [, part] = /^\.(.+)-\w{6}$/.exec(base) ?? [];
		const where = path.join(parent, base);
		if (!name.test(part ?? base)) return [];
		const what = part === undefined ? await of(where) : "a build that was killed";
		if (what === null) return [];
		const kept = await entry(where, what, nowMs);
		// An entry being made has its lock held.
		const maker = await lockedBy(path.join(parent, `${part ?? base}.lock`));
		return [{ ...kept, inUse: kept.inUse || maker !== null }];
	});
	return (await Promise.all(all)).flat();
}

async function entry(where: string, what: string, nowMs: number): Promise<Kept> {
	return {
		what,
		where,
		bytes: await sizeOf(where),
		usedMs: (await stat(where).catch(() => null))?.mtimeMs ?? null,
		inUse: await isUsed(where, nowMs),
		async remove() {
			await rm(where, { recursive: true });
			// Its record is next to it.
			await rm(`${where}.sha256`, { force: true });
		},
	};
}

/** The containers and volumes that killed commands left in this machine's engine, if one answers. */
async function inDocker(
	world: World,
): Promise<{ readonly kept: Kept[]; readonly notes: string[] }> {
	try {
		const docker = findDocker(world, "");
		const kept = (await leftRuns(docker)).map((run): Kept => {
			const where = labelOf(run);
			return {
				what: "containers, volumes or networks of a command that was killed",
				where,
				bytes: null,
				usedMs: null,
				inUse: false,
				remove: async () => {
					if (!(await removeLabelled(docker, where)))
						throw new Error("something of it is still there");
				},
			};
		});
		return { kept, notes: [] };
	} catch {
		return { kept: [], notes: ["Docker does not answer, so nothing is known of what is in it."] };
	}
}
