import { CATCH_UP } from "../model/load.ts";
import type { Plan } from "../model/plan.ts";
import type { ProgressLine } from "./progress-line.ts";

export type Crossing = NonNullable<Extract<ProgressLine, { mqbench: "tick" }>["crossing"]>;

/**
 * Called once a second; true when everything has arrived and no count has changed since. A premature true would count messages under way as
 * lost; without a true the drain decides. Subtle: in the counts, a message that two clients received looks like two messages. So the sum
 * must be exact, and a shared queue with faults, after which brokers redeliver, is never cut short.
 */
export function makeArrival(
	plan: Pick<Plan, "pattern" | "acks" | "subscriptions" | "faults">,
): (clients: readonly (Crossing | null)[]) => boolean {
	// A catch-up has one receiver.
	const shared = plan.pattern !== "fan-out" && plan.pattern !== CATCH_UP;
	let before: string | null = null;
	return (clients) => {
		const known = clients.filter((one) => one !== null);
		if (known.length < clients.length || (shared && plan.faults.length > 0)) return false;
		const sum = (of: (one: Crossing) => number) => known.reduce((all, one) => all + of(one), 0);
		const owed = plan.acks
			? sum((one) => one.acked ?? 0)
			: sum((one) => one.sent - one.failed - one.unanswered);
		const copies = plan.pattern === "fan-out" ? plan.subscriptions : 1;
		const whole =
			known.every(({ paced }) => paced) &&
			(!plan.acks || sum((one) => one.unanswered) === 0) &&
			sum((one) => one.received) === owed * copies;
		const now = whole ? JSON.stringify(known) : null;
		const still = now !== null && now === before;
		before = now;
		return still;
	};
}
