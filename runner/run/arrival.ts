import type { Plan } from "../model/plan.ts";
import type { ProgressLine } from "./progress-line.ts";

/** What a client has counted so far in a run whose messages cross from client to client. */
export type Crossing = NonNullable<Extract<ProgressLine, { mqbench: "tick" }>["crossing"]>;

/**
 * Tells from the counts of all clients whether everything has arrived: asked once a second, and true only when they have not changed
 * since. It may say no for ever, then the drain decides; it must not say yes while a message is still under way, which would be told as lost.
 *
 * Subtle: counts of several clients cannot tell a message that two of them received from two messages. So the sum has to be what is
 * expected, not more; and where a fault makes brokers deliver anew (a queue's members: each sees its own receipts only) nothing is cut short.
 */
export function makeArrival(
	plan: Pick<Plan, "pattern" | "acks" | "subscriptions" | "faults">,
): (clients: readonly (Crossing | null)[]) => boolean {
	const shared = plan.pattern !== "fan-out";
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
