import type { Supervised } from "./process.ts";

/** Asks a process behind the agent to end, and makes sure that it does. */
export async function terminate(
	child: Pick<Supervised, "signal" | "abandon" | "kill" | "ended">,
	stopMs: number,
): Promise<void> {
	child.signal("SIGTERM");
	const abandoned = setTimeout(() => child.abandon(), stopMs);
	// The agent kills after another stopMs, unless it is frozen.
	const killed = setTimeout(() => child.kill(), 2 * stopMs + GUARD_MS);
	await child.ended;
	clearTimeout(abandoned);
	clearTimeout(killed);
	child.abandon();
}

// --- internal ---

/** How much longer than its grace period the agent gets. */
const GUARD_MS = 3_000;
