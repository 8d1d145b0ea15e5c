import { crosses } from "../plan/plan.ts";
import { copies } from "../plan/samples.ts";
import type { Collected } from "../run/collect.ts";
import { sumsOf } from "./facts.ts";

/**
 * Messages that stay in flight for ever: they were lost, or never answered. A message of a fan-out is one of them when any of its copies is
 * lost; where copies cross from client to client they are counted one by one, and so many make a message.
 */
export function stuckInFlight(collected: Collected): number {
	const { plan, counters } = collected;
	const { warmup, window } = counters;
	const sum = (name: "lost" | "unknown" | "unackedReceived") =>
		(warmup?.[name] ?? 0) + (window?.[name] ?? 0);
	const each = copies(plan);
	if (crosses(plan))
		return Math.ceil(
			(sum("lost") + each * sum("unknown") - sum("unackedReceived")) / each,
		);
	if (plan.pattern !== "fan-out") return sum("unknown") + sum("lost");
	const whole = sumsOf({ collected }, "last").count;
	const open = window === null ? 0 : window.sent - window.failed - whole;
	return Math.min(warmup?.lost ?? 0, warmup?.sent ?? 0) + Math.max(0, open);
}
