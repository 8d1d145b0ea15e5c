import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isAlive } from "../pid.ts";

/** Held by one process at a time; `release` gives it back. */
export interface Lock {
	release(): Promise<void>;
}

/**
 * Takes the lock folder at `where`, waiting for whoever holds it. A holder that is gone (its pid does not exist any
 * more, or it left no pid behind for 10 s) loses it. `onWait` is called once, with the holder's pid.
 */
export async function takeLock(
	where: string,
	stop: AbortSignal,
	onWait: (pid: number | null) => void,
): Promise<Lock> {
	let told = false;
	for (;;) {
		try {
			await mkdir(where);
			await writeFile(path.join(where, "pid"), String(process.pid));
			return { release: () => rm(where, { recursive: true, force: true }) };
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
		}
		const pid = await holder(where);
		if (pid === null ? await older(where, 10_000) : !isAlive(pid)) {
			await rm(where, { recursive: true, force: true });
			continue;
		}
		if (!told) onWait(pid);
		told = true;
		await sleep(200, undefined, { signal: stop });
	}
}

// --- internal ---

async function holder(where: string): Promise<number | null> {
	const text = await readFile(path.join(where, "pid"), "utf8").catch(() => "");
	const pid = Number(text);
	return Number.isInteger(pid) && pid > 0 ? pid : null;
}

async function older(where: string, ms: number): Promise<boolean> {
	const found = await stat(where).catch(() => null);
	return found !== null && Date.now() - found.mtimeMs > ms;
}
