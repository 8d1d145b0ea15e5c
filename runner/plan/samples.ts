import { CATCH_UP } from "../model/load.ts";
import type { Metric, Plan, Sla } from "../model/plan.ts";

export interface Measured {
	readonly pattern: Plan["pattern"];
	readonly subscriptions: number;
	readonly schedule: { readonly kind: Plan["schedule"]["kind"] };
	/** Plans have `client`, loads `clients`. */
	readonly client?: { readonly count: number };
	readonly clients?: number;
}

/** Samples per intended message (reports/METHOD.md, "Times of a message"); 0 if such a run has no such metric. */
export function samplesPerMessage(of: Measured, metric: Metric): number {
	// The age of old messages would only show how long they had to wait for it.
	if (of.pattern === CATCH_UP) return 0;
	const closed = of.schedule.kind === "closed";
	const isBacklog = of.pattern === "backlog";
	// With copies on several clients, none of them can identify the last one.
	const seesLast = of.pattern === "fan-out" && (of.client?.count ?? of.clients ?? 1) === 1;
	// Without intended times nothing is late.
	const intended = closed ? 0 : 1;
	// The wait for a paused consumer is not the system's.
	const service = isBacklog ? 0 : copies(of);
	const last = seesLast ? intended : 0;
	const response = intended * service;
	return { response, service, lag: intended, queued: intended, ack: 1, last }[metric];
}

export function copies({ pattern, subscriptions }: Measured): number {
	return pattern === "fan-out" ? subscriptions : 1;
}

/** connect: most connections that are open or being opened at once, all clients (opener.most in extensions). Else 0. */
export function openConnections(plan: Plan): number {
	const { pattern, schedule, hold, inFlight, producers } = plan;
	if (pattern !== "connect") return 0;
	return Math.min(schedule.messages, hold + (inFlight ?? 0) * producers);
}

/** For short tables and charts over time. */
export function mainMetric(of: Measured): Metric {
	if (of.pattern === "backlog") return "ack";
	return of.schedule.kind === "closed" ? "service" : "response";
}

/** Index in `plan.limits`, or -1. */
export function limitIndex(plan: Plan, sla: Sla): number {
	if (sla.kind === "tally") return -1;
	return plan.limits.findIndex((l) => l.metric === sla.metric && l.limitNs === sla.limitNs);
}

export function intendedInWindow(plan: Plan): number {
	return plan.schedule.messages - plan.schedule.warmupMessages;
}
