/**
 * Time for standing up and taking down, on top of the machines' own time, which begins when each of them starts. A type without a hypervisor
 * may take 40 minutes to be made (infra/aws/machine.ts): a rig that is measured on must never count as expired.
 */
const GRACE_MINUTES = 60;

/** When a sweep may remove a rig that is stood up now: its machines have ended themselves by then. */
export function expiresAt(ttlMinutes: number, nowMs: number): string {
	return inMinutes(ttlMinutes + GRACE_MINUTES, nowMs);
}

/** When machines that are rented now may end themselves at the earliest; measurements have to be over by then. */
export function endsAt(ttlMinutes: number, nowMs: number): string {
	return inMinutes(ttlMinutes, nowMs);
}

/** Whether that moment has come; false: it is not known when it comes. */
export function isOver(iso: string | null | undefined, nowMs: number): boolean {
	return iso != null && Date.parse(iso) <= nowMs;
}

// --- internal ---

function inMinutes(minutes: number, nowMs: number): string {
	return new Date(nowMs + minutes * 60_000).toISOString();
}
