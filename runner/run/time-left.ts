import type { Plan } from "../model/plan.ts";
import { sum } from "../stats/sum.ts";

/** How long the runs that are still to be made will take. */
interface TimeLeft {
	/** Runs that are ahead, floors included. */
	ahead(plans: readonly Plan[]): void;
	/** A run begins: it is not ahead any more. */
	begin(plan: Plan): void;
	/** ns of all runs after this one; null: nobody knows, as with a search or a closed load. */
	after(): number | null;
}

/** `nowMs`: a monotonic clock. */
export function makeTimeLeft(nowMs: () => number): TimeLeft {
	let queue: Plan[] = [];
	let current: { plan: Plan; beganMs: number } | null = null;
	/** What runs took beside their schedule: brokers that start and stop, drains. */
	const extraMs: number[] = [];
	return {
		ahead(plans) {
			queue = [...plans];
		},
		begin(plan) {
			if (current !== null && !isClosed(current.plan))
				extraMs.push(Math.max(0, nowMs() - current.beganMs - scheduledMs(current.plan)));
			current = { plan, beganMs: nowMs() };
			queue = queue.filter((one) => one !== plan);
		},
		after() {
			if (current?.plan.search || queue.some((plan) => plan.search || isClosed(plan))) return null;
			const extra = sum(extraMs) / Math.max(1, extraMs.length);
			return sum(queue.map((plan) => scheduledMs(plan) + extra)) * 1e6;
		},
	};
}

// --- internal ---

function isClosed({ schedule }: Plan): boolean {
	return schedule.kind === "closed";
}

function scheduledMs({ schedule }: Plan): number {
	return (schedule.warmupNs + schedule.durationNs) / 1e6;
}
