import { randomBytes } from "node:crypto";
import { brokerOf, hasProcess, imageAt, noBroker } from "../../runner/brokers/index.ts";
import { failure } from "../../runner/errors.ts";
import type { Plan } from "../../runner/model/plan.ts";
import { targetTraits } from "../../runner/model/targets.ts";
import { longest } from "../../runner/plan/warnings.ts";
import { brokerMachines, nodesOf } from "../../runner/scenario/aws.ts";
import type { Aws, Scenario } from "../../runner/scenario/scenario.ts";
import { tell } from "../../runner/text/tell.ts";
import { formatDuration, formatDurationExact } from "../../runner/units.ts";
import { type AwsConfig, isMetal } from "../aws/config.ts";

/** The runs that the command makes: systems that do not run need no machines. */
export interface CloudRequest {
	/** Its `aws` counts the machines of the systems that run. */
	readonly scenario: Scenario & { readonly aws: Aws };
	/** Systems that have a broker, in order. */
	readonly systems: AwsConfig["systems"];
	/** Debian packages for the brokers. */
	readonly packages: string[];
	/** How long standing up and all runs take at most, ns. */
	readonly plannedNs: number;
}

/** The scenario's file, `--no-floor`, `--confirm`. */
export interface RequestArgs {
	readonly path: string;
	readonly floor?: boolean | undefined;
	readonly confirm?: boolean | undefined;
}

/** The machines to rent for the scenario; null for none. Fails with `ttl-short` if they would end themselves before the runs are over. */
export function cloudRequest(
	scenario: Scenario,
	plans: readonly Plan[],
	{ path, floor = true, confirm = false }: RequestArgs,
): CloudRequest | null {
	const { aws, quick } = scenario;
	if (aws === null || targetTraits(scenario.target).rents === null) return null;
	const running = scenario.systems.filter(({ key }) => plans.some(({ system }) => system === key));
	const served = running.filter(({ options }) => hasProcess(options));
	if (served.length === 0)
		throw failure("usage", {
			message: `${path}: ${tell("nothing-to-rent", { broker: running[0]?.broker ?? noBroker })}`,
		});
	const packages = served.flatMap((system) =>
		imageAt("host", system) === null ? (brokerOf(system).process?.packages ?? []) : ENGINE_PACKAGES,
	);
	const metal = [aws.brokers, aws.clients].some(({ instance }) => isMetal(instance));
	const runsNs = longest(plans, { floors: floor && !quick, confirm: confirm && !quick });
	const plannedNs = STANDING_UP_NS + (metal ? METAL_NS : 0) + runsNs;
	if (plannedNs > aws.ttlNs)
		throw failure("ttl-short", {
			path,
			ttl: formatDurationExact(aws.ttlNs),
			longest: formatDuration(plannedNs),
			write: enough(plannedNs),
		});
	const brokers = { ...aws.brokers, count: brokerMachines(running) };
	return {
		scenario: { ...scenario, aws: { ...aws, brokers } },
		systems: served.map((one) => ({ system: one.key, broker: one.broker, nodes: nodesOf(one) })),
		packages: [...new Set(packages)].sort(),
		plannedNs,
	};
}

/** The name of a new rig, a part of names in AWS: short and unique. */
export function rigId(scenario: string): string {
	return `${scenario.slice(0, 40)}-${randomBytes(3).toString("hex")}`;
}

// --- internal ---

/** Debian's, for systems in containers: the engine, and the certificates that it trusts when it pulls. */
const ENGINE_PACKAGES = ["ca-certificates", "docker.io"];

/** Usually five minutes: Pulumi's provider (once), network, machines that start, packages, programs. */
const STANDING_UP_NS = 10 * 60e9;
/** Machines without a hypervisor test their memory before they start. */
const METAL_NS = 20 * 60e9;

/** As a person would write it: whole quarters of an hour, whole hours. */
function enough(ns: number): string {
	const unitNs = ns <= 2 * 3600e9 ? 15 * 60e9 : 3600e9;
	return formatDurationExact(Math.ceil(ns / unitNs) * unitNs);
}
