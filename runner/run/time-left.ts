import type { Plan } from "../model/plan.ts";

/** How long the runs that are still to be made will take. */
interface TimeLeft {
	/** Runs that are ahead, floors included. */
	ahead(plans: readonly Plan[]): void;
	/** A run begins: it is not ahead any more. */
	begin(plan: Plan): void;
	/** ns of all runs after this one; null: nobody knows, as with a search or a closed load that was not seen yet. */
	after(): number | null;
}

/** `nowMs`: a monotonic clock. */
export function makeTimeLeft(nowMs: () => number): TimeLeft {
	let queue: Plan[] = [];
	let current: { plan: Plan; beganMs: number } | null = null;
	/** What runs took beside their schedule: brokers that start and stop, drains. */
	const extraMs: number[] = [];
	/** Closed loads have no schedule: what runs of their case took. */
	const seenMs = new Map<string, number>();
	const settle = () => {
		if (current === null) return;
		const { plan, beganMs } = current;
		const tookMs = nowMs() - beganMs;
		if (isClosed(plan)) seenMs.set(plan.case, tookMs);
		else extraMs.push(Math.max(0, tookMs - scheduledMs(plan)));
	};
	return {
		ahead(plans) {
			queue = [...plans];
		},
		begin(plan) {
			settle();
			current = { plan, beganMs: nowMs() };
			queue = queue.filter((one) => one !== plan);
		},
		after() {
			if (current?.plan.search || queue.some((plan) => plan.search)) return null;
			const extra = mean(extraMs);
			let sumMs = 0;
			for (const plan of queue) {
				const closedMs = isClosed(plan) ? seenMs.get(plan.case) : undefined;
				if (isClosed(plan) && closedMs === undefined) return null;
				sumMs += closedMs ?? scheduledMs(plan) + extra;
			}
			return sumMs * 1e6;
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

function mean(values: readonly number[]): number {
	return values.length === 0 ? 0 : values.reduce((a, b) => a + b, 0) / values.length;
}
