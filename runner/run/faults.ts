import { setTimeout as sleep } from "node:timers/promises";
import type { Broker } from "../../infra/rig.ts";
import type { Plan } from "../plan/plan.ts";
import { formatDuration } from "../units.ts";

/** The faults of a run, while it goes on. */
export interface Faults {
	/** T0 is known, milliseconds since 1970: from now on they happen. */
	begin(t0Ms: number): void;
	/** None begins any more, and what is paused goes on. Returns what was done, sentence by sentence. */
	end(): Promise<string[]>;
}

/** Does to a broker what the plan says. `nowMs` is the clock that T0 is told in. */
export function faultsOf(
	plan: Plan,
	broker: Pick<Broker, "pause">,
	nowMs: () => number,
): Faults {
	const over = new AbortController();
	const done: string[] = [];
	let running: Promise<unknown> = Promise.resolve();
	const one = async (fault: Plan["faults"][number], t0Ms: number) => {
		await until(t0Ms + fault.atNs / 1e6, nowMs, over.signal);
		if (over.signal.aborted) return;
		const began = nowMs();
		const resume = broker.pause(fault.node);
		await until(began + fault.forNs / 1e6, nowMs, over.signal);
		resume();
		// What was done, not what was planned: timers are late, too.
		const atNs = (began - t0Ms) * 1e6 - plan.schedule.warmupNs;
		done.push(
			`${fault.node === null ? "the broker" : `node ${fault.node}`} was paused for ${formatDuration((nowMs() - began) * 1e6)}, ${formatDuration(Math.max(0, atNs))} into the measured part`,
		);
	};
	return {
		begin(t0Ms) {
			running = Promise.all(plan.faults.map((fault) => one(fault, t0Ms)));
		},
		async end() {
			over.abort();
			await running;
			return done;
		},
	};
}

// --- internal ---

async function until(
	atMs: number,
	nowMs: () => number,
	over: AbortSignal,
): Promise<void> {
	await sleep(Math.max(0, atMs - nowMs()), undefined, { signal: over }).catch(
		() => {},
	);
}
