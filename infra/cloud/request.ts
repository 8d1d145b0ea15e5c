import { randomBytes } from "node:crypto";
import { hasProcess, noBroker } from "../../runner/brokers/index.ts";
import { failure } from "../../runner/errors.ts";
import type { Plan } from "../../runner/model/plan.ts";
import { type CloudName, targetTraits } from "../../runner/model/targets.ts";
import { longest } from "../../runner/plan/warnings.ts";
import { brokerMachines, nodesOf } from "../../runner/scenario/aws.ts";
import type { Aws, Scenario } from "../../runner/scenario/scenario.ts";
import { tell } from "../../runner/text/tell.ts";
import { formatDuration, formatDurationExact } from "../../runner/units.ts";
import { isMetal } from "../aws/config.ts";
import type { RigConfig } from "./provider.ts";

/** A scenario that needs rented machines. */
export type CloudScenario = Scenario & { readonly aws: Aws };

/** The runs that the command makes: systems that do not run need no machines. */
export interface CloudRequest {
	readonly cloud: CloudName;
	/** Its `aws` counts the machines of the systems that run. */
	readonly scenario: CloudScenario;
	/** Systems that have a broker, in order. */
	readonly systems: RigConfig["systems"];
	/** How long standing up and all runs take at most, ns. */
	readonly plannedNs: number;
	/** The part of it after the cloud has provided the machines: their set-up, and the runs. */
	readonly onMachinesNs: number;
}

export interface RequestArgs {
	/** Path of the scenario file. */
	readonly path: string;
	/** `--no-floor`: false. */
	readonly floor?: boolean | undefined;
	/** `--confirm`. */
	readonly confirm?: boolean | undefined;
}

/**
 * What to rent for the scenario; null: nothing. Fails with `ttl-short` if the machines would end themselves before the runs are over.
 */
export function cloudRequest(
	scenario: Scenario,
	plans: readonly Plan[],
	args: RequestArgs,
): CloudRequest | null {
	const { aws } = scenario;
	const { rents } = targetTraits(scenario.target);
	if (aws === null || rents === null) return null;
	const running = scenario.systems.filter(({ key }) => plans.some(({ system }) => system === key));
	const systems = running.flatMap((system): RigConfig["systems"] =>
		hasProcess(system.options)
			? [{ system: system.key, broker: system.broker, nodes: nodesOf(system) }]
			: [],
	);
	if (systems.length === 0)
		throw failure("usage", {
			message: `${args.path}: ${tell("nothing-to-rent", { broker: running[0]?.broker ?? noBroker })}`,
		});
	const metal = [aws.brokers, aws.clients].some(({ instance }) => isMetal(instance));
	const onMachinesNs = SET_UP_NS + (metal ? METAL_NS : 0) + longestOf(plans, scenario, args);
	const plannedNs = MAKING_NS + onMachinesNs;
	if (plannedNs > aws.ttlNs)
		throw failure("ttl-short", {
			path: args.path,
			ttl: formatDurationExact(aws.ttlNs),
			longest: formatDuration(plannedNs),
			write: enough(plannedNs),
		});
	return {
		cloud: rents,
		scenario: {
			...scenario,
			aws: { ...aws, brokers: { ...aws.brokers, count: brokerMachines(running) } },
		},
		systems,
		plannedNs,
		onMachinesNs,
	};
}

/** Part of names in the cloud: short and unique. */
export function rigId(scenario: string): string {
	return `${scenario.slice(0, 40)}-${randomBytes(3).toString("hex")}`;
}

// --- internal ---

/** AWS makes network and machines, and the first time Pulumi's provider is fetched: usually two or three minutes. */
const MAKING_NS = 5 * 60e9;
/** Machines without a hypervisor test their memory before they start. */
const METAL_NS = 20 * 60e9;
/** Machines start, packages are installed, programs are copied: usually two or three minutes as well. */
const SET_UP_NS = 5 * 60e9;

function longestOf(
	plans: readonly Plan[],
	{ quick }: Scenario,
	{ floor = true, confirm = false }: RequestArgs,
): number {
	return longest(plans, { floors: floor && !quick, confirm: confirm && !quick });
}

/** As a person would write it: whole quarters of an hour, whole hours. */
function enough(ns: number): string {
	const unitNs = ns <= 2 * 3600e9 ? 15 * 60e9 : 3600e9;
	return formatDurationExact(Math.ceil(ns / unitNs) * unitNs);
}
