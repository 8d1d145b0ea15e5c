import path from "node:path";
import { failure, type MqbenchError } from "../../runner/errors.ts";
import { tell } from "../../runner/text/tell.ts";
import { type Holder, type Lock, lockedBy, tryLock } from "../lock.ts";
import { orUnwritable } from "./unwritable.ts";

/** The folder of a rig. */
export interface Holdable {
	readonly id: string;
	readonly path: string;
}

/** While this is held, nobody else changes the rig. */
export type Hold = Lock;

export interface HoldOptions {
	/** Takes it from whoever has it, too: what expired serves nobody. */
	readonly evenFromLiving?: boolean;
	/** For how long a holder that cannot be seen from here may give no sign of life. */
	readonly watchMs?: number;
	/** Called once if that takes time. */
	say?(line: string): void;
}

/** Takes the rig for this process; fails with `cloud-held` if another process has it that shows that it lives. `doing`: "is measuring on it". */
export async function hold(
	folder: Holdable,
	doing: string,
	{ say, ...options }: HoldOptions = {},
): Promise<Hold> {
	const where = lockOf(folder);
	const onWatch = (watchMs: number) =>
		say?.(tell("watching-holder", { id: folder.id, watchNs: watchMs * 1e6 }));
	const got = await orUnwritable(where, () => tryLock(where, doing, { ...options, onWatch }));
	if ("release" in got) return got;
	throw inUse(folder.id, got);
}

/** Who holds the rig, as far as one look tells; null: no living process does. */
export async function heldBy(folder: Holdable): Promise<Holder | null> {
	return await lockedBy(lockOf(folder));
}

/** The failure of whoever wants a rig that another process has. */
export function inUse(id: string, held: Holder): MqbenchError {
	return failure("cloud-held", { id, ...held });
}

// --- internal ---

function lockOf(folder: Holdable): string {
	return path.join(folder.path, "held");
}
