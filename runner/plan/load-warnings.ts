import type { Plan } from "../model/plan.ts";
import { busy, busyShare, type Consuming, idle, type LoadProblem } from "../scenario/consumers.ts";
import { say } from "../text/say.ts";
import { ratePerSecond } from "../units.ts";
import { distinct } from "./distinct.ts";
import { intendedInWindow } from "./samples.ts";

/** What a load asks of itself that no broker can mend, as sentences; each once, with the first run that it is about. */
export function loadWarnings(plans: readonly Plan[]): string[] {
	const pairs = distinct(plans, (plan) => JSON.stringify([plan.system, plan.case]));
	const warnings = new Map<string, string[]>();
	for (const plan of pairs)
		for (const text of [idle(consuming(plan)), busyAt(plan), idleProducers(plan)]
			.flatMap((problem) => problem ?? [])
			.map(textOf))
			warnings.set(text, [...(warnings.get(text) ?? []), `${plan.system}, ${plan.case}`]);
	return [...warnings].map(
		([text, [first, ...more]]) =>
			`${first}${more.length === 0 ? "" : ` (and ${more.length} more)`}: ${text}`,
	);
}

/** The group that a plan's consumers are. */
export function consuming(plan: Plan): Consuming {
	return { ...plan, topics: plan.topics.length };
}

/** Producers that have nothing to send in the window; null: there are none. */
export function idleProducers(plan: Plan): LoadProblem | null {
	const messages = intendedInWindow(plan);
	const { producers, connections } = plan;
	if (plan.quick || plan.search !== null || messages >= producers) return null;
	const idle = producers - messages;
	return {
		said: say("producers-idle", { idle, producers, messages }),
		remedy:
			connections > messages
				? say("write-connections", { connections: Math.max(1, messages) })
				: say("write-producers", { producers: Math.max(1, messages) }),
	};
}

// --- internal ---

function textOf({ said, remedy }: LoadProblem): string {
	return `${said.text}; ${remedy.text}`;
}

/** At its highest rate; what has none is bounded by its consumers. */
function busyAt(plan: Plan): LoadProblem | null {
	const of = consuming(plan);
	const { rate } = plan.schedule;
	if (rate !== null && plan.search === null) return busy(of, ratePerSecond(rate));
	const perMessage = busyShare(of, 1);
	return perMessage === 0
		? null
		: {
				said: say("consumers-bound", {
					workNs: of.work?.meanNs ?? 0,
					perSecond: Math.floor(1 / perMessage),
				}),
				remedy: say("more-consumers"),
			};
}
