import { brokerOf } from "../../runner/brokers/index.ts";
import { EXIT, type ExitCode } from "../../runner/errors.ts";
import type { Plan } from "../../runner/model/plan.ts";
import { targets } from "../../runner/model/targets.ts";
import { clientCount } from "../../runner/scenario/clients.ts";
import type { Kubernetes, Scenario } from "../../runner/scenario/scenario.ts";
import { commandLine } from "../../runner/shell.ts";
import { wrap } from "../../runner/terminal/wrap.ts";
import { formatBytes, plural } from "../../runner/units.ts";
import type { World } from "../../runner/world.ts";
import { limitWords } from "../docker/container.ts";
import { podsOfBroker } from "./broker.ts";
import { podsOfLoad } from "./clients.ts";
import type { PodsAsked } from "./job.ts";
import { findKubectl, KubectlError } from "./kubectl.ts";
import { type Looked, lookAt, OLDEST, whyUnseen } from "./look.ts";

type Asked = Pick<Scenario, "clients" | "systems" | "target"> & { readonly kubernetes: Kubernetes };
type Planned = readonly Pick<Plan, "system" | "durabilityLevel">[];

/**
 * `mqbench plan`: what pods a scenario needs at once, and whether the account may make them. Makes nothing. A
 * cluster that cannot be asked is a line: who has none plans all the same.
 */
export async function writeClusterPlan(
	scenario: Asked,
	plans: Planned,
	world: World,
): Promise<ExitCode> {
	const width = Math.max(40, world.stdout.columns);
	const { lines, code } = await clusterPlan(scenario, plans, world);
	for (const line of lines) world.stdout.write(`${wrap(line, width, "    ", "  ").join("\n")}\n`);
	return code;
}

/** Of the project's own package. */
export const RBAC = "infra/kubernetes/rbac.yaml";

// --- internal ---

interface PodSet {
	readonly name: string;
	readonly asked: Omit<PodsAsked, "name">;
}

/** Pods that a scenario needs: those of the load, and of each system's broker, which take turns. */
function podSetsOf({ clients, systems, target, kubernetes }: Asked, plans: Planned): PodSet[] {
	const load = podsOfLoad(clientCount(clients), kubernetes);
	const brokers = systems.flatMap((system) => {
		const plan = plans.find((one) => one.system === system.key);
		const { process } = brokerOf(system.options);
		if (!plan || !process || targets[target].place !== "pod") return [];
		const level = plan.durabilityLevel;
		return [{ name: system.key, asked: podsOfBroker(process, { system, level }, kubernetes) }];
	});
	return [...brokers, ...(clients.kind === "pods" ? [{ name: "load", asked: load }] : [])];
}

async function clusterPlan(
	scenario: Asked,
	plans: Planned,
	world: World,
): Promise<{ lines: string[]; code: ExitCode }> {
	const lines = podSetsOf(scenario, plans).map(({ name, asked }) => podsText(name, asked));
	let looked: Looked;
	try {
		looked = await lookAt(findKubectl(world, scenario.kubernetes));
	} catch (error) {
		const why = error instanceof KubectlError ? whyUnseen(error) : String(error);
		return { lines: [...lines, `The cluster was not asked: ${why}`], code: EXIT.pass };
	}
	const { context, namespace, version, tooOld, missing } = looked;
	lines.unshift(
		`cluster: Kubernetes ${version}, context ${context}, namespace ${namespace}`,
		"at the same time run the pods of one system and those of the load:",
	);
	const wrong = [
		...(tooOld
			? [`not possible: Kubernetes ${version} is too old, and 1.${OLDEST} is needed`]
			: []),
		...(missing.length > 0
			? [
					`not possible: the account may not ${missing.join(", ")}; kubectl --namespace ${commandLine([namespace])} apply --filename ${commandLine([RBAC])} makes one that may`,
				]
			: []),
	];
	for (const one of wrong) lines.push(one);
	if (missing.length === 0) lines.push("rights: all that are needed are there");
	return { lines, code: wrong.length > 0 ? EXIT.environment : EXIT.pass };
}

function podsText(name: string, { count, image, cpus, memory }: PodSet["asked"]): string {
	const limits = limitWords({ cpus, memory: memory === null ? null : formatBytes(memory) }).join(
		", ",
	);
	return `${name}: ${plural(count, "pod")} of ${image}, ${limits === "" ? "no limits" : `${limits}${count > 1 ? " each" : ""}`}`;
}
