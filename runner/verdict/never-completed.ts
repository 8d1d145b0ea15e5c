import type { Collected } from "../evidence/collect.ts";
import { crosses } from "../model/plan.ts";
import { copies } from "../plan/samples.ts";
import { sumsOf } from "./facts.ts";
import { allReceivedTwice } from "./received-twice.ts";

/**
 * Messages that stay in flight for ever: they were lost, or never answered. What the generator gave up as unknown has left flight, and is
 * none of them; files that do not tell it apart have none. A message of a fan-out is one of them when any of its copies is lost; where copies
 * cross from client to client they are counted one by one, and so many make a message: what left well, less all receipts. Those of messages
 * that failed or were never acknowledged, and second ones by another client, stand against others that are missing.
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
