import { readdir, rm, stat } from "node:fs/promises";
import path from "node:path";
import { tell } from "../runner/text/tell.ts";
import type { World } from "../runner/world.ts";
import { cacheFolder } from "./binaries/cache.ts";
import { sizeOf } from "./binaries/size.ts";
import { buildsIn } from "./binaries/trim.ts";
import { knownRigs } from "./cloud/rigs.ts";
import { findDocker } from "./docker/cli.ts";
import { labelOf, leftRuns, removeLabelled } from "./docker/remove.ts";
import { leftFolders } from "./temporary.ts";

/** Something that mqbench keeps on this machine. */
export interface Kept {
	/** "k6, agent, nats-server" */
	readonly what: string;
	/** A path; of a run in Docker its label. */
	readonly where: string;
	/** null: not known. */
	readonly bytes: number | null;
	/** Unix ms; null: not known. */
	readonly usedMs: number | null;
	/** Throws with a sentence if something of it is left. */
	remove(): Promise<void>;
}

/** What mqbench keeps here, and what it does not remove from here: sentences that say how. */
export async function keptHere(
	world: World,
): Promise<{ readonly kept: readonly Kept[]; readonly notes: string[] }> {
	const cache = cacheFolder(world.env, process.platform);
	const docker = await inDocker(world);
	const rigs = await knownRigs(world);
	return {
		kept: [
			...(await builds(path.join(cache, "bin"))),
			...(await folders(path.join(cache, "go"), "kept-go")),
			...(await folders(path.join(cache, "jars"), "kept-jars")),
			...(await folders(path.join(cache, "pulumi"), "kept-pulumi")),
			...(await folders(path.join(cache, "calibrations"), "kept-calibration")),
			...(await Promise.all(
				(await leftFolders()).map((one) => folder(one, "kept-temporary")),
			)),
			...docker.kept,
		],
		notes: [
			...docker.notes,
			...rigs.map(({ folder: { id } }) => tell("kept-rig", { id })),
		],
	};
}

// --- internal ---

type Name = Parameters<typeof tell>[0];

async function builds(bin: string): Promise<Kept[]> {
	return (await buildsIn(bin)).map(({ folder, kind, usedMs, bytes }) => {
		const [programs = "", platform = ""] = kind.split(" ");
		return {
			what: tell("kept-build", {
				programs: programs.replaceAll(",", ", "),
				platform: platform === "" ? "" : ` for ${platform}`,
			}),
			...{ where: folder, bytes, usedMs },
			remove: () => rm(folder, { recursive: true }),
		};
	});
}

async function folders(parent: string, name: Name): Promise<Kept[]> {
	const names = await readdir(parent).catch(() => []);
	return Promise.all(names.map((one) => folder(path.join(parent, one), name)));
}

async function folder(where: string, name: Name): Promise<Kept> {
	const about = await stat(where).catch(() => null);
	return {
		what: tell(name as "kept-go"),
		...{ where, bytes: await sizeOf(where), usedMs: about?.mtimeMs ?? null },
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
				what: tell("kept-containers"),
				...{ where, bytes: null, usedMs: null },
				remove: async () => {
					const left = await removeLabelled(docker, where);
					if (left.length > 0)
						throw new Error(tell("kept-still", { left: left.join(", ") }));
				},
			};
		});
		return { kept, notes: [] };
	} catch {
		return { kept: [], notes: [tell("kept-no-docker")] };
	}
}
