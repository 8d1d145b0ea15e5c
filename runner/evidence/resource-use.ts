import type { ResourceLine } from "../model/resource-file.ts";
import type { Run } from "../model/result.ts";

/** Cores and bytes per second that generator, broker and machine used; null: not known. */
export type Use = Omit<Run["series"]["resources"][number], "at">;

/**
 * What was used between two samples. A counter that went backwards belongs to processes that ended or began anew: null, never
 * negative. null: there is no first sample, or they are too close to each other.
 */
export function useBetween(before: ResourceLine | undefined, now: ResourceLine): Use | null {
	const seconds = before ? (now.unixMs - before.unixMs) / 1000 : 0;
	if (!before || seconds < SHORTEST_S) return null;
	const busy = (m: ResourceLine["machine"]) =>
		m.cpuNs === null || m.idleNs === null ? null : m.cpuNs - m.idleNs;
	return {
		generator: usage(before.generator, now.generator, seconds),
		broker: usage(before.broker, now.broker, seconds),
		machine: {
			busyCores: perSecond(busy(before.machine), busy(now.machine), seconds, 1e9),
			stealCores: perSecond(before.machine.stealNs, now.machine.stealNs, seconds, 1e9),
		},
		network: networkOf(before.network, now.network, seconds),
	};
}

// --- internal ---

/** /proc counts CPU in hundredths of a second: over less than a tenth of one it is mostly rounding. */
const SHORTEST_S = 0.1;

type Usage = NonNullable<ResourceLine["generator"]>;

function networkOf(
	before: ResourceLine["network"],
	now: ResourceLine["network"],
	seconds: number,
): Use["network"] {
	if (before === null || now === null) return null;
	return {
		rxBytesPerSecond: perSecond(before.rxBytes, now.rxBytes, seconds),
		txBytesPerSecond: perSecond(before.txBytes, now.txBytes, seconds),
	};
}

function usage(before: Usage | null, now: Usage | null, seconds: number): Use["broker"] {
	if (before === null || now === null) return null;
	return {
		cores: perSecond(before.cpuNs, now.cpuNs, seconds, 1e9),
		rssBytes: now.rssBytes,
		readBytesPerSecond: perSecond(before.readBytes, now.readBytes, seconds),
		writeBytesPerSecond: perSecond(before.writeBytes, now.writeBytes, seconds),
	};
}

function perSecond(
	before: number | null,
	now: number | null,
	seconds: number,
	unit = 1,
): number | null {
	if (before === null || now === null || now < before) return null;
	return Number(((now - before) / unit / seconds).toPrecision(6));
}
