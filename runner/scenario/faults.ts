import { brokerOf, hasProcess, noBroker } from "../brokers/index.ts";
import { CONSUMER_ACTIONS, type FaultAction } from "../model/plan.ts";
import { ON_HOSTS, type TargetName, targets, targetsThat, targetTraits } from "../model/targets.ts";
import type { ResolvedCases } from "./cases.ts";
import { type Context, reporter, type Wrong } from "./problem.ts";
import { hasHosts, onHosts } from "./rig.ts";
import type { Fault } from "./scenario.ts";
import type { PlacedSystem } from "./systems.ts";

/** If the command line chose the target, faults that it does not support are ignored. */
export function resolveFaults(
	faults: readonly Fault[],
	context: Pick<Context, "target" | "targetChosen" | "platform" | "rig" | "problems">,
	systems: readonly PlacedSystem[],
	{ cases }: ResolvedCases,
): readonly Fault[] {
	const { target, rig, problems } = context;
	const wrong = reporter<"faults">(problems);
	if (faults.length > 0 && cases.some(({ schedule }) => schedule.steady))
		wrong("faults", "steady-window", { part: "faults", instead: "15s" });
	for (const [index, fault] of faults.entries()) {
		const wrong = reporter(problems, (key) => ["faults", index, key]);
		checkOf(fault, wrong);
		checkTime(fault, cases, wrong);
		const before = faults[index - 1];
		const endless = before?.of === "brokers" && before.action === "kill" && before.forNs === null;
		if (endless && fault.of === "brokers") wrong("at", "kill-endless");
		if (before && fault.atNs < before.atNs + (before.forNs ?? 0)) wrong("at", "faults-overlap");
	}
	const ofConsumers = faults.filter(({ of }) => of === "consumers");
	if (ofConsumers.length > 0) checkConsumers(faults, systems, cases, problems);
	if (ofConsumers.length === faults.length) return faults;
	const on = hasHosts(rig?.rig) ? ON_HOSTS : target;
	const { place } = targets[on];
	if (place === null && !context.targetChosen)
		wrong("faults", "faults-of-yours", { targets: targetsThat(({ place }) => place !== null) });
	const theirs = systems.find(({ key, url }) => rig && url !== null && !onHosts(rig.rig, key));
	if (rig && theirs) wrong("faults", "faults-beyond-rig", { rig: rig.path, system: theirs.key });
	if (place === null) return ofConsumers;
	const without = systems.find((one) => one.broker !== noBroker && !hasProcess(one.options));
	if (without) wrong("faults", "faults-without-server", { system: without.key });
	if (targets[target].place === "process" && context.platform !== "linux")
		wrong("faults", "faults-need-linux");
	for (const [index, fault] of faults.entries()) {
		if (fault.of === "consumers" || fault.action === "leave" || fault.action === "join") continue;
		const wrong = reporter(problems, (key) => ["faults", index, key]);
		checkAction(fault, on, wrong);
		checkNode(fault, systems, wrong);
	}
	return faults;
}

/** How many of the case's consumers a fault meets. */
export function consumersOf({ count }: Pick<Fault, "count">, consumers: number): number {
	if (count === null) return 1;
	return typeof count === "number" ? count : Math.ceil(count.share * consumers);
}

// --- internal ---

/** Fields and actions belong to faults of brokers or of consumers. */
function checkOf(fault: Fault, wrong: Wrong): void {
	const { of, action, count, forNs, node, delayNs } = fault;
	if (of === "brokers") {
		if (action === "leave" || action === "join") wrong("action", "fault-of-consumers", { action });
		else if (count !== null) wrong("count", "fault-of-consumers", { action: "count" });
		return;
	}
	if (!CONSUMER_ACTIONS.includes(action as never)) wrong("action", "fault-of-brokers", { action });
	if (action === "pause" && forNs === null) wrong("for", "fault-endless", { action });
	if (action === "join" && forNs !== null) wrong("for", "join-stays");
	if (node !== null) wrong("node", "field-of-brokers", { field: "node" });
	if (delayNs !== null) wrong("delay", "field-of-brokers", { field: "delay" });
}

/** Members need a group, connections of their own, and a server that notices. */
function checkConsumers(
	faults: readonly Fault[],
	systems: readonly PlacedSystem[],
	cases: ResolvedCases["cases"],
	problems: Context["problems"],
): void {
	const wrong = reporter<"faults">(problems);
	const without = systems.find(({ options }) => brokerOf(options).brokerless !== undefined);
	if (without) wrong("faults", "no-groups", { system: without.key });
	for (const { name, pattern, consumers, consumerConnections, schedule, drainNs } of cases) {
		if (pattern !== "work-queue" && pattern !== "backlog") {
			wrong("faults", "no-members", { case: name, pattern });
			continue;
		}
		if (consumerConnections !== consumers)
			wrong("faults", "members-share", { case: name, consumers, connections: consumerConnections });
		let present = consumers;
		for (const [index, fault] of faults.entries()) {
			if (fault.of === "brokers") continue;
			const wrong = reporter(problems, (key) => ["faults", index, key]);
			const count = consumersOf(fault, consumers);
			for (const { key: system, traits } of systems) {
				const { killedAfterNs: backNs } = traits;
				const leftNs = schedule.durationNs + drainNs - fault.atNs;
				// What is left is for the last of them.
				const lackNs = backNs + 1e9 - leftNs;
				if (fault.action === "kill" && backNs > 0 && lackNs > 0)
					wrong("at", "kill-too-late", { system, backNs, leftNs, drainNs: drainNs + lackNs });
			}
			if (fault.action === "join") present += count;
			else if (count > present) wrong("count", "too-few-members", { case: name, count, present });
			else if (fault.forNs === null) present -= count;
		}
	}
}

function checkAction(fault: Fault, target: TargetName, wrong: Wrong): void {
	const { forNs, delayNs, action } = fault as Fault & { readonly action: FaultAction };
	const { faults, otherFaults } = targetTraits(target);
	if (!faults.includes(action))
		wrong("action", "fault-elsewhere", {
			action,
			why: otherFaults,
			targets: targetsThat((one) => one.faults.includes(action)),
		});
	if (forNs === null && action !== "kill") wrong("for", "fault-endless", { action });
	if (action === "latency" && delayNs === null) wrong("delay", "latency-without-delay");
	if (action !== "latency" && delayNs !== null) wrong("delay", "delay-without-latency", { action });
}

function checkTime({ atNs }: Fault, cases: ResolvedCases["cases"], wrong: Wrong): void {
	for (const { name, schedule } of cases) {
		const { durationNs } = schedule;
		if (schedule.kind === "closed") wrong("at", "faults-without-schedule", { case: name });
		if (atNs >= durationNs) wrong("at", "fault-after-end", { atNs, case: name, durationNs });
	}
}

function checkNode({ node }: Fault, systems: readonly PlacedSystem[], wrong: Wrong): void {
	if (node === null) return;
	for (const { key: system, options, traits } of systems) {
		if (!hasProcess(options)) continue;
		const { nodes = 1 } = options;
		// A topic with copies has a leader.
		if (node === "leader" && traits.maxReplicas === 1)
			wrong("node", "no-leader", { system, title: traits.title });
		else if (node === "leader" && nodes === 1)
			wrong("node", "no-other-leader", { system, nodes: traits.nodes.find((n) => n > 1) ?? 3 });
		else if (node !== "leader" && node > nodes)
			wrong("node", "no-such-node", { node, system, nodes });
	}
}
