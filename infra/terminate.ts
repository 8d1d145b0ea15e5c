import type { Guarded } from "./process.ts";

/** Asks a process behind guard to end, and sees to it that it does. */
export async function terminate(
	child: Pick<Guarded, "signal" | "abandon" | "kill" | "ended">,
	stopMs: number,
): Promise<void> {
	child.signal("SIGTERM");
	const abandoned = setTimeout(() => child.abandon(), stopMs);
	// Guard kills after another stopMs, unless somebody has frozen guard.
	const killed = setTimeout(() => child.kill(), 2 * stopMs + GUARD_MS);
	await child.ended;
	clearTimeout(abandoned);
	clearTimeout(killed);
	child.abandon();
}

// --- internal ---

/** Guard has this long beyond its grace. */
const GUARD_MS = 3_000;
