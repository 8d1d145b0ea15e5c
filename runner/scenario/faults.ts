import { hasProcess } from "../brokers/index.ts";
import type { Target } from "../model/plan.ts";
import {
	ON_HOSTS,
	targets,
	targetsThat,
	targetTraits,
} from "../model/targets.ts";
import { say } from "../text/say.ts";
import { formatDurationExact, plural } from "../units.ts";
import type { ResolvedCases } from "./cases.ts";
import type { Context } from "./context.ts";
import type { Parts } from "./parts.ts";
import type { Problem } from "./problem.ts";
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
	if (cases.some((one) => one?.schedule.steady))
		wrong(
			null,
			null,
			say("steady-window", { part: "faults", instead: "15s" }).text,
		);
	const target = hasHosts(context.rig) ? ON_HOSTS : context.target;
	const place = target && targets[target].place;
	if (place === null) {
		if (!context.targetChosen)
			wrong(
				null,
				null,
				`faults need target ${targetsThat(({ place }) => place !== null)}: mqbench disturbs only brokers that it starts; remove faults`,
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
			"faults on target local need Linux; write target: docker",
		);
	for (const [index, fault] of faults.entries())
		for (const found of fault === undefined
			? []
			: [
					ofAction(fault, target),
					ofTime(fault, cases),
					ofNode(fault, systems),
					ofOrder(fault, faults[index - 1]),
				])
			if (found !== null) wrong(index, ...found);
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
				`${action} needs target ${targetsThat((one) => one.faults.includes(action))}: ${otherFaults}`,
			];
	}
	if (fault.for === undefined && !endless)
		return ["for", `${a} needs an end; write e.g. for: 500ms`];
	if (action === "latency" && delay === undefined)
		return ["delay", "latency needs a delay; write e.g. delay: 50ms"];
	if (action !== "latency" && delay !== undefined)
		return ["delay", `delay needs action: latency; this is ${a}: remove delay`];
	return null;
}

function ofTime(fault: Written, cases: ResolvedCases["cases"]): Mistake {
	for (const one of cases) {
		if (!one) continue;
		if (one.schedule.kind === "closed")
			return [
				"at",
				`faults need a rate: case "${one.name}" is a closed load (messages), which has no schedule; remove faults`,
			];
		if (fault.at >= one.schedule.durationNs)
			return [
				"at",
				`at ${formatDurationExact(fault.at)} is after the end of case "${one.name}", ${formatDurationExact(one.schedule.durationNs)} after its warm-up; write an earlier time`,
			];
	}
	return null;
}

function ofNode(fault: Written, systems: readonly PlacedSystem[]): Mistake {
	if (fault.node !== undefined && fault.broker !== undefined)
		return ["broker", "broker means the same as node; remove one of them"];
	const node = fault.node ?? fault.broker;
	const field = fault.node === undefined ? "broker" : "node";
	if (node === undefined) return null;
	for (const { key, options, traits } of systems.filter(hasProcess)) {
		const nodes = ("nodes" in options ? options.nodes : undefined) ?? 1;
		// Where a topic has copies, one of them leads.
		if (node === "leader" && traits.maxReplicas === 1)
			return [
				field,
				`${field}: leader: topics of ${key} (${traits.title}) have no leader; remove ${field}`,
			];
		if (node === "leader" && nodes === 1)
			return [
				field,
				`${field}: leader: ${key} has one node, and no other can take over; write nodes: ${traits.nodes.find((n) => n > 1) ?? 3} for ${key}`,
			];
		if (node !== "leader" && node > nodes)
			return [
				field,
				`${field} ${node}: ${key} has ${plural(nodes, "node")}; write nodes: ${node} for ${key}`,
			];
	}
	return null;
}

function ofOrder(fault: Written, before: Written | undefined): Mistake {
	if (before === undefined) return null;
	if (before.action === "kill" && before.for === undefined)
		return [
			"at",
			"the kill before this fault never ends; write e.g. for: 2s there",
		];
	return fault.at < before.at + (before.for ?? 0)
		? [
				"at",
				"this fault begins before the one above has ended; write a later time",
			]
		: null;
}
