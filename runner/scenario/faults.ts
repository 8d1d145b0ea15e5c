import { hasProcess, noBroker } from "../brokers/index.ts";
import { ON_HOSTS, type TargetName, targets, targetsThat, targetTraits } from "../model/targets.ts";
import { say } from "../text/say.ts";
import type { ResolvedCases } from "./cases.ts";
import type { Context } from "./context.ts";
import type { Parts } from "./parts.ts";
import type { Problem } from "./problem.ts";
import { hasHosts, onHosts } from "./rig.ts";
import { firstOf, problemsBy, type Wrong } from "./rules/rule.ts";
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
	if (faults.length === 0) return { faults: [], problems: [] };
	const { target, rig } = context;
	const on = hasHosts(rig) ? ON_HOSTS : target;
	const place = on && targets[on].place;
	const problems = problemsBy<"faults">((tell) => {
		if (cases.some((one) => one?.schedule.steady))
			tell("faults", say("steady-window", { part: "faults", instead: "15s" }));
		const without = systems.find((one) => one.broker !== noBroker && !hasProcess(one.options));
		const theirs = systems.find(({ key, url }) => rig && url !== null && !onHosts(rig, key));
		if (place === null && !context.targetChosen)
			tell("faults", "faults-of-yours", {
				targets: targetsThat(({ place }) => place !== null),
			});
		if (rig && theirs) tell("faults", "faults-beyond-rig", { rig: rig.path, system: theirs.key });
		if (place === null) return;
		if (without) tell("faults", "faults-without-server", { system: without.key });
		if (target && targets[target].place === "process" && context.platform !== "linux")
			tell("faults", "faults-need-linux");
	}).map((problem): Problem => ({ ...problem, at: "key" }));
	if (place === null) return { faults: [], problems };
	const wrong = faults.flatMap((fault, index) =>
		problemsBy(
			(wrong) => {
				if (!fault) return;
				checkAction(fault, on, firstOf(wrong));
				checkTime(fault, cases, firstOf(wrong));
				checkNode(fault, systems, firstOf(wrong));
				checkOrder(fault, faults[index - 1], firstOf(wrong));
			},
			(key) => ["faults", index, key],
		),
	);
	return {
		faults: faults
			.filter((fault) => fault !== undefined)
			.map(({ at, action, for: forNs, node, broker, delay }) => ({
				atNs: at,
				action,
				forNs: forNs ?? (action === "restart" ? 0 : null),
				node: node ?? broker ?? null,
				delayNs: delay ?? null,
			})),
		problems: [...problems, ...wrong],
	};
}

// --- internal ---

type Written = ScenarioFile["faults"][number];

/** What each action is, and whether it may last for ever. */
const ACTIONS = {
	pause: { a: "a pause", endless: false },
	kill: { a: "a kill", endless: true },
	restart: { a: "a restart", endless: true },
	partition: { a: "a partition", endless: false },
	latency: { a: "latency", endless: false },
} as const;

function checkAction(fault: Written, target: TargetName | undefined, wrong: Wrong): void {
	const { action, delay } = fault;
	const { a, endless } = ACTIONS[action];
	const { faults = [action], otherFaults = "" } = target ? targetTraits(target) : {};
	if (!faults.includes(action))
		wrong("action", "fault-elsewhere", {
			action,
			why: otherFaults,
			targets: targetsThat((one) => one.faults.includes(action)),
		});
	if (fault.for === undefined && !endless) wrong("for", "fault-endless", { fault: a });
	if (action === "latency" && delay === undefined) wrong("delay", "latency-without-delay");
	if (action !== "latency" && delay !== undefined)
		wrong("delay", "delay-without-latency", { fault: a });
}

function checkTime({ at: atNs }: Written, cases: ResolvedCases["cases"], wrong: Wrong): void {
	for (const one of cases) {
		if (!one) continue;
		const { name, schedule } = one;
		const { durationNs } = schedule;
		if (schedule.kind === "closed") wrong("at", "faults-without-schedule", { case: name });
		if (atNs >= durationNs) wrong("at", "fault-after-end", { atNs, case: name, durationNs });
	}
}

function checkNode(fault: Written, systems: readonly PlacedSystem[], wrong: Wrong): void {
	if (fault.node !== undefined && fault.broker !== undefined) wrong("broker", "node-twice");
	const node = fault.node ?? fault.broker;
	const field = fault.node === undefined ? "broker" : "node";
	if (node === undefined) return;
	for (const { key: system, options, traits } of systems) {
		if (!hasProcess(options)) continue;
		const { nodes = 1 } = options;
		// Where a topic has copies, one of them leads.
		if (node === "leader" && traits.maxReplicas === 1)
			wrong(field, "no-leader", { field, system, title: traits.title });
		else if (node === "leader" && nodes === 1)
			wrong(field, "no-other-leader", {
				field,
				system,
				nodes: traits.nodes.find((n) => n > 1) ?? 3,
			});
		else if (node !== "leader" && node > nodes)
			wrong(field, "no-such-node", { field, node, system, nodes });
	}
}

function checkOrder({ at }: Written, before: Written | undefined, wrong: Wrong): void {
	if (before === undefined) return;
	if (before.action === "kill" && before.for === undefined) wrong("at", "kill-endless");
	if (at < before.at + (before.for ?? 0)) wrong("at", "faults-overlap");
}
