/** What standing up and taking down may take on top of the machines' own time. */
const GRACE_MINUTES = 30;

/** From when on a sweep may remove a rig that is stood up now: its machines have ended themselves by then. */
export function expiresAt(ttlMinutes: number, nowMs: number): string {
	return inMinutes(ttlMinutes + GRACE_MINUTES, nowMs);
}

/** From when on machines may end themselves that are rented now: what is measured on them is to be over by then. */
export function endsAt(ttlMinutes: number, nowMs: number): string {
	return inMinutes(ttlMinutes, nowMs);
}

// --- internal ---

function inMinutes(minutes: number, nowMs: number): string {
	return new Date(nowMs + minutes * 60_000).toISOString();
}
