import type { Collected } from "../evidence/collect.ts";
import { crosses } from "../model/plan.ts";
import { copies } from "../plan/samples.ts";
import { sumsOf } from "./facts.ts";
import { allReceivedTwice } from "./received-twice.ts";

/**
 * Messages that stay in flight for ever: lost, or never answered and not given up. A message of a fan-out is one when any of its copies is;
 * where copies cross from client to client they are counted one by one, less those of failed or unacknowledged messages and second receipts.
 */
export function neverCompleted(collected: Collected): number {
	const { plan, counters, totals } = collected;
	const { warmup, window } = counters;
	const sum = (name: "lost" | "unknown" | "unackedReceived" | "failedReceived") =>
		(warmup?.[name] ?? 0) + (window?.[name] ?? 0);
	const copiesEach = copies(plan);
	const unknown = sum("unknown");
	const left = Math.min(unknown, totals?.unanswered ?? unknown);
	if (crosses(plan)) {
		const strange = sum("unackedReceived") + sum("failedReceived");
		const owed = sum("lost") + copiesEach * (unknown - left);
		const open = owed - strange - allReceivedTwice(collected);
		return Math.ceil(Math.max(0, open) / copiesEach);
	}
	if (plan.pattern !== "fan-out") return unknown - left + sum("lost");
	const whole = sumsOf({ collected }, "last").count;
	const open = window === null ? 0 : window.sent - window.failed - whole - left;
	return Math.min(warmup?.lost ?? 0, warmup?.sent ?? 0) + Math.max(0, open);
}
