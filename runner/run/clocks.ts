import type { ClockReading } from "../../infra/rig.ts";
import { largestOf } from "../extremes.ts";
import type { ClientEnd } from "../model/run-file.ts";
import { formatDuration } from "../units.ts";

/**
 * The clocks of the clients of a run. A machine's clock is known by probes over its connection, to half of a round trip. Where chrony keeps all
 * of them, and says that they agree better than that, they are one clock, and are told T0 as one.
 */

/** A client whose clock was read before the run. */
interface Clocked {
	/** "client 2 (bench@10.0.0.12)". */
	readonly label: string;
	/** null: it has our clock. */
	readonly before: ClockReading | null;
}

/** How T0 is told to the clients. */
export interface ClockOffsets {
	/** What each one's clock is taken to be ahead of ours, by index, ns. With `byChrony` the same for all. */
	readonly offsetsNs: readonly number[];
	readonly byChrony: boolean;
	/** A sentence about a chrony that is not believed; null: none. */
	readonly note: string | null;
}

/** Decides how to tell T0, as it is handed out. */
export function clockOffsetsOf(clients: readonly Clocked[]): ClockOffsets {
	const readings = clients.map(({ before }) => before);
	const offsets = readings.map((reading) => Math.round(reading?.offsetNs ?? 0));
	const byProbe = { offsetsNs: offsets, byChrony: false, note: null };
	const kept = readings.filter(isKept);
	if (kept.length < 2 || kept.length < readings.length) return byProbe;
	const utc = worstPair(kept.map(({ utcBoundNs }) => utcBoundNs));
	if (utc >= worstPair(kept.map(({ boundNs }) => boundNs))) return byProbe;
	const note = contradiction(clients, readings);
	if (note !== null) return { ...byProbe, note };
	const nearest = kept.reduce((a, b) => (b.boundNs < a.boundNs ? b : a));
	const offset = Math.round(nearest.offsetNs);
	return { ...byProbe, offsetsNs: offsets.map(() => offset), byChrony: true };
}

/** T0 (Unix ns by our clock) as the wall clock of a client shows it, which is ahead of ours by so much. */
export function t0By(offsetNs: number, t0UnixNs: bigint): bigint {
	return t0UnixNs + BigInt(offsetNs);
}

/**
 * How exactly the clocks are known over a run, by index; `after` null: nobody could ask any more. By chrony: the larger of its bounds before and
 * after. Else by the probes: whatever a clock has drifted until the reading after the run, or was stepped by, adds to the bound, and what it
 * was told T0 wrong by.
 */
export function clocksOf(
	clients: readonly (Clocked & { readonly after: ClockReading | null })[],
	offsets: ClockOffsets,
): { readonly clocks: ClientEnd["clock"][]; readonly note: string | null } {
	const probed = clients.map(({ before, after }, i) =>
		byProbes(offsets.offsetsNs[i] ?? 0, before, after),
	);
	if (!offsets.byChrony) return { clocks: probed, note: offsets.note };
	const note =
		clientThatLeft(clients) ??
		contradiction(
			clients,
			clients.map(({ after }) => after),
		);
	const clocks = clients.map(({ before, after }, i): ClientEnd["clock"] => {
		const clock = probed[i] ?? null;
		const utcNs = Math.max(before?.utcBoundNs ?? 0, after?.utcBoundNs ?? 0);
		return (
			clock && { ...clock, boundNs: Math.ceil(utcNs), source: "chrony", probedNs: clock.boundNs }
		);
	});
	const worst = (all: ClientEnd["clock"][]) => worstPair(all.map((clock) => clock?.boundNs ?? 0));
	// A source that chrony has lost meanwhile makes its bound grow.
	return note === null && worst(clocks) < worst(probed)
		? { clocks, note }
		: { clocks: probed, note };
}

// --- internal ---

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

/** Two clients whose probes show that they are further apart than both of their chronys allow: a sentence. null: there are none. */
function contradiction(
	clients: readonly Clocked[],
	readings: readonly (ClockReading | null)[],
): string | null {
	for (const [i, one] of readings.entries())
		for (const [j, other] of readings.slice(0, i).entries()) {
			if (!isKept(one) || !isKept(other)) continue;
			const apart = Math.abs(one.offsetNs - other.offsetNs) - one.boundNs - other.boundNs;
			const allowed = one.utcBoundNs + other.utcBoundNs;
			if (apart > allowed)
				return `the clocks of ${clients[j]?.label ?? ""} and ${clients[i]?.label ?? ""} are at least ${formatDuration(apart)} apart, and by their own chrony at most ${formatDuration(allowed)}: ${INSTEAD}`;
		}
	return null;
}

/** A client whose chrony has kept its clock before the run, and does not say so any more: a sentence; null: none. */
function clientThatLeft(
	clients: readonly (Clocked & { readonly after: ClockReading | null })[],
): string | null {
	const silent = clients.find(({ after }) => after !== null && !isKept(after));
	return silent === undefined
		? null
		: `after the run chrony did not answer for the clock of ${silent.label} any more: ${INSTEAD}`;
}

const INSTEAD =
	"chrony is not believed, and the clocks of this run are known by probes over SSH alone";

/** Most that two of them can be apart. */
function worstPair(bounds: readonly number[]): number {
	const [a = 0, b = 0] = [...bounds].sort((x, y) => y - x);
	return a + b;
}
