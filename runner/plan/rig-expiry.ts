import { noBroker } from "../brokers/index.ts";
import type { Plan } from "../model/plan.ts";
import type { RigFile } from "../scenario/rig-file.ts";
import { sum } from "../stats/sum.ts";
import { formatDuration } from "../units.ts";
import type { World } from "../world.ts";

/** Longest duration of all runs with broker starts and drains, ns: rented machines must outlast it. A search is an upper estimate. */
export function longest(
	plans: readonly Plan[],
	also: { readonly floors: boolean; readonly confirm: boolean },
): number {
	const runs = sum(plans.map(ofRun));
	const [first] = plans;
	const repeats = first?.repeats ?? 1;
	const cases = new Set(plans.filter(({ broker }) => broker !== noBroker).map((plan) => plan.case));
	return (
		runs +
		(also.confirm ? Math.ceil((runs * CONFIRMING) / repeats) : 0) +
		(also.floors ? cases.size * FLOOR_NS : 0)
	);
}

/** Null if it has no end, or none that is known. */
export function rigEndsAt({ cloud, expiresAt }: RigFile): string | null {
	return cloud?.endsAt ?? expiresAt;
}

/** `doing`: "the runs take". */
export function rigExpiryWarnings(
	rig: RigFile | null,
	takesNs: number,
	{ doing, remedy }: { readonly doing: string; readonly remedy: string },
	{ clock }: Pick<World, "clock">,
): string[] {
	const end = rig === null ? null : rigEndsAt(rig);
	if (rig === null || end === null) return [];
	const leftNs = (Date.parse(end) - clock.nowMs()) * 1e6;
	if (leftNs < 0)
		return [
			`the rig ${rig.id} has expired (${end}): what is measured on it may end at any moment; stand a new one up`,
		];
	return leftNs < takesNs
		? [
				`the rig ${rig.id} ends in ${formatDuration(leftNs)} (${end}), and ${doing} up to ${formatDuration(takesNs)}: ${remedy}`,
			]
		: [];
}

// --- internal ---

/** A broker's start and a look at clocks, before a run's first message. */
const START_NS = 15e9;
/** A search usually makes 10 to 15 runs and a curve of 5, most of them short. */
const SEARCH_RUNS = 20;
const SEARCH_RUN_NS = 60e9;
/** A floor's window and start. */
const FLOOR_NS = 10e9;
/** Repeats that --confirm adds. */
const CONFIRMING = 2;

function ofRun({ schedule, drainNs, search }: Plan): number {
	const around = START_NS + schedule.warmupNs + drainNs;
	return search === null
		? around + schedule.durationNs
		: SEARCH_RUNS * (around + Math.max(SEARCH_RUN_NS, schedule.durationNs));
}
