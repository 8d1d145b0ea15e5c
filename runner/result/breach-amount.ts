import type { Gate } from "../model/result.ts";
import { type Said, say } from "../text/say.ts";
import { tell } from "../text/tell.ts";
import { standsFor } from "../verdict/repeats.ts";
import type { Outcome } from "./outcomes.ts";

/** What broke, by how much: "p99 is 400ms: 40x the limit of 10ms, 390ms above it; 490 of 10 000 messages took longer, at most 100 may". */
export function amountText(outcome: Outcome): string {
	const { of, verdict, what, why } = outcome;
	if (of.kind === "comparison" || (of.kind === "gate" && of.gate.comparison))
		return `${what}: ${why}`;
	if (of.kind !== "gate") return why;
	return verdict === "fail"
		? (failed(of.gate)?.text ?? of.gate.why)
		: `${what} ${UNDECIDED[verdict]}: ${why}`;
}

// --- internal ---

type Repeat = Gate["repeats"][number];

/** "p99", "recovered(p99 < 100ms)": what stands before the last operator. */
const SUBJECT = /^(.*[^\s<>=])\s*[<>=]/;

const UNDECIDED: Readonly<Record<Gate["verdict"], string>> = {
	pass: "is met",
	fail: "is breached",
	inconclusive: tell("neither-met-nor-breached"),
	invalid: "was not judged",
	error: "cannot be judged",
	interrupted: "was not judged",
};

function failed(gate: Gate): Said | null {
	const worst = standsFor(gate.repeats);
	if (worst === null) return null;
	const { measured, n, over, allowed, tally, beyondNs } = worst;
	const broken = {
		subject: SUBJECT.exec(gate.sla)?.[1] ?? gate.sla,
		repeat: gate.repeats.length > 1 ? worst.repeat : null,
		measured,
		n,
		over,
		allowed,
	};
	if (tally?.unit === "messages" && tally.limit === 0) return say("where-none-may", broken);
	const { limit, limitNs } = gate;
	const by = byOf(gate, worst);
	if (by !== null) return say("breached-by", { ...broken, ...by, limit });
	if (tally && beyondNs && tally.limit > 0)
		return say("breached-unended", { ...broken, factor: beyondNs / tally.limit, limit });
	return tally === null && worst.valueNs === null && beyondNs && limitNs
		? say("breached-beyond", { ...broken, factor: beyondNs / limitNs, limit })
		: say("breached", { ...broken, sla: gate.sla });
}

/** null: no number was measured, or none can be a part of the limit. */
function byOf({ limitNs }: Gate, { tally, valueNs }: Repeat) {
	if (tally === null)
		return valueNs === null || !limitNs
			? null
			: { value: valueNs, limitValue: limitNs, unit: "ns" as const };
	const { value, limit, unit } = tally;
	if (value === null) return null;
	// Too few messages are no part of the limit: "failed == all".
	const missed = unit === "messages/s" ? value < limit : limit > 0 && value >= limit;
	return missed ? { value, limitValue: limit, unit } : null;
}
