/** What standing up and taking down may take on top of the machines' own time. */
const GRACE_MINUTES = 30;

/** From when on a sweep may remove a rig that is stood up now: its machines have ended themselves by then. */
export function expiresAt(ttlMinutes: number, nowMs: number): string {
	return new Date(nowMs + (ttlMinutes + GRACE_MINUTES) * 60_000).toISOString();
}
