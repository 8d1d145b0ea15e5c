import { readdir, rm, stat } from "node:fs/promises";
import path from "node:path";
import { commandLine } from "../runner/shell.ts";
import type { World } from "../runner/world.ts";
import { cacheFolder } from "./binaries/cache.ts";
import { sizeOf } from "./binaries/size.ts";
import { buildsIn } from "./binaries/trim.ts";
import { isUsed } from "./binaries/used.ts";
import { knownRigs } from "./cloud/rigs.ts";
import { findDocker } from "./docker/cli.ts";
import { labelOf, leftRuns, removeLabelled } from "./docker/remove.ts";
import { lockedBy } from "./lock.ts";
import { leftFolders } from "./temporary.ts";

/** Something that mqbench keeps on this machine. */
export interface Kept {
	/** "built: k6, agent, nats-server" */
	readonly what: string;
	/** A path; of a run in Docker its label. */
	readonly where: string;
	/** null: not known. */
	readonly bytes: number | null;
	/** Unix ms; null: not known. */
	readonly usedMs: number | null;
	/** A command used it within the last minutes, and may be using it. */
	readonly inUse: boolean;
	/** Throws with a sentence if something of it is left. */
	remove(): Promise<void>;
}

/** What mqbench keeps here and may remove, and what it does not: sentences that say how. What has another name than ours is never ours. */
export async function keptHere(
	world: World,
): Promise<{ readonly kept: readonly Kept[]; readonly notes: string[] }> {
	const cache = cacheFolder(world.env, process.platform);
	const nowMs = world.clock.nowMs();
	const docker = await inDocker(world);
	const rigs = await knownRigs(world);
	const of = (folder: string, name: RegExp, what: string) =>
		folders(path.join(cache, folder), name, { what, nowMs });
	return {
		kept: [
			...(await builds(path.join(cache, "bin"), nowMs)),
			...(await parts(path.join(cache, "bin"), nowMs)),
			...(await of("go", /^go1\.\d+(?:\.\d+)?$/, "a Go that was fetched")),
			...(await of("jars", /^[a-z-]+-[0-9a-f]{16}$/, "jars of a broker")),
			...(await of("pulumi", /^\d+\.\d+\.\d+$/, "the command pulumi")),
			...(await Promise.all((await leftFolders()).map((one) => temporary(one)))),
			...docker.kept,
		],
		notes: [
			...docker.notes,
			...rigs.map(
				({ folder: { id } }) =>
					`Rented, and not removed here: mqbench rigs destroy ${commandLine([id])}`,
			),
		],
	};
}

// --- internal ---

async function builds(bin: string, nowMs: number): Promise<Kept[]> {
	return Promise.all(
		(await buildsIn(bin)).map(async ({ folder, kind, usedMs, bytes }) => {
			const [programs = "", platform = ""] = kind.split(" ");
			return {
				what: `built: ${programs.replaceAll(",", ", ")}${platform === "" ? "" : ` for ${platform}`}`,
				where: folder,
				bytes,
				usedMs,
				inUse: await isUsed(path.join(folder, "build.json"), nowMs),
				remove: () => rm(folder, { recursive: true }),
			};
		}),
	);
}

/** Of builds that were killed; one that goes on holds its lock, and shows so every few seconds. */
async function parts(bin: string, nowMs: number): Promise<Kept[]> {
	const name = /^\.([0-9a-f]{16})-\w{6}$/;
	const all = await folders(bin, name, { what: "a build that was killed", nowMs });
	return Promise.all(
		all.map(async (one) => {
			const [, key = ""] = name.exec(path.basename(one.where)) ?? [];
			const builder = await lockedBy(path.join(bin, `${key}.lock`));
			return { ...one, inUse: one.inUse || builder !== null };
		}),
	);
}

async function folders(
	parent: string,
	name: RegExp,
	{ what, nowMs }: { readonly what: string; readonly nowMs: number },
): Promise<Kept[]> {
	const names = await readdir(parent).catch(() => []);
	const ours = names.filter((one) => name.test(one));
	return Promise.all(
		ours.map(async (one): Promise<Kept> => {
			const where = path.join(parent, one);
			const about = await stat(where).catch(() => null);
			return {
				what: what,
				where,
				bytes: await sizeOf(where),
				usedMs: about?.mtimeMs ?? null,
				inUse: await isUsed(where, nowMs),
				// What says what it was lies beside it.
				remove: async () => {
					await rm(where, { recursive: true });
					await rm(`${where}.sha256`, { force: true });
				},
			};
		}),
	);
}

/** Of a process that is gone. */
async function temporary(where: string): Promise<Kept> {
	return {
		what: "left by a command that was killed",
		where,
		bytes: await sizeOf(where),
		usedMs: null,
		inUse: false,
		remove: () => rm(where, { recursive: true }),
	};
}

/** What killed commands left in this machine's engine, if there is one that answers. */
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
					const left = await removeLabelled(docker, where);
					if (left.length > 0) throw new Error(`still there: ${left.join(", ")}`);
				},
			};
		});
		return { kept, notes: [] };
	} catch {
		return { kept: [], notes: ["Docker does not answer, so nothing is known of what is in it."] };
	}
}
