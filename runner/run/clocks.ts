import type { ClockReading } from "../../infra/rig.ts";
import { largestOf } from "../extremes.ts";
import type { ClientEnd } from "../model/run-file.ts";

/** Readings of a client's clock, null if it has our clock or could not be asked. */
interface Clocked {
	readonly before: ClockReading | null;
	readonly after: ClockReading | null;
}

/**
 * The assumed lead of each clock over ours, ns, by index. Where chrony keeps all clients' clocks, in tighter bounds than the probes' half
 * round trips, they are one clock and get the same T0.
 */
export function clockOffsetsOf(clients: readonly Pick<Clocked, "before">[]) {
	const readings = clients.map(({ before }) => before);
	const offsetsNs = readings.map((reading) => Math.round(reading?.offsetNs ?? 0));
	const byProbe = { offsetsNs, byChrony: false, note: null as string | null };
	const kept = readings.filter(isKept);
	if (kept.length < 2 || kept.length < readings.length) return byProbe;
	const utc = worstPair(kept.map(({ utcBoundNs }) => utcBoundNs));
	if (utc >= worstPair(kept.map(({ boundNs }) => boundNs))) return byProbe;
	if (isDenied(kept)) return { ...byProbe, note: NOT_BELIEVED };
	const offset = Math.round(kept.reduce((a, b) => (b.boundNs < a.boundNs ? b : a)).offsetNs);
	return { ...byProbe, offsetsNs: offsetsNs.map(() => offset), byChrony: true };
}

/** Error bounds by index: chrony's larger one of before and after, or the probes' with drift, steps and the error of the given T0. */
export function clocksOf(clients: readonly Clocked[]) {
	const offsets = clockOffsetsOf(clients);
	const probed = clients.map(({ before, after }, i) =>
		byProbes(offsets.offsetsNs[i] ?? 0, before, after),
	);
	if (!offsets.byChrony) return { clocks: probed, note: offsets.note };
	const later = clients.flatMap(({ after }) => after ?? []);
	const note = later.every(isKept) && !isDenied(later) ? null : NOT_BELIEVED;
	const clocks = clients.map(({ before, after }, i): ClientEnd["clock"] => {
		const clock = probed[i] ?? null;
		const utcNs = Math.max(before?.utcBoundNs ?? 0, after?.utcBoundNs ?? 0);
		return (
			clock && { ...clock, boundNs: Math.ceil(utcNs), source: "chrony", probedNs: clock.boundNs }
		);
	});
	const worst = (all: ClientEnd["clock"][]) => worstPair(all.map((clock) => clock?.boundNs ?? 0));
	// If chrony loses its source during the run, its bound grows.
	return { clocks: note === null && worst(clocks) < worst(probed) ? clocks : probed, note };
}

// --- internal ---

const NOT_BELIEVED =
	"chrony is not believed, because the probes over SSH show clocks of clients further apart than it allows, or it did not answer after the run: the clocks are known by the probes alone";

type Kept = ClockReading & { readonly utcBoundNs: number };

function isKept(reading: ClockReading | null): reading is Kept {
	return reading?.utcBoundNs != null;
}

function byProbes(
	toldNs: number,
	before: ClockReading | null,
	after: ClockReading | null,
): ClientEnd["clock"] {
	if (before === null) return null;
	const afterNs = after === null ? null : Math.round(after.offsetNs);
	const away = [Math.round(before.offsetNs), afterNs ?? toldNs].map((ns) => Math.abs(ns - toldNs));
	return {
		beforeNs: toldNs,
		afterNs,
		readNs: Math.round(before.offsetNs),
		boundNs: Math.ceil(Math.max(before.boundNs, after?.boundNs ?? 0)) + largestOf(away),
		source: "probes",
		probedNs: null,
	};
}

/** Do the probes show two clients further apart than both of their chronys allow? */
function isDenied(readings: readonly Kept[]): boolean {
	return readings.some((one, i) =>
		readings.slice(0, i).some((other) => {
			const apart = Math.abs(one.offsetNs - other.offsetNs) - one.boundNs - other.boundNs;
			return apart > one.utcBoundNs + other.utcBoundNs;
		}),
	);
}

/** The largest possible distance between two clocks. */
function worstPair(bounds: readonly number[]): number {
	const [a = 0, b = 0] = [...bounds].sort((x, y) => y - x);
	return a + b;
}
