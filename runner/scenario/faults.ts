import { hasProcess } from "../brokers/index.ts";
import type { Target } from "../model/plan.ts";
import {
	ON_HOSTS,
	targets,
	targetsThat,
	targetTraits,
} from "../model/targets.ts";
import { formatDurationExact } from "../units.ts";
import type { ResolvedCases } from "./cases.ts";
import type { Context } from "./context.ts";
import type { Problem } from "./problem.ts";
import { hasHosts } from "./rig.ts";
import type { Fault } from "./scenario.ts";
import type { ScenarioFile } from "./schema.ts";
import type { PlacedSystem } from "./systems.ts";

/** What is done to the brokers while they are measured. On the target that the command line chose, those of others are left aside. */
export function resolveFaults(
	faults: ScenarioFile["faults"],
	context: Pick<Context, "target" | "targetChosen" | "platform" | "rig">,
	systems: readonly PlacedSystem[],
	{ cases }: ResolvedCases,
): { faults: Fault[]; problems: Problem[] } {
	const problems: Problem[] = [];
	const wrong = (
		index: number | null,
		field: string | null,
		message: string,
	): void => {
		problems.push({
			path: [
				"faults",
				...(index === null ? [] : [index]),
				...(field === null ? [] : [field]),
			],
			at: field === null ? "key" : "value",
			message,
		});
	};
	if (faults.length === 0) return { faults: [], problems };
	const target = hasHosts(context.rig) ? ON_HOSTS : context.target;
	const place = target && targets[target].place;
	if (place === null) {
		if (!context.targetChosen)
			wrong(
				null,
				null,
				`faults are for targets ${targetsThat(({ place }) => place !== null)}, where mqbench starts the brokers: it never touches yours; remove them`,
			);
		return { faults: [], problems };
	}
	if (
		context.target &&
		targets[context.target].place === "process" &&
		context.platform !== "linux"
	)
		wrong(
			null,
			null,
			"faults of target local need Linux, whose /proc tells which processes are a broker's; write target: docker, or remove them",
		);
	for (const [index, fault] of faults.entries())
		for (const found of [
			ofAction(fault, target),
			ofTime(fault, cases),
			ofNode(fault, systems),
			ofOrder(fault, faults[index - 1]),
		])
			if (found !== null) wrong(index, ...found);
	return {
		faults: faults.map(({ at, action, for: forNs, node, broker, delay }) => ({
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

/** The field at fault, and a sentence. */
type Mistake = [field: string, message: string] | null;

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
			return [
				"action",
				`${action} is for target ${targetsThat((one) => one.faults.includes(action))}: ${otherFaults}`,
			];
	}
	if (fault.for === undefined && !endless)
		return ["for", `${a} has to end; write how long it lasts, e.g. for: 500ms`];
	if (action === "latency" && delay === undefined)
		return [
			"delay",
			"latency needs to know how much later packets leave; write e.g. delay: 50ms",
		];
	if (action !== "latency" && delay !== undefined)
		return ["delay", `delay is of latency, and this is ${a}; remove it`];
	return null;
}

function ofTime(fault: Written, cases: ResolvedCases["cases"]): Mistake {
	for (const one of cases) {
		if (!one) continue;
		if (one.schedule.kind === "closed")
			return [
				"at",
				`case "${one.name}" is a closed load (messages), whose window begins when its warm-up is through: no moment of it is known before; give a rate`,
			];
		if (fault.at >= one.schedule.durationNs)
			return [
				"at",
				`at ${formatDurationExact(fault.at)} lies beyond the measured ${formatDurationExact(one.schedule.durationNs)} of case "${one.name}"; it counts from the end of the warm-up`,
			];
	}
	return null;
}

function ofNode(fault: Written, systems: readonly PlacedSystem[]): Mistake {
	if (fault.node !== undefined && fault.broker !== undefined)
		return ["broker", "broker is another word for node; remove one of them"];
	const node = fault.node ?? fault.broker;
	const field = fault.node === undefined ? "broker" : "node";
	if (node === undefined) return null;
	for (const { key, options, traits } of systems.filter(hasProcess)) {
		const nodes = ("nodes" in options ? options.nodes : undefined) ?? 1;
		// Where a topic has copies, one of them leads.
		if (node === "leader" && traits.maxReplicas === 1)
			return [
				field,
				`${field}: leader: ${traits.title} (${key}) has no node that leads a topic; leave ${field} out for all of its nodes`,
			];
		if (node === "leader" && nodes === 1)
			return [
				field,
				`${field}: leader: ${key} has one node, and no other can take over; write nodes: ${traits.nodes.find((n) => n > 1) ?? 3} there, or leave ${field} out`,
			];
		if (node !== "leader" && node > nodes)
			return [
				field,
				`${field} ${node}: ${key} has not so many nodes; write nodes: ${node} there, or leave ${field} out for all of them`,
			];
	}
	return null;
}

function ofOrder(fault: Written, before: Written | undefined): Mistake {
	if (before === undefined) return null;
	if (before.action === "kill" && before.for === undefined)
		return [
			"at",
			"the kill before it lasts to the end of the run, so that nothing can follow; give it a for, or write it last",
		];
	return fault.at < before.at + (before.for ?? 0)
		? [
				"at",
				"a fault begins when the one before it is over; write them in their order",
			]
		: null;
}
