import { ceilDiv } from "../stats/support.ts";
import type { Rate } from "../units.ts";

/** When the consumers of a backlog pause and resume, in ns from the window's start: whole seconds, so that reports can tell the phases apart. */
interface BacklogTimes {
	readonly pauseNs: number;
	readonly resumeNs: number;
	/** A duration, in whole seconds, from which on there is at least as much time after the resumption as before the pause. */
	readonly neededNs: number;
}

/**
 * `before` is a fifth of the duration, at least 1 s; `build` lasts until `messages` are due: ceil(messages / rate) s; the
 * rest drains.
 */
export function backlogTimes(durationNs: number, rate: Rate, messages: number): BacklogTimes {
	const before = beforeSeconds(durationNs / SECOND);
	const build = Number(
		ceilDiv(BigInt(messages) * BigInt(rate.perNs), BigInt(rate.messages) * BigInt(SECOND)),
	);
	// Two fifths go to both ends, so that it lies near 5/3 of the build. From above: 15 s may be too short where 14 s are not.
	let needed = Math.ceil((5 * build) / 3) + 5;
	while (needed - 1 >= 2 * beforeSeconds(needed - 1) + build) needed--;
	return {
		pauseNs: before * SECOND,
		resumeNs: (before + build) * SECOND,
		neededNs: needed * SECOND,
	};
}

// --- internal ---

const SECOND = 1e9;

function beforeSeconds(seconds: number): number {
	return Math.max(1, Math.floor(seconds / 5));
}
