import { randomBytes } from "node:crypto";
import { link, open, readFile, rename, rm, utimes } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { failure, type MqbenchError } from "../../runner/errors.ts";
import { tell } from "../../runner/text/tell.ts";
import { writeNew } from "../../runner/whole-file.ts";
import { isGone, isHere, ownerText } from "../owner.ts";
import { orUnwritable } from "./unwritable.ts";

/** The folder of a rig. */
export interface Holdable {
	readonly id: string;
	readonly path: string;
}

/** While this is held, nobody else changes the rig. */
export interface Hold {
	release(): Promise<void>;
}

export interface HoldOptions {
	/** Takes it from whoever has it, too: what expired serves nobody. */
	readonly evenFromLiving?: boolean;
	/** For how long a holder that cannot be seen from here may give no sign of life. */
	readonly watchMs?: number;
	/** Called once if that takes time. */
	say?(line: string): void;
}

/**
 * Takes the rig for this process; fails with `cloud-held` if another process has it that shows that it lives: one of this machine by its pid,
 * one of another machine or container by touching the file. `doing`: "is measuring on it".
 */
export async function hold(
	folder: Holdable,
	doing: string,
	{ evenFromLiving = false, watchMs = WATCH_MS, say }: HoldOptions = {},
): Promise<Hold> {
	const file = path.join(folder.path, "held");
	const token = randomBytes(8).toString("hex");
	const text = JSON.stringify({ owner: ownerText(process.pid), doing, token });
	for (;;) {
		if (await orUnwritable(file, () => make(file, text))) break;
		const holder = await holderOf(file);
		if (holder !== null && !evenFromLiving && !isGone(holder.owner)) {
			const here = isHere(holder.owner);
			if (!here)
				say?.(
					tell("watching-holder", { id: folder.id, watchNs: watchMs * 1e6 }),
				);
			if (here || (await beats(file, watchMs)))
				throw inUse(folder.id, heldOf(holder));
		}
		await takeAway(file, holder?.token);
	}
	const beating = setInterval(async () => {
		// Whoever took it away since shows by itself that it lives.
		if ((await holderOf(file))?.token !== token) return;
		const now = new Date();
		await utimes(file, now, now).catch(() => {});
	}, BEAT_MS).unref();
	return {
		async release() {
			clearInterval(beating);
			if ((await holderOf(file))?.token === token)
				await rm(file, { force: true });
		},
	};
}

export interface Held {
	readonly pid: number;
	/** What it does with the rig. */
	readonly doing: string;
	/** It is a process of this machine, and certainly lives. */
	readonly here: boolean;
}

/** Who holds the rig, as far as one look tells; null: no living process does. */
export async function heldBy(folder: Holdable): Promise<Held | null> {
	const file = path.join(folder.path, "held");
	const holder = await holderOf(file);
	if (holder === null || isGone(holder.owner)) return null;
	const held = heldOf(holder);
	const silentMs = Date.now() - ((await beatOf(file)) ?? 0);
	return held.here || silentMs < SILENT_MS ? held : null;
}

/** The failure of whoever wants a rig that another process has. */
export function inUse(id: string, held: Held): MqbenchError {
	return failure("cloud-held", { id, ...held });
}

// --- internal ---

/** How often a holder shows that it lives. */
const BEAT_MS = 5_000;
/** Some beats: a machine that measures may be late with one. */
const WATCH_MS = 20_000;
/** After that one look is enough: clocks of two machines may differ by some seconds. */
const SILENT_MS = 60_000;
const LOOK_MS = 250;

/** false: it exists already. Subtle: the file appears with its full text, as a link to a file that was written before. */
async function make(file: string, text: string): Promise<boolean> {
	const whole = `${file}.${randomBytes(4).toString("hex")}.new`;
	writeNew(whole, text, 0o600);
	try {
		await link(whole, file);
		return true;
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
		throw error;
	} finally {
		await rm(whole, { force: true });
	}
}

interface Holder {
	readonly owner: string;
	readonly doing: string;
	readonly token: string;
}

function heldOf({ owner, doing }: Holder): Held {
	return { pid: Number.parseInt(owner, 10), doing, here: isHere(owner) };
}

/** When the holder last showed that it lives; null: nobody holds it. Subtle: opened, because network file systems answer a stat from memory. */
async function beatOf(file: string): Promise<number | null> {
	const handle = await open(file, "r").catch(() => null);
	try {
		return (await handle?.stat())?.mtimeMs ?? null;
	} finally {
		await handle?.close();
	}
}

/** Whether somebody touches the file. Its time is compared with itself only: clocks of two machines differ, and any of them may jump. */
async function beats(file: string, watchMs: number): Promise<boolean> {
	const first = await beatOf(file);
	for (const end = performance.now() + watchMs; performance.now() < end; ) {
		await sleep(Math.min(LOOK_MS, watchMs));
		const now = await beatOf(file);
		if (now !== first) return now !== null;
	}
	return false;
}

async function holderOf(file: string): Promise<Holder | null> {
	try {
		return JSON.parse(await readFile(file, "utf8")) as Holder;
	} catch {
		return null;
	}
}

/** Subtle: when two processes find the same holder gone, the second must not remove what the first has made since, so it checks what it got. */
async function takeAway(
	file: string,
	token: string | undefined,
): Promise<void> {
	const aside = `${file}.${randomBytes(4).toString("hex")}.gone`;
	try {
		await rename(file, aside);
	} catch {
		return;
	}
	const taken = await holderOf(aside);
	if (taken !== null && taken.token !== token)
		await link(aside, file).catch(() => {});
	await rm(aside, { force: true });
}
