import { sizeText, WEEK_NS } from "../../model/field.ts";
import type { WorkloadField } from "../../model/workload.ts";
import { say } from "../../text/say.ts";
import { tell } from "../../text/tell.ts";
import { formatDurationExact } from "../../units.ts";
import { backlogTimes } from "../backlog.ts";
import type { Wrong } from "../problem.ts";
import { backlogOf, durationOf, meanPerSecond, scheduleOf } from "../schedule.ts";
import type { WrittenWorkload } from "../workload-schema.ts";

/** The fields of a workload that are right by themselves, with defaults; `has`: what is written, right or wrong. */
export interface Fields extends Partial<WrittenWorkload> {
	has(field: WorkloadField): boolean;
}

/** Loads whose times or counts are fixed from the window's start on: they cannot warm up until latency is steady. */
export const STEADYLESS = ["messages", "stages", "steps", "backlog"] as const;

/** Fields of a load that are wrong together. */
export function checkLoad(of: Fields, wrong: Wrong<WorkloadField>): void {
	if (!isContradiction(of, wrong)) {
		checkTogether(of, wrong);
		checkAmounts(of, wrong);
	}
	if (of.pattern === "backlog") checkBacklog(of, wrong);
}

// --- internal ---

/** Poisson arrivals are drawn one by one to count them: a second or two for as many. */
const MOST_POISSON = 100_000_000;

const TWO_LOADS = [
	["messages", "rate"],
	["messages", "stages"],
	["messages", "steps"],
	["steps", "stages"],
	["steps", "rate"],
] as const;
const UNEVEN = [
	["arrivals", "messages"],
	["arrivals", "stages"],
	["arrivals", "steps"],
	["find", "messages"],
	["find", "steps"],
] as const;

/** Others would follow from it. */
function isContradiction(of: Fields, wrong: Wrong<WorkloadField>): boolean {
	const both = ([field, other]: readonly [WorkloadField, WorkloadField]) =>
		of.has(field) && of.has(other);
	const loads = TWO_LOADS.find(both);
	const uneven = UNEVEN.find(both);
	if (loads) {
		const [one, other] = loads;
		wrong(one, "two-loads", { one: tell(`load-of-${one}`), other: tell(`load-of-${other}`) });
	} else if (uneven)
		wrong(uneven[0], "needs-constant-rate", { field: uneven[0], other: uneven[1] });
	return (loads ?? uneven) !== undefined;
}

function checkTogether(of: Fields, wrong: Wrong<WorkloadField>): void {
	const { warmup = { ns: 0 }, arrivals, steps, messages = 10_000 } = of;
	const has = (field: WorkloadField) => of.has(field);
	for (const field of ["stages", "steps"] as const)
		if (of[field] && has("duration")) wrong("duration", "duration-of-pieces", { field });
	if (has("seed") && arrivals !== "poisson") wrong("seed", "seed-without-poisson");
	const uneven = steps?.find((step) => step.duration % 1e9 !== 0)?.duration;
	if (uneven !== undefined)
		wrong("steps", "step-of-part-seconds", {
			durationNs: uneven,
			seconds: Math.ceil(uneven / 1e9),
		});
	const closed = has("messages");
	const tenth = Math.ceil(messages / 10);
	const part = STEADYLESS.find(has);
	if (closed && "ns" in warmup && warmup.ns > 0)
		wrong("warmup", "warmup-of-closed-load", { tenth });
	if ("steady" in warmup && part)
		wrong("warmup", say("steady-window", { part, instead: closed ? `${tenth} messages` : "15s" }));
	if ("messages" in warmup && !closed) wrong("warmup", "warmup-of-rate");
	if (of.find && (has("stages") || arrivals === "poisson"))
		wrong("find", "search-of-shape", { field: has("stages") ? "stages" : "arrivals" });
}

/** Too few messages, or too many: the first of it. */
function checkAmounts(of: Fields, wrong: Wrong<WorkloadField>): void {
	const schedule = scheduleOf(of);
	if (!schedule) return;
	const { kind, durationNs, warmupNs } = schedule;
	if (kind === "closed") {
		if (schedule.warmupMessages > 1_000_000_000) wrong("warmup", "warmup-too-long");
		return;
	}
	const mean = meanPerSecond(schedule) ?? 0;
	const messages = (ns: number) => (mean * ns) / 1e9;
	// A hair less is floating point.
	if (messages(durationNs) < 1 - 1e-9) {
		const longer = Math.ceil(1 / mean - 1e-9) * 1e9;
		const field = of.steps ? "steps" : of.stages ? "stages" : mean === 0 ? "rate" : "duration";
		const write = field === "duration" && longer <= WEEK_NS ? atLeast(longer) : "raise the rate";
		wrong(field, "nothing-due", { durationNs, write });
	}
	const arrivals = messages(durationNs + warmupNs);
	if (kind === "poisson" && arrivals > MOST_POISSON)
		wrong("arrivals", "too-many-arrivals", { most: MOST_POISSON, messages: arrivals });
}

/** What a backlog needs: the first of it. */
function checkBacklog(of: Fields, wrong: Wrong<WorkloadField>): void {
	const { rate, inFlight } = of;
	const varying =
		(["messages", "steps", "stages", "find"] as const).find(of.has) ??
		(of.arrivals === "poisson" ? "arrivals" : undefined);
	if (varying !== undefined) {
		wrong(varying, "backlog-of-varying-rate", { varying });
		return;
	}
	if (typeof of.backlog === "object" && typeof of.message === "object")
		wrong("backlog", "backlog-of-limit", { size: sizeText(of.message) });
	const duration = durationOf(of);
	const backlog = backlogOf(of);
	if (!rate || duration === null || backlog === null) return;
	if (duration % 1e9 !== 0)
		wrong("duration", "backlog-of-part-seconds", { seconds: Math.ceil(duration / 1e9) });
	const producers = of.producers ?? of.connections ?? 1;
	if (inFlight !== undefined && inFlight * producers < backlog)
		wrong("inFlight", "in-flight-below-backlog", { inFlight });
	const { neededNs, resumeNs, pauseNs } = backlogTimes(duration, rate, backlog);
	if (duration - resumeNs < pauseNs)
		wrong("duration", "backlog-too-long", {
			durationNs: duration,
			pileUpNs: resumeNs - pauseNs,
			write: neededNs > WEEK_NS ? "write a smaller backlog" : atLeast(neededNs),
		});
}

function atLeast(ns: number): string {
	return `write at least duration: ${formatDurationExact(ns)}`;
}
