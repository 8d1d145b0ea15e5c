import { statfsSync } from "node:fs";
import os from "node:os";
import type { Plan } from "../model/plan.ts";
import { targets } from "../model/targets.ts";
import { formatBytes } from "../units.ts";

/** Told of messages that have failed so far; answers with a sentence where the disk is the reason. */
type BrokerDisk = (failed: number) => string | null;

/**
 * Looks at the disk on which brokers of this machine keep their data, once a second. A broker without room refuses messages, which says nothing of
 * the broker. Some leave a quarter of the room that they found; and topics are gone, with their messages, when a run is over.
 */
export function brokerDisk(
	{ target }: Pick<Plan, "target">,
	freeBytes: () => number | null = free,
): BrokerDisk {
	const before = targets[target].place === "process" ? freeBytes() : null;
	let full: string | null = null;
	return (failed) => {
		if (before === null || failed === 0 || full !== null) return full;
		const left = freeBytes();
		if (left !== null && left < before * LEFT_SHARE)
			full = `the broker's disk ran full: of ${formatBytes(before)} free at ${os.tmpdir()}, ${formatBytes(left)} were left. Make room, or set TMPDIR to a larger disk`;
		return full;
	};
}

// --- internal ---

const LEFT_SHARE = 0.3;

function free(): number | null {
	try {
		const { bavail, bsize } = statfsSync(os.tmpdir());
		return bavail * bsize;
	} catch {
		return null;
	}
}
