import type { Collected } from "../run/collect.ts";
import type { ResourceLine } from "../run/resource-file.ts";
import type { Run } from "./summary.ts";

type Point = Run["series"]["resources"][number];
type Usage = NonNullable<ResourceLine["generator"]>;

/**
 * What generator, broker and machine used between two samples, as rates; `at` is the end, in seconds since T0. A counter that
 * went backwards belongs to processes that ended or began anew: null, never negative.
 */
export function resourceSeries({ resources, clients }: Collected): Point[] {
	const t0 = clients[0]?.t0UnixNs;
	if (t0 === undefined) return [];
	const t0Ms = Number(t0) / 1e6;
	return resources.slice(1).flatMap((now, i): Point[] => {
		const before = resources[i];
		const seconds = before ? (now.unixMs - before.unixMs) / 1000 : 0;
		if (!before || seconds < SHORTEST_S) return [];
		const busy = (m: ResourceLine["machine"]) =>
			m.cpuNs === null || m.idleNs === null ? null : m.cpuNs - m.idleNs;
		return [
			{
				at: Math.round(now.unixMs - t0Ms) / 1000,
				generator: usage(before.generator, now.generator, seconds),
				broker: usage(before.broker, now.broker, seconds),
				machine: {
					busyCores: perSecond(
						busy(before.machine),
						busy(now.machine),
						seconds,
						1e9,
					),
					stealCores: perSecond(
						before.machine.stealNs,
						now.machine.stealNs,
						seconds,
						1e9,
					),
				},
			},
		];
	});
}

// --- internal ---

/** /proc counts CPU in hundredths of a second: over less than a tenth of one it is mostly rounding. */
const SHORTEST_S = 0.1;

function usage(
	before: Usage | null,
	now: Usage | null,
	seconds: number,
): Point["broker"] {
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
