import { randomBytes } from "node:crypto";
import { mkdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isAlive } from "../pid.ts";

/** A lock for one process at a time; `release` gives it back. */
export interface Lock {
	release(): Promise<void>;
}

/** How often things happen, in ms. */
export interface Timing {
	/** How often a waiting process checks. */
	readonly lookMs: number;
	/** How often the holder shows that it is alive. */
	readonly beatMs: number;
	/** A holder that has been silent for this long is gone. */
	readonly silentMs: number;
}

const TIMING: Timing = { lookMs: 200, beatMs: 5_000, silentMs: 60_000 };

/**
 * Takes the lock folder at `where`, and waits for its holder. A holder that is gone loses the lock: on this machine when its process is gone,
 * elsewhere (in a container, on another machine with the same disk) when it has been silent. `onWait` is called once, with the pid.
 */
export async function takeLock(
	where: string,
	stop: AbortSignal,
	onWait: (pid: number | null) => void,
	timing = TIMING,
): Promise<Lock> {
	let announced = false;
	for (let looks = 1; ; looks++) {
		const lock = await tryLock(where, timing);
		if (lock) return lock;
		if (await isGone(where, timing)) {
			await removeStale(where, timing);
			looks = 0;
			continue;
		}
		const pid = (await holder(where))?.pid ?? null;
		// A lock is there a moment before its pid is.
		if (!announced && (pid !== null || looks > 1)) {
			onWait(pid);
			announced = true;
		}
		await sleep(timing.lookMs, undefined, { signal: stop });
	}
}

// --- internal ---

interface Holder {
	readonly pid: number;
	readonly host: string;
	/** The whole line, which is different for each holder. */
	readonly token: string;
}

async function tryLock(where: string, timing: Timing): Promise<Lock | null> {
	try {
		await mkdir(where);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "EEXIST") return null;
		throw error;
	}
	const token = `${process.pid} ${hostname()} ${randomBytes(8).toString("hex")}`;
	const file = path.join(where, "pid");
	try {
		await writeFile(file, token);
	} catch (error) {
		await rm(where, { recursive: true, force: true });
		throw error;
	}
	const heart = setInterval(() => {
		const now = new Date();
		utimes(file, now, now).catch(() => {});
	}, timing.beatMs).unref();
	return {
		async release() {
			clearInterval(heart);
			// A process that slept too long (a suspended machine) may have lost the lock.
			if ((await holder(where))?.token === token)
				await rm(where, { recursive: true, force: true });
		},
	};
}

async function isGone(where: string, timing: Timing): Promise<boolean> {
	const owner = await holder(where);
	if (owner?.host === hostname()) return !isAlive(owner.pid);
	const file = owner ? path.join(where, "pid") : where;
	return await silent(file, timing.silentMs);
}

/** Subtle: when two processes see the same stale lock, the second must not remove the first one's new lock. */
async function removeStale(where: string, timing: Timing): Promise<void> {
	const right = `${where}.stale`;
	try {
		await mkdir(right);
	} catch {
		if (await silent(right, timing.silentMs))
			await rm(right, { recursive: true, force: true });
		await sleep(timing.lookMs);
		return;
	}
	try {
		if (await isGone(where, timing))
			await rm(where, { recursive: true, force: true });
	} finally {
		await rm(right, { recursive: true, force: true });
	}
}

async function holder(where: string): Promise<Holder | null> {
	const token = await readFile(path.join(where, "pid"), "utf8").catch(() => "");
	const [pid = "", host = ""] = token.split(" ");
	return /^\d+$/.test(pid) ? { pid: Number(pid), host, token } : null;
}

async function silent(file: string, ms: number): Promise<boolean> {
	const stats = await stat(file).catch(() => null);
	return stats !== null && Date.now() - stats.mtimeMs > ms;
}
