import { type Metric, type Plan, subjectOf } from "../model/plan.ts";
import { ceilDiv, samplesForBound, samplesForSupport, supportOf } from "../stats/support.ts";
import { formatCount, formatDurationExact, type Rate } from "../units.ts";
import { messagesBefore } from "./offset.ts";
import { mainMetric, samplesPerMessage } from "./samples.ts";

export const DEPTHS = [99, 99.9, 99.99, 99.999] as const;

/** Rows for the window and each of its phases: samples of the main metric, support for each of DEPTHS with its remedy, and the name. */
export function carriedRows(plan: Plan): string[][] {
	const metric = mainMetric(plan);
	return [null, ...plan.phases.filter((phase) => messagesIn(plan, phase) > 0)].map((phase) => {
		const samples = messagesIn(plan, phase) * samplesPerMessage(plan, metric);
		return [
			formatCount(samples),
			...DEPTHS.map((p) => {
				const support = supportOf(samples, p);
				if (support === "ok") return support;
				return `${support} ${enough(plan, metric, samplesForSupport(p), phase).text}`;
			}),
			phase === null ? plan.case : `  ${phase.name}`,
		];
	});
}

/** Percentiles of SLA lines that a run will not print. Searches run as long as their deepest percentile needs; `--quick` is exempt. */
export function tooDeepWarnings(plans: readonly Plan[]): string[] {
	const long = plans.filter(({ search, quick }) => search === null && !quick);
	return [...new Set(long.flatMap(tooDeep))];
}

/** Shortest duration of whole seconds, minutes or hours in which `samples` messages are due. */
export function durationFor(samples: number, rate: Rate): number {
	const ns = Number(ceilDiv(BigInt(samples) * BigInt(rate.perNs), BigInt(rate.messages)));
	const unitNs = ns <= 600e9 ? 1e9 : ns <= 36_000e9 ? 60e9 : 3600e9;
	return Math.ceil(ns / unitNs) * unitNs;
}

// --- internal ---

function tooDeep(plan: Plan): string[] {
	return [...plan.sla, ...plan.baselineSla].flatMap((line) => {
		const sla = line.kind === "baseline" ? subjectOf(line) : line;
		if (sla.kind !== "percentile") return [];
		const { metric, percentile: p } = sla;
		const perMessage = samplesPerMessage(plan, metric);
		const samples = messagesIn(plan, null) * perMessage;
		if (perMessage === 0 || supportOf(samples, p) !== "none") return [];
		const [weak, ok] = [samplesForBound(p), samplesForSupport(p)];
		const [weakWith, okWith] = [enough(plan, metric, weak), enough(plan, metric, ok)];
		const can =
			line.kind === "baseline" ? "There will be no figure to compare." : "It cannot pass.";
		return `${sla.text} (${plan.case}): ${formatCount(samples)} samples carry no p${p}. ${can} Write ${weakWith.key}: ${weakWith.value} to have it printed (weak, ${formatCount(weak)} samples), ${okWith.value} for 10 samples above it (ok, ${formatCount(ok)}).`;
	});
}

type Phase = Plan["phases"][number] | null;
/** Without a phase, in the whole window. */
function messagesIn({ schedule }: Plan, phase: Phase): number {
	return phase === null
		? schedule.messages - schedule.warmupMessages
		: messagesBefore(schedule, schedule.warmupNs + phase.toNs) -
				messagesBefore(schedule, schedule.warmupNs + phase.fromNs);
}

/** For that many samples: a duration at the mean rate, or messages where a closed load has no rate. */
function enough(plan: Plan, metric: Metric, samples: number, phase: Phase = null) {
	const { kind, rate, durationNs } = plan.schedule;
	const perMessage = Math.max(1, samplesPerMessage(plan, metric));
	const messages = Math.ceil(samples / perMessage);
	if (kind === "closed" || rate === null)
		return { key: "messages", value: `${messages}`, text: formatCount(messages) };
	const perNs = phase ? phase.toNs - phase.fromNs : durationNs;
	const mean = kind === "stages" ? { messages: messagesIn(plan, phase), perNs } : rate;
	const value = formatDurationExact(durationFor(messages, mean));
	return { key: "duration", value, text: value };
}
