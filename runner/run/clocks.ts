import type { ClockReading } from "../../infra/rig.ts";
import type { ClientEnd } from "./run-file.ts";

/** T0 (Unix ns by our clock) as the wall clock of a client shows it; `reading` null: it is the same clock. */
export function t0By(reading: ClockReading | null, t0UnixNs: bigint): bigint {
	return t0UnixNs + BigInt(Math.round(reading?.offsetNs ?? 0));
}

/**
 * How exactly a client's clock is known over a run. T0 was handed out by the reading before it; whatever its clock has drifted until
 * the one after it, or was stepped by, adds to the bound. `after` null: nobody could ask any more.
 */
export function clockBound(
	before: ClockReading | null,
	after: ClockReading | null,
): ClientEnd["clock"] {
	if (before === null) return null;
	const beforeNs = Math.round(before.offsetNs);
	const afterNs = after === null ? null : Math.round(after.offsetNs);
	return {
		beforeNs,
		afterNs,
		boundNs:
			Math.ceil(Math.max(before.boundNs, after?.boundNs ?? 0)) +
			Math.abs((afterNs ?? beforeNs) - beforeNs),
	};
}
