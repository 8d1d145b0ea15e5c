import { randomBytes } from "node:crypto";
import { link, readFile, rename, rm } from "node:fs/promises";
import path from "node:path";
import { failure } from "../../runner/errors.ts";
import { isGone, ownerText } from "../owner.ts";
import { orUnwritable, write } from "./whole-file.ts";

/** The folder of a rig. */
export interface Holdable {
	readonly id: string;
	readonly path: string;
}

/** While this is held, nobody else changes the rig. */
export interface Hold {
	release(): Promise<void>;
}

/** Takes the rig for this process; fails with `cloud-held` if another living process has it. `doing`: "is measuring on it". */
export async function hold(folder: Holdable, doing: string): Promise<Hold> {
	const file = path.join(folder.path, "held");
	const token = randomBytes(8).toString("hex");
	const text = JSON.stringify({ owner: ownerText(process.pid), doing, token });
	for (;;) {
		if (await orUnwritable(file, () => make(file, text))) break;
		const holder = await holderOf(file);
		if (holder !== null && !isGone(holder.owner))
			throw failure("cloud-held", {
				id: folder.id,
				pid: Number.parseInt(holder.owner, 10),
				doing: holder.doing,
				file,
			});
		await takeAway(file, holder?.token);
	}
	return {
		async release() {
			if ((await holderOf(file))?.token === token)
				await rm(file, { force: true });
		},
	};
}

/** What the process that holds the rig does with it; null: no living process holds it. */
export async function heldBy(folder: Holdable): Promise<string | null> {
	const holder = await holderOf(path.join(folder.path, "held"));
	return holder === null || isGone(holder.owner) ? null : holder.doing;
}

// --- internal ---

/** false: it exists already. Subtle: the file appears with its full text, as a link to a file that was written before. */
async function make(file: string, text: string): Promise<boolean> {
	const whole = `${file}.${randomBytes(4).toString("hex")}.new`;
	await write(whole, text);
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
