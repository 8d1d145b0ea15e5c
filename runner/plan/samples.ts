import type { Metric, Plan, Sla } from "../model/plan.ts";

/** What decides which metrics a run has: a plan, or the load of a result. */
export interface Measured {
	readonly pattern: Plan["pattern"];
	readonly subscriptions: number;
	readonly schedule: { readonly kind: Plan["schedule"]["kind"] };
	/** Of a plan; a load says `clients`. Neither: one. */
	readonly client?: { readonly count: number };
	readonly clients?: number;
}

/** Samples of a metric that each intended message owes (reports/README.md, "Times of a message"); 0: such a run has no such metric. */
export function samplesPerMessage(of: Measured, metric: Metric): number {
	const closed = of.schedule.kind === "closed";
	const isBacklog = of.pattern === "backlog";
	switch (metric) {
		// How long a consumer was made to wait says nothing about the system.
		case "response":
			return closed || isBacklog ? 0 : copies(of);
		case "service":
			return isBacklog ? 0 : copies(of);
		// Without intended times nothing is late.
		case "lag":
		case "queued":
			return closed ? 0 : 1;
		case "ack":
			return 1;
		case "last":
			// Copies of one message on several clients: none of them knows which one was the last.
			return of.pattern === "fan-out" && !closed && clientsOf(of) === 1 ? 1 : 0;
	}
}

/** Receipts that each message should have: one, or one for every subscriber. */
export function copies({ pattern, subscriptions }: Measured): number {
	return pattern === "fan-out" ? subscriptions : 1;
}

/** The metric that stands for such a run in short tables and over time. */
export function mainMetric(of: Measured): Metric {
	if (of.pattern === "backlog") return "ack";
	return of.schedule.kind === "closed" ? "service" : "response";
}

/** Which of `plan.limits` counts for this line; -1: none does. */
export function limitIndex(plan: Plan, sla: Sla): number {
	if (sla.kind === "tally") return -1;
	return plan.limits.findIndex((l) => l.metric === sla.metric && l.limitNs === sla.limitNs);
}

/** Messages intended in the window. */
export function intendedInWindow(plan: Plan): number {
	return plan.schedule.messages - plan.schedule.warmupMessages;
}

// --- internal ---

function clientsOf({ client, clients }: Measured): number {
	return client?.count ?? clients ?? 1;
}
