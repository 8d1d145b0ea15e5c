import { noBroker } from "../brokers/index.ts";
import type { Plan } from "../model/plan.ts";

/** What starting a broker takes, and looking at clocks, before a run's first message. */
const START_NS = 15e9;
/** A search usually makes 10 to 15 runs and draws a curve of 5; most of them short, some as long as it takes to tell. */
const SEARCH_RUNS = 20;
const SEARCH_RUN_NS = 60e9;
/** Of a floor: its window and its start. */
const FLOOR_NS = 10e9;

/**
 * How long the runs take at most, starts of brokers and waiting for the last messages included, ns: what machines that end by themselves
 * are to outlast. Of a search, which follows from what it finds, an upper estimate.
 */
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

// --- internal ---

/** Repeats that --confirm adds. */
const CONFIRMING = 2;

function ofRun({ schedule, drainNs, search }: Plan): number {
	const around = START_NS + schedule.warmupNs + drainNs;
	return search === null
		? around + schedule.durationNs
		: SEARCH_RUNS * (around + Math.max(SEARCH_RUN_NS, schedule.durationNs));
}

function sum(all: readonly number[]): number {
	return all.reduce((total, one) => total + one, 0);
}
