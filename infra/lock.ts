import { randomBytes } from "node:crypto";
import { lstatSync, statSync } from "node:fs";
import { mkdir, readdir, rename, rm, rmdir, unlink, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readGiven } from "../runner/given-folder.ts";
import { isGone, isHere, ownerText } from "./owner.ts";

/** Something that one process has at a time: a build, the folder of a command. */
export interface Lock {
	/** Gives it back. */
	release(): Promise<void>;
}

/** The process that has it. */
export interface Holder {
	readonly pid: number;
	/** It is a process of this machine, and certainly lives. */
	readonly here: boolean;
}

/**
 * Takes the lock at `where` for this process, or returns its holder. The lock is a folder with one file, whose name is unique to its
 * holder: removing the file of a holder that is gone cannot remove the next one's. Subtle: a folder can be renamed to one that is empty,
 * but not to one that has something in it, so the lock appears with its file.
 */
export async function tryLock(where: string): Promise<Lock | Holder> {
	const token = randomBytes(8).toString("hex");
	const made = `${where}.${token}`;
	await mkdir(made, { mode: 0o700 });
	try {
		await writeFile(path.join(made, token), ownerText(process.pid), { mode: 0o600 });
		while (!(await moved(made, where))) {
			const holder = await holderAt(where, true);
			if (holder !== null) return holder;
		}
	} finally {
		await rm(made, { recursive: true, force: true });
	}
	const file = path.join(where, token);
	const beating = setInterval(() => {
		const now = new Date();
		utimes(file, now, now).catch(() => {});
	}, BEAT_MS).unref();
	return {
		async release() {
			clearInterval(beating);
			// If it cannot be removed, the lock is free as soon as this process has ended.
			await unlink(file).catch(() => {});
			await rmdir(where).catch(() => {});
		},
	};
}

/** Takes the lock, and waits for each holder before; `onWait` is called once, with the first one's pid. */
export async function takeLock(
	where: string,
	stop: AbortSignal,
	onWait: (pid: number) => void,
): Promise<Lock> {
	for (let announced = false; ; announced = true) {
		const got = await tryLock(where);
		if ("release" in got) return got;
		if (!announced) onWait(got.pid);
		await sleep(LOOK_MS, undefined, { signal: stop });
	}
}

/** The holder of the lock; null if no living process. */
export function lockedBy(where: string): Promise<Holder | null> {
	return holderAt(where, false);
}

// --- internal ---

const BEAT_MS = 5_000;
/** For how long a holder that cannot be seen from here may give no sign of life: more than clocks of two machines differ by. */
const SILENT_MS = 60_000;
const LOOK_MS = 200;

/** false if there is something in its place. */
async function moved(made: string, where: string): Promise<boolean> {
	try {
		await rename(made, where);
		return true;
	} catch (error) {
		if (!THERE.test(String((error as NodeJS.ErrnoException).code))) throw error;
		return false;
	}
}

const THERE = process.platform === "win32" ? /EPERM|EEXIST|ENOTEMPTY/ : /ENOTEMPTY|EEXIST|ENOTDIR/;

/** `clear` removes anything in its place except a living process's lock. */
async function holderAt(where: string, clear: boolean): Promise<Holder | null> {
	const about = lstatSync(where, { throwIfNoEntry: false });
	if (about === undefined) return null;
	if (!about.isDirectory()) {
		if (clear)
			await unlink(where).catch((error) => {
				// Others may have removed it, or put a lock there, which this cannot remove.
				if (lstatSync(where, { throwIfNoEntry: false })?.isDirectory() === false) throw error;
			});
		return null;
	}
	const names = await readdir(where).catch((error) => {
		// Another user's, which we can neither judge nor remove.
		if (clear && error.code !== "ENOENT") throw error;
		return [];
	});
	for (const name of names) {
		const file = path.join(where, name);
		const holder = holderIn(file);
		if (holder !== null) return holder;
		if (clear) await rm(file, { recursive: true, force: true });
	}
	if (clear) await rmdir(where).catch(() => {});
	return null;
}

/** null if it is gone, or not written by a holder, as after a power failure. */
function holderIn(file: string): Holder | null {
	try {
		const [owner] = /\d+:\w*@\w+\.\w+\.\w+/.exec(readGiven(file)) ?? [];
		if (owner === undefined || isGone(owner)) return null;
		const here = isHere(owner);
		// Network file systems look again for the time of a file that was opened a moment ago.
		if (!here && Date.now() - statSync(file).mtimeMs > SILENT_MS) return null;
		return { pid: Number.parseInt(owner, 10), here };
	} catch {
		return null;
	}
}
