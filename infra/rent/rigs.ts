import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, mkdir, readdir, readFile, rm } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { failure, MqbenchError } from "../../runner/errors.ts";
import { reasonOf } from "../../runner/reason.ts";
import { type RigPlace, readRig } from "../../runner/scenario/rig.ts";
import { RigFile, type RigFileInput } from "../../runner/scenario/rig-file.ts";
import { didYouMean } from "../../runner/suggest.ts";
import { writeWhole } from "../../runner/whole-file.ts";
import type { World } from "../../runner/world.ts";

/** A rented rig as recorded here: a folder that only its owner can read, made before anything is rented, removed when nothing is left. */
export type RigFolder = ReturnType<typeof rigFolder>;

/** A rig as found in the state folder. */
export interface KnownRig {
	readonly folder: RigFolder;
	/** null if rig.json is missing or broken, for the reason in `trouble`. */
	readonly file: RigFile | null;
	readonly trouble: string | null;
}

/** When a sweep may remove a rig that is stood up now: later than its machines end themselves, some of which take 40 minutes to start. */
export function expiresAt(ttlMinutes: number, nowMs: number): string {
	return new Date(nowMs + (ttlMinutes + 60) * 60_000).toISOString();
}

/** The folder of all rigs, one subfolder each. */
export function rigsFolder({ env }: Pick<World, "env">): string {
	return path.join(stateFolder(env, process.platform), "rigs");
}

/** Makes the folder of a new rig, and its passphrase. Fails with `cloud-state`. */
export async function makeRigFolder(id: string, world: World): Promise<RigFolder> {
	const folder = rigFolder(id, world);
	await orUnwritable(folder.path, async () => {
		await mkdir(rigsFolder(world), { recursive: true, mode: 0o700 });
		for (const one of [folder.path, folder.pulumi, folder.project]) {
			await mkdir(one, { mode: 0o700 });
			// The umask may have removed more permissions.
			await chmod(one, 0o700);
		}
		writeWhole(folder.passphrase, randomBytes(32).toString("base64url"), 0o600);
	});
	return folder;
}

/** Replaces rig.json; a crash leaves the old file or the new one. Fails with `cloud-state`. */
export async function keepRig({ place }: RigFolder, file: RigFileInput): Promise<void> {
	const text = `${JSON.stringify(RigFile.parse(file), null, "\t")}\n`;
	await orUnwritable(place.path, () => writeWhole(place.path, text, 0o600));
}

/** Forgets a rig of which nothing is left in AWS. Subtle: rig.json goes last, because only it lists the rest. Fails: `rig-unforgotten`. */
export async function forget(folder: RigFolder): Promise<void> {
	try {
		const names = await readdir(folder.path).catch(() => []);
		for (const name of names.filter((one) => one !== "rig.json"))
			await rm(path.join(folder.path, name), { recursive: true, force: true });
		await rm(folder.path, { recursive: true, force: true });
	} catch (error) {
		throw failure("rig-unforgotten", { id: folder.id, path: folder.path, reason: reasonOf(error) });
	}
}

/** Every folder in the state folder that may be a rig, by name. Half-written ones are marked, and do not hide the rest. */
export async function knownRigs(world: World): Promise<KnownRig[]> {
	const all = rigsFolder(world);
	const entries = await readdir(all, { withFileTypes: true }).catch((error) => {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
		throw failure("cloud-state", { path: all, reason: reasonOf(error) });
	});
	const folders = entries.filter((one) => one.isDirectory() || one.isSymbolicLink());
	const ids = folders
		.map(({ name }) => name)
		.filter((id) => RigFile.shape.id.safeParse(id).success);
	return Promise.all(ids.sort().map((id) => known(rigFolder(id, world))));
}

/** The rig of that id; fails with `no-such-rig`. */
export async function knownRig(id: string, world: World): Promise<KnownRig> {
	const rigs = new Map((await knownRigs(world)).map((rig) => [rig.folder.id, rig]));
	const guess = didYouMean(id, [...rigs.keys()]);
	const found = rigs.get(id);
	if (found === undefined) throw failure("no-such-rig", { id, folder: rigsFolder(world), guess });
	return found;
}

/** The folder with mqbench's records of rented machines: MQBENCH_STATE_DIR, otherwise the user's folder for state. */
export function stateFolder(env: World["env"], platform: string): string {
	if (env.MQBENCH_STATE_DIR) return path.resolve(env.MQBENCH_STATE_DIR);
	const home = env.HOME || homedir();
	if (platform === "win32")
		return path.join(env.LOCALAPPDATA || path.join(home, "AppData", "Local"), "mqbench", "State");
	if (platform === "darwin") return path.join(home, "Library", "Application Support", "mqbench");
	// The XDG specification requires relative paths to be ignored.
	const xdg = path.isAbsolute(env.XDG_STATE_HOME ?? "") ? env.XDG_STATE_HOME : null;
	return path.join(xdg ?? path.join(home, ".local", "state"), "mqbench");
}

/** Makes an ed25519 key without a passphrase at `file`, and next to it its public half (".pub"), which it returns. Fails: `cloud-key`. */
export async function makeKey(file: string, id: string): Promise<string> {
	const words = ["-q", "-t", "ed25519", "-N", "", "-C", `mqbench-${id}`, "-f", file];
	try {
		await promisify(execFile)("ssh-keygen", words);
		for (const half of [file, `${file}.pub`]) await chmod(half, 0o600);
		return (await readFile(`${file}.pub`, "utf8")).trim();
	} catch (error) {
		const { code, message } = error as NodeJS.ErrnoException;
		const reason = code === "ENOENT" ? "there is no ssh-keygen on PATH" : message;
		throw failure("cloud-key", { reason: reason.trim().split("\n").at(-1) });
	}
}

/**
 * Makes the host key of a rig's machines, which they get before their sshd starts, and ssh's file with it: all of them have the same key,
 * and their addresses are not fixed yet. So no key is taken on trust at the first contact. Fails as `makeKey` does.
 */
export async function makeHostKey(file: string, knownHosts: string, id: string): Promise<void> {
	const line = await makeKey(file, id);
	await orUnwritable(knownHosts, () => writeWhole(knownHosts, `* ${line}\n`, 0o600));
}

// --- internal ---

function rigFolder(id: string, world: World) {
	const folder = path.join(rigsFolder(world), id);
	const file = path.join(folder, "rig.json");
	return {
		id,
		path: folder,
		place: { shown: file, path: file } satisfies RigPlace,
		/** Private half of its key; the public half is next to it. */
		identity: path.join(folder, "id_ed25519"),
		/** Private half of its machines' host key; the public half is next to it. */
		hostKey: path.join(folder, "host_ed25519"),
		/** The machines' host key, as ssh stores it. */
		knownHosts: path.join(folder, "known_hosts"),
		/** For Pulumi's state, which is as secret as the key next to it. */
		passphrase: path.join(folder, "passphrase"),
		/** Pulumi's state of it. */
		pulumi: path.join(folder, "pulumi"),
		/** Pulumi's project, whose settings name the program and its input. */
		project: path.join(folder, "project"),
	};
}

/** A refusal of the system is `cloud-state`, with the place. */
async function orUnwritable(where: string, act: () => void | Promise<void>): Promise<void> {
	try {
		await act();
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === undefined) throw error;
		throw failure("cloud-state", { path: where, reason: reasonOf(error) });
	}
}

async function known(folder: RigFolder): Promise<KnownRig> {
	try {
		const file = await readRig(folder.place);
		if (file === null) return { folder, file, trouble: "there is no rig.json in it" };
		if (file.id === folder.id && file.cloud !== null) return { folder, file, trouble: null };
		return { folder, file: null, trouble: "its rig.json is another rig's" };
	} catch (error) {
		if (!(error instanceof MqbenchError)) throw error;
		// One sentence is enough to show that it is broken.
		return { folder, file: null, trouble: error.message.split("\n")[0] ?? "" };
	}
}
