import type { Plan } from "../model/plan.ts";
import type { FaultDone } from "../model/run-file.ts";
import { mainMetric } from "../plan/samples.ts";
import { faultZeroNs } from "../run/faults.ts";
import { formatDuration, formatDurationExact } from "../units.ts";
import { faultName } from "../verdict/checks/faults.ts";
import type { Frame } from "./state.ts";

/** What the picture of a run shows beside its seconds. `faults`: what is known of those that were begun, by their place in the plan. */
export function frameOf(plan: Plan, title: string, faults: ReadonlyMap<number, FaultDone>): Frame {
	const { kind, warmupNs, durationNs } = plan.schedule;
	const closed = kind === "closed";
	const metric = mainMetric(plan);
	// The window of a closed load opens when its warm-up is through, at no time that is known before.
	const startS = closed ? 0 : warmupNs / 1e9;
	return {
		title,
		metric,
		closed,
		startS,
		from: -startS,
		to: closed ? 0 : durationNs / 1e9,
		marks: [
			...(startS > 0 ? [{ from: -startS, to: 0, text: "warm-up" }] : []),
			...plan.phases.map(({ name, fromNs }) => ({
				from: fromNs / 1e9,
				to: fromNs / 1e9,
				text: name,
			})),
			...plan.faults.flatMap((planned, i) => faultMark(planned, faults.get(i) ?? null, startS)),
		],
		limits: plan.sla.flatMap((sla) =>
			sla.kind !== "tally" && sla.metric === metric ? [{ text: sla.text, value: sla.limitNs }] : [],
		),
	};
}

// --- internal ---

/** As it was done; before it is over, as it is planned. */
function faultMark(
	{ atNs, forNs, node, ...planned }: Plan["faults"][number],
	done: FaultDone | null,
	startS: number,
): Frame["marks"] {
	if (done !== null && done.error !== null) return [];
	const leader = node === "leader";
	const name = faultName(done ?? { ...planned, leader, node: leader ? null : node });
	const fromNs = done === null ? atNs : faultZeroNs(done);
	const endNs = done?.endedNs ?? fromNs + (forNs ?? 0);
	const lasting =
		done !== null && done.endedNs !== null
			? ` for ${formatDuration(done.endedNs - done.beganNs)}`
			: forNs === null
				? ""
				: ` for ${formatDurationExact(forNs)}`;
	return [
		{
			from: fromNs / 1e9 - startS,
			to: endNs / 1e9 - startS,
			text: `${name}${lasting}${done === null ? " (planned)" : ""}`,
		},
	];
}
