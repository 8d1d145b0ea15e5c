import type { Sla } from "../model/plan.ts";
import { TALLIES } from "../model/tallies.ts";
import { limitIndex } from "../plan/samples.ts";
import { sum } from "../stats/sum.ts";
import { say, sayAs } from "../text/say.ts";
import { whyHopeless } from "./abort.ts";
import { decidedBy, excuseFor, excusesOf } from "./excuses.ts";
import { type Facts, samplesDue, windowOf } from "./facts.ts";
import { offeredIntervals } from "./intervals.ts";
import { because, type Judgement, leftOpen } from "./judgement.ts";
import { receivedTwice } from "./received-twice.ts";

/**
 * A run that mqbench stopped. The line that could not pass any more is FAIL; another one only if what was offered until then
 * fails it already, else nobody knows.
 * `found` is its judgement on what was offered.
 */
export function judgeAborted(sla: Sla, facts: Facts, judgement: Judgement): Judgement {
	const { run, plan } = facts.collected;
	if (judgement.verdict === "error") return judgement;
	const afterNs = stoppedAfterNs(facts);
	if (sla.text === run?.abortedBy) {
		const by = stoppedBy(sla, facts, judgement);
		if (by !== null)
			return {
				...judgement,
				verdict: "invalid",
				...decidedBy(by),
				...because(say(`aborted-by-${by}`, { afterNs })),
			};
		const { over } = judgement;
		const counted = whyHopeless(sla, plan, soFar(facts, sla, over ?? 0));
		return {
			...judgement,
			verdict: "fail",
			lagDecided: false,
			heldDecided: false,
			...because(sayAs(say("aborted-hopeless", { afterNs }), counted)),
		};
	}
	const stands = judgement.verdict === "fail" && (sla.kind !== "tally" || TALLIES[sla.tally].grows);
	const by = run?.abortedBy ?? "";
	return {
		...(stands
			? { ...leftOpen(judgement, say("aborted-failed", { afterNs })), verdict: "fail" }
			: {
					...judgement,
					...because(say("aborted-open", { afterNs, by })),
					verdict: "inconclusive",
				}),
		lagDecided: false,
		heldDecided: false,
	};
}

/** How much of the window had passed when the run was stopped. */
export function stoppedAfterNs({ collected }: Facts): number {
	const endNs = collected.totals?.endNs ?? 0;
	return Math.max(0, endNs - windowOf(collected).startNs);
}

// --- internal ---

/** Without which the run would have gone on: the generator's lateness with the burst after it, its stops, or what the client library held; null: none. */
function stoppedBy(sla: Sla, facts: Facts, judgement: Judgement): "lag" | "stops" | "held" | null {
	if (sla.kind === "tally") return null;
	const { plan, seconds } = facts.collected;
	const due = samplesDue(facts, sla.metric);
	const second = receivedTwice(facts.collected, sla.metric);
	const intervals = offeredIntervals(plan, seconds, limitIndex(plan, sla), due, second);
	const test = (over: number) =>
		whyHopeless(sla, plan, soFar(facts, sla, over)) === null ? "pass" : "fail";
	const found = excuseFor(
		test(judgement.over ?? 0),
		() => excusesOf(sla, intervals, facts.collected),
		(rest) => test(sum(rest.map((i) => i.over))),
	);
	return found?.by === "burst" ? "lag" : (found?.by ?? null);
}

function soFar({ collected }: Facts, sla: Sla, over: number) {
	const { plan, counters } = collected;
	const count = (name: "failed" | "duplicated") =>
		(counters.warmup?.[name] ?? 0) + (counters.window?.[name] ?? 0);
	return {
		over: plan.limits.map((_, k) => (k === limitIndex(plan, sla) ? over : 0)),
		failed: count("failed"),
		duplicated: count("duplicated"),
	};
}
