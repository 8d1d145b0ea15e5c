import { hasProcess, noBroker } from "../brokers/index.ts";
import type { Target } from "../model/plan.ts";
import { ON_HOSTS, targets, targetsThat, targetTraits } from "../model/targets.ts";
import { say } from "../text/say.ts";
import type { ResolvedCases } from "./cases.ts";
import type { Context } from "./context.ts";
import type { Parts } from "./parts.ts";
import { type Problem, refuse, refuseKey } from "./problem.ts";
import { hasHosts } from "./rig.ts";
import type { Fault } from "./scenario.ts";
import type { ScenarioFile } from "./schema.ts";
import type { PlacedSystem } from "./systems.ts";

/** What is done to the brokers while they are measured. On the target that the command line chose, those of others are left aside. */
export function resolveFaults(
	faults: Parts["faults"],
	context: Pick<Context, "target" | "targetChosen" | "platform" | "rig">,
	systems: readonly PlacedSystem[],
	{ cases }: ResolvedCases,
): { faults: Fault[]; problems: Problem[] } {
	const problems: Problem[] = [];
	if (faults.length === 0) return { faults: [], problems };
	if (cases.some((one) => one?.schedule.steady))
		problems.push({
			path: ["faults"],
			at: "key",
			message: say("steady-window", { part: "faults", instead: "15s" }).text,
		});
	const target = hasHosts(context.rig) ? ON_HOSTS : context.target;
	const place = target && targets[target].place;
	if (place === null) {
		if (!context.targetChosen)
			problems.push(
				refuseKey(["faults"], "faults-of-yours", {
					targets: targetsThat(({ place }) => place !== null),
				}),
			);
		return { faults: [], problems };
	}
	const without = systems.find(
		({ broker, options }) => broker !== noBroker && !hasProcess(options),
	);
	if (without !== undefined)
		problems.push(refuseKey(["faults"], "faults-without-server", { system: without.key }));
	if (context.target && targets[context.target].place === "process" && context.platform !== "linux")
		problems.push(refuseKey(["faults"], "faults-need-linux"));
	for (const [index, fault] of faults.entries())
		for (const mistake of fault === undefined
			? []
			: [
					ofAction(fault, target),
					ofTime(fault, cases),
					ofNode(fault, systems),
					ofOrder(fault, faults[index - 1]),
				])
			if (mistake !== null) problems.push({ ...mistake, path: ["faults", index, ...mistake.path] });
	const right = faults.filter((fault) => fault !== undefined);
	return {
		faults: right.map(({ at, action, for: forNs, node, broker, delay }) => ({
			atNs: at,
			action,
			forNs: forNs ?? (action === "restart" ? 0 : null),
			node: node ?? broker ?? null,
			delayNs: delay ?? null,
		})),
		problems,
	};
}

// --- internal ---

type Written = ScenarioFile["faults"][number];

/** Its path begins at the fault. */
type Mistake = Problem | null;

/** What each action is, takes and lacks. */
const ACTIONS: Readonly<
	Record<Written["action"], { readonly a: string; readonly endless: boolean }>
> = {
	pause: { a: "a pause", endless: false },
	kill: { a: "a kill", endless: true },
	restart: { a: "a restart", endless: true },
	partition: { a: "a partition", endless: false },
	latency: { a: "latency", endless: false },
};

function ofAction(fault: Written, target: Target | undefined): Mistake {
	const { action, delay } = fault;
	const { a, endless } = ACTIONS[action];
	if (target !== undefined) {
		const { faults, otherFaults } = targetTraits(target);
		if (!faults.includes(action))
			return refuse(["action"], "fault-elsewhere", {
				action,
				why: otherFaults,
				targets: targetsThat((one) => one.faults.includes(action)),
			});
	}
	if (fault.for === undefined && !endless) return refuse(["for"], "fault-endless", { fault: a });
	if (action === "latency" && delay === undefined)
		return refuse(["delay"], "latency-without-delay");
	if (action !== "latency" && delay !== undefined)
		return refuse(["delay"], "delay-without-latency", { fault: a });
	return null;
}

function ofTime(fault: Written, cases: ResolvedCases["cases"]): Mistake {
	for (const one of cases) {
		if (!one) continue;
		if (one.schedule.kind === "closed")
			return refuse(["at"], "faults-without-schedule", { case: one.name });
		const { durationNs } = one.schedule;
		if (fault.at >= durationNs)
			return refuse(["at"], "fault-after-end", { atNs: fault.at, case: one.name, durationNs });
	}
	return null;
}

function ofNode(fault: Written, systems: readonly PlacedSystem[]): Mistake {
	if (fault.node !== undefined && fault.broker !== undefined)
		return refuse(["broker"], "node-twice");
	const node = fault.node ?? fault.broker;
	const field = fault.node === undefined ? "broker" : "node";
	if (node === undefined) return null;
	for (const { key, options, traits } of systems) {
		if (!hasProcess(options)) continue;
		const nodes = ("nodes" in options ? options.nodes : undefined) ?? 1;
		// Where a topic has copies, one of them leads.
		if (node === "leader" && traits.maxReplicas === 1)
			return refuse([field], "no-leader", { field, system: key, title: traits.title });
		if (node === "leader" && nodes === 1)
			return refuse([field], "no-other-leader", {
				field,
				system: key,
				nodes: traits.nodes.find((n) => n > 1) ?? 3,
			});
		if (node !== "leader" && node > nodes)
			return refuse([field], "no-such-node", { field, node, system: key, nodes });
	}
	return null;
}

function ofOrder(fault: Written, before: Written | undefined): Mistake {
	if (before === undefined) return null;
	if (before.action === "kill" && before.for === undefined) return refuse(["at"], "kill-endless");
	return fault.at < before.at + (before.for ?? 0) ? refuse(["at"], "faults-overlap") : null;
}
