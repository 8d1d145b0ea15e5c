import { consuming, idleProducers } from "../../plan/load-warnings.ts";
import { type Busy, busy, busyShare, idle } from "../../scenario/consumers.ts";
import { percent } from "../../text/percent.ts";
import { say } from "../../text/say.ts";
import { ratePerSecond } from "../../units.ts";
import type { Facts } from "../facts.ts";
import type { Judgement } from "../judgement.ts";
import { ratesOf } from "../rates.ts";
import { meanRate } from "../window-length.ts";
import { backlog } from "./backlog.ts";
import type { Check, Finding } from "./check.ts";

/**
 * Did messages wait for our own consumers? Where their work takes longer than the rate leaves them, the queue grows whatever the broker does:
 * what fails then says nothing about it.
 */
export const consumers: Check = {
	name: "consumers",
	applies: ({ plan }) => plan.consumers > 0 && (plan.work !== null || plan.groupsByPartition),
	judge(facts, judgements) {
		const of = consuming(facts.collected.plan);
		const working = busiest(facts);
		const waiting = idle(of);
		if (working?.beyond && decided(facts, judgements))
			return { status: "invalid", ...working, figure: figureOf(facts) };
		const warning = waiting ?? working;
		return warning === null
			? { status: "ok", said: say("consumers-free"), figure: figureOf(facts) }
			: { status: "warn", ...warning, figure: figureOf(facts) };
	},
};

/** Had every producer something to send? */
export const producers: Check = {
	name: "producers",
	applies: ({ plan }) => idleProducers(plan) !== null,
	judge({ collected }): Finding {
		const idle = idleProducers(collected.plan);
		return idle === null ? { status: "ok", said: say("all-offered") } : { status: "warn", ...idle };
	},
};

// --- internal ---

/** In the step of the load that asks the most of them. */
function busiest(facts: Facts): Busy | null {
	const perSecond = highestRate(facts);
	return perSecond === null ? null : busy(consuming(facts.collected.plan), perSecond);
}

/** Of a closed load what was received; of one that changes without steps its mean: a queue of its peak may be worked off. */
function highestRate({ collected }: Facts): number | null {
	const { plan } = collected;
	const { rate, kind } = plan.schedule;
	if (kind === "closed") return ratesOf(collected).received;
	return plan.phases.length > 0 && rate !== null ? ratePerSecond(rate) : meanRate(plan);
}

/** Was something judged that did not pass, or did the queue grow? */
function decided(facts: Facts, judgements: readonly Judgement[]): boolean {
	return (
		judgements.some(({ verdict }) => verdict === "fail" || verdict === "inconclusive") ||
		(backlog.applies?.(facts.collected) !== false &&
			backlog.judge(facts, judgements).status === "fail")
	);
}

function figureOf(facts: Facts): string | null {
	const perSecond = highestRate(facts);
	const { plan } = facts.collected;
	return plan.work === null || perSecond === null
		? null
		: percent(busyShare(consuming(plan), perSecond));
}
