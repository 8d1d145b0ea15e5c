import { randomBytes } from "node:crypto";
import { lstatSync } from "node:fs";
import { lstat, mkdir, open, rename, rm, rmdir, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readGiven } from "../runner/given-folder.ts";
import { isGone, isHere, ownerText } from "./owner.ts";

/** What one process has at a time: a build, the folder of a command. */
export interface Lock {
	/** Gives it back. */
	release(): Promise<void>;
}

/** Who has it. */
export interface Holder {
	readonly pid: number;
	/** What it is doing with it: "is measuring on it". */
	readonly doing: string;
	/** It is a process of this machine, and certainly lives. */
	readonly here: boolean;
}

export interface LockOptions {
	/** For how long a holder that cannot be seen from here may give no sign of life. */
	readonly watchMs?: number;
	/** How often the holder gives one. */
	readonly beatMs?: number;
	/** How often to look. */
	readonly lookMs?: number;
	/** Called once if a holder has to be watched. */
	onWatch?(watchMs: number): void;
	/** Ends the watching; the promise is rejected. */
	readonly stop?: AbortSignal | undefined;
}

/**
 * Takes the lock at `where` for this process, or returns its holder, if that shows that it lives: one of this machine by its pid and start time,
 * one of another machine or container by touching the lock.
 */
export async function tryLock(
	where: string,
	doing: string,
	options: LockOptions = {},
): Promise<Lock | Holder> {
	const { watchMs = WATCH_MS, beatMs = BEAT_MS } = options;
	const { lookMs = LOOK_MS, onWatch = () => {}, stop } = options;
	const token = randomBytes(8).toString("hex");
	const text = JSON.stringify({ owner: ownerText(process.pid), doing, token });
	let watched = false;
	while (!(await make(where, text))) {
		const found = textOf(where);
		const entry = entryIn(found);
		if (entry !== null && !isGone(entry.owner)) {
			const here = isHere(entry.owner);
			if (!here && !watched) onWatch(watchMs);
			watched ||= !here;
			if (here || (await beats(where, watchMs, lookMs, stop))) return holderIn(entry);
		}
		if (found !== null) await takeAway(where, found, lookMs, stop);
	}
	const beating = setInterval(async () => {
		// A process that has taken it away since gives signs of its own.
		if (textOf(where) !== text) return;
		const now = new Date();
		await utimes(fileOf(where), now, now).catch(() => {});
	}, beatMs).unref();
	return {
		async release() {
			clearInterval(beating);
			// What cannot be removed is taken from this process as soon as it has ended.
			if (textOf(where) === text) await remove(where).catch(() => {});
		},
	};
}

/** Takes the lock, and waits for each holder before; `onWait` is called once, with the first one's pid. */
export async function takeLock(
	where: string,
	stop: AbortSignal,
	onWait: (pid: number) => void,
	options: LockOptions = {},
): Promise<Lock> {
	for (let announced = false; ; announced = true) {
		const got = await tryLock(where, "", { ...options, stop });
		if ("release" in got) return got;
		if (!announced) onWait(got.pid);
		await sleep(options.lookMs ?? LOOK_MS, undefined, { signal: stop });
	}
}

/** Who has the lock, as far as one look shows; null: no living process. */
export async function lockedBy(where: string): Promise<Holder | null> {
	const entry = entryIn(textOf(where));
	if (entry === null || isGone(entry.owner)) return null;
	const holder = holderIn(entry);
	const silentMs = Date.now() - ((await beatOf(where)) ?? 0);
	return holder.here || silentMs < SILENT_MS ? holder : null;
}

// --- internal ---

const BEAT_MS = 5_000;
/** Some beats: a machine that measures may be late with one. */
const WATCH_MS = 20_000;
/** After that one look is enough: clocks of two machines may differ by some seconds. */
const SILENT_MS = 60_000;
const LOOK_MS = 200;

/** The lock is a folder with this file in it. */
function fileOf(where: string): string {
	return path.join(where, "owner");
}

/**
 * false: there is one already. Subtle: it appears with its text, because a folder cannot be renamed to one that has something in it. Links
 * would do the same, but not every file system has them.
 */
async function make(where: string, text: string): Promise<boolean> {
	const whole = `${where}.${randomBytes(4).toString("hex")}.new`;
	await mkdir(whole, { mode: 0o700 });
	try {
		await writeFile(fileOf(whole), text, { mode: 0o600 });
		await rename(whole, where);
		return true;
	} catch (error) {
		await rm(whole, { recursive: true, force: true });
		const { code } = error as NodeJS.ErrnoException;
		if (THERE.has(code ?? "") || isThere(where)) return false;
		throw error;
	}
}

const THERE: ReadonlySet<string> = new Set(["ENOTEMPTY", "EEXIST", "ENOTDIR"]);

/** What the lock says, which is different for each holder; null: there is none. */
function textOf(where: string): string | null {
	try {
		return readGiven(fileOf(where));
	} catch {
		return isThere(where) ? "" : null;
	}
}

/** Is there anything, also a link that leads nowhere? */
function isThere(where: string): boolean {
	try {
		lstatSync(where);
		return true;
	} catch {
		return false;
	}
}

interface Entry {
	readonly owner: string;
	readonly doing: string;
}

/** null: nobody has it, or it was damaged when the power failed, or is no lock of ours. */
function entryIn(text: string | null): Entry | null {
	try {
		const { owner, doing } = JSON.parse(text ?? "");
		return typeof owner === "string" ? { owner, doing: String(doing) } : null;
	} catch {
		return null;
	}
}

function holderIn({ owner, doing }: Entry): Holder {
	return { pid: Number.parseInt(owner, 10), doing, here: isHere(owner) };
}

/** When the holder last showed that it lives; null: nobody holds it. Subtle: opened, because network file systems answer a stat from memory. */
async function beatOf(where: string): Promise<number | null> {
	const handle = await open(fileOf(where), "r").catch(() => null);
	try {
		return (await handle?.stat())?.mtimeMs ?? null;
	} finally {
		await handle?.close();
	}
}

/** Whether somebody touches it. Its time is compared with itself only: clocks of two machines differ, and any of them may jump. */
async function beats(
	where: string,
	watchMs: number,
	lookMs: number,
	stop: AbortSignal | undefined,
): Promise<boolean> {
	const first = await beatOf(where);
	for (const end = performance.now() + watchMs; performance.now() < end; ) {
		await sleep(Math.min(lookMs, watchMs), undefined, { signal: stop });
		const now = await beatOf(where);
		if (now !== first) return now !== null;
	}
	return false;
}

/**
 * Removes the lock of a holder that is gone. Subtle: when two processes find the same holder gone, the second must not remove what the first
 * has made since. So one of them at a time has the right to remove, and it looks again.
 */
async function takeAway(
	where: string,
	text: string,
	lookMs: number,
	stop: AbortSignal | undefined,
): Promise<void> {
	const right = `${where}.stale`;
	try {
		await mkdir(right);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
		const made = (await lstat(right).catch(() => null))?.mtimeMs;
		// Its time may lie ahead, too, if a clock was set back.
		if (made !== undefined && Math.abs(Date.now() - made) > SILENT_MS)
			await rm(right, { recursive: true, force: true });
		await sleep(lookMs, undefined, { signal: stop });
		return;
	}
	try {
		if (textOf(where) === text) await remove(where);
	} finally {
		await rmdir(right).catch(() => {});
	}
}

/** Subtle: under another name first, because another process may take its place while it is being emptied. */
async function remove(where: string): Promise<void> {
	const aside = `${where}.${randomBytes(4).toString("hex")}.gone`;
	try {
		await rename(where, aside);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
		throw error;
	}
	await rm(aside, { recursive: true, force: true });
}
