import { randomBytes } from "node:crypto";
import { chmod, mkdir, readdir, readFile, rm } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { failure, MqbenchError } from "../../runner/errors.ts";
import { reasonOf } from "../../runner/reason.ts";
import { type RigPlace, readRig } from "../../runner/scenario/rig.ts";
import { RigFile, type RigFileInput } from "../../runner/scenario/rig-file.ts";
import { didYouMean } from "../../runner/suggest.ts";
import { writeWhole } from "../../runner/whole-file.ts";
import type { World } from "../../runner/world.ts";

/**
 * What mqbench remembers of a rented rig: a folder that only its owner can read, made before anything is rented, removed when nothing is left.
 */
export interface RigFolder {
	readonly id: string;
	readonly path: string;
	/** Its rig.json. */
	readonly place: RigPlace;
	/** The Pulumi program's input. */
	readonly config: string;
	/** Private half of its key; the public half is beside it. */
	readonly identity: string;
	/** Private half of its machines' host key; the public half is beside it. */
	readonly hostKey: string;
	/** The machines' host key, as ssh stores it. */
	readonly knownHosts: string;
	/** For Pulumi's state, which is as secret as the key beside it. */
	readonly passphrase: string;
	/** Pulumi's state of it. */
	readonly pulumi: string;
	/** Pulumi's project, whose settings name the program. */
	readonly project: string;
}

/** A rig as found in the state folder. */
export interface KnownRig {
	readonly folder: RigFolder;
	/** null: rig.json is missing or broken; `trouble` says how. */
	readonly file: RigFile | null;
	readonly trouble: string | null;
}

export function rigFolder(id: string, world: World): RigFolder {
	const folder = path.join(rigsFolder(world), id);
	const file = path.join(folder, "rig.json");
	return {
		id,
		path: folder,
		place: { shown: file, path: file },
		config: path.join(folder, "config.json"),
		identity: path.join(folder, "id_ed25519"),
		hostKey: path.join(folder, "host_ed25519"),
		knownHosts: path.join(folder, "known_hosts"),
		passphrase: path.join(folder, "passphrase"),
		pulumi: path.join(folder, "pulumi"),
		project: path.join(folder, "project"),
	};
}

/** The folder of all rigs, one subfolder each. */
export function rigsFolder(world: World): string {
	return path.join(stateFolder(world.env, process.platform), "rigs");
}

/** Makes the folder of a new rig, and its passphrase. Fails with `cloud-state`. */
export async function makeRigFolder(id: string, world: World): Promise<RigFolder> {
	const folder = rigFolder(id, world);
	await orUnwritable(folder.path, async () => {
		await mkdir(rigsFolder(world), { recursive: true, mode: 0o700 });
		await mkdir(folder.path, { mode: 0o700 });
		// The umask may have removed more permissions.
		await chmod(folder.path, 0o700);
		await mkdir(folder.pulumi, { mode: 0o700 });
		await mkdir(folder.project, { mode: 0o700 });
		const passphrase = randomBytes(32).toString("base64url");
		writeWhole(folder.passphrase, passphrase, 0o600);
	});
	return folder;
}

/** Replaces rig.json; a crash leaves the old file or the new one. */
export async function keepRig(folder: RigFolder, file: RigFileInput): Promise<void> {
	await orUnwritable(folder.place.path, () =>
		writeWhole(folder.place.path, `${JSON.stringify(RigFile.parse(file), null, "\t")}\n`, 0o600),
	);
}

export async function keepConfig(folder: RigFolder, config: object): Promise<void> {
	await orUnwritable(folder.config, () =>
		writeWhole(folder.config, `${JSON.stringify(config, null, "\t")}\n`, 0o600),
	);
}

/** The program's input; null: no longer known. */
export async function configOf<Config>(
	folder: RigFolder,
	parse: (value: unknown) => Config,
): Promise<Config | null> {
	try {
		return parse(JSON.parse(await readFile(folder.config, "utf8")));
	} catch {
		return null;
	}
}

/** Forgets the rig. Subtle: rig.json goes last, because without it nobody would know the rest. */
export async function forget(folder: RigFolder): Promise<void> {
	const names = await readdir(folder.path).catch(() => []);
	for (const name of names.filter((one) => one !== "rig.json"))
		await rm(path.join(folder.path, name), { recursive: true, force: true });
	await rm(folder.path, { recursive: true, force: true });
}

/** Every folder in the state folder that may be a rig, by name. Half-written ones say so, and do not hide the rest. */
export async function knownRigs(world: World): Promise<KnownRig[]> {
	const all = rigsFolder(world);
	const entries = await readdir(all, { withFileTypes: true }).catch((error) => {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
		throw failure("cloud-state", { path: all, reason: reasonOf(error) });
	});
	return Promise.all(
		entries
			.filter((one) => one.isDirectory() || one.isSymbolicLink())
			.map(({ name }) => name)
			.filter((name) => RigFile.shape.id.safeParse(name).success)
			.sort()
			.map((id) => known(rigFolder(id, world))),
	);
}

/** The rig of that id; fails with `no-such-rig`. */
export async function knownRig(id: string, world: World): Promise<KnownRig> {
	const rigs = await knownRigs(world);
	const known = rigs.find(({ folder }) => folder.id === id);
	if (known) return known;
	throw failure("no-such-rig", {
		id,
		folder: rigsFolder(world),
		guess: didYouMean(
			id,
			rigs.map(({ folder }) => folder.id),
		),
	});
}

/** The folder in which mqbench remembers what it has rented: MQBENCH_STATE_DIR, otherwise the user's folder for state. */
export function stateFolder(env: World["env"], platform: string): string {
	if (env.MQBENCH_STATE_DIR) return path.resolve(env.MQBENCH_STATE_DIR);
	const home = env.HOME || homedir();
	if (platform === "win32")
		return path.join(env.LOCALAPPDATA || path.join(home, "AppData", "Local"), "mqbench", "State");
	if (platform === "darwin") return path.join(home, "Library", "Application Support", "mqbench");
	const xdg = env.XDG_STATE_HOME;
	// The XDG specification says to ignore relative paths.
	return path.join(
		xdg && path.isAbsolute(xdg) ? xdg : path.join(home, ".local", "state"),
		"mqbench",
	);
}

/** A refusal of the system is `cloud-state`, with the place. */
export async function orUnwritable<T>(where: string, act: () => T | Promise<T>): Promise<T> {
	try {
		return await act();
	} catch (error) {
		if (error instanceof MqbenchError) throw error;
		if ((error as NodeJS.ErrnoException).code === undefined) throw error;
		throw failure("cloud-state", { path: where, reason: reasonOf(error) });
	}
}

// --- internal ---

async function known(folder: RigFolder): Promise<KnownRig> {
	try {
		const file = await readRig(folder.place);
		if (file === null) return { folder, file, trouble: "there is no rig.json in it" };
		if (file.id !== folder.id || file.cloud === null)
			return { folder, file: null, trouble: "its rig.json is another rig's" };
		return { folder, file, trouble: null };
	} catch (error) {
		if (!(error instanceof MqbenchError)) throw error;
		// One sentence is enough to show that it is broken.
		const [first = ""] = error.message.split("\n");
		return { folder, file: null, trouble: first };
	}
}
