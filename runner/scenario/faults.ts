import { hasProcess, noBroker } from "../brokers/index.ts";
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
	if (faults.length === 0) return [];
	const { target, rig, problems } = context;
	const on = hasHosts(rig) ? ON_HOSTS : target;
	const { place } = targets[on];
	const wrong = reporter<"faults">(problems);
	if (cases.some(({ schedule }) => schedule.steady))
		wrong("faults", "steady-window", { part: "faults", instead: "15s" });
	if (place === null && !context.targetChosen)
		wrong("faults", "faults-of-yours", { targets: targetsThat(({ place }) => place !== null) });
	const theirs = systems.find(({ key, url }) => rig && url !== null && !onHosts(rig, key));
	if (rig && theirs) wrong("faults", "faults-beyond-rig", { rig: rig.path, system: theirs.key });
	if (place === null) return [];
	const without = systems.find((one) => one.broker !== noBroker && !hasProcess(one.options));
	if (without) wrong("faults", "faults-without-server", { system: without.key });
	if (targets[target].place === "process" && context.platform !== "linux")
		wrong("faults", "faults-need-linux");
	for (const [index, fault] of faults.entries()) {
		const wrong = reporter(problems, (key) => ["faults", index, key]);
		checkAction(fault, on, wrong);
		checkTime(fault, cases, wrong);
		checkNode(fault, systems, wrong);
		const before = faults[index - 1];
		if (before?.forNs === null) wrong("at", "kill-endless");
		if (before && fault.atNs < before.atNs + (before.forNs ?? 0)) wrong("at", "faults-overlap");
	}
	return faults;
}

// --- internal ---

function checkAction(fault: Fault, target: TargetName, wrong: Wrong): void {
	const { action, forNs, delayNs } = fault;
	const { faults, otherFaults = "" } = targetTraits(target);
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
	for (const one of cases) {
		const { name, schedule } = one;
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
