import { brokerOf, hasProcess, noBroker } from "../brokers/index.ts";
import type { Plan } from "../model/plan.ts";
import { targets } from "../model/targets.ts";
import type { Scenario, System } from "../scenario/scenario.ts";
import { distinct } from "./distinct.ts";
import { clusterText } from "./place-text.ts";

/**
 * Programs, files, images, clusters and variables that a scenario has mqbench use beside what placeLines says, a line each: whoever got it
 * from somebody else reads here what it would do. `env`: of drivers' own variables only those that are set.
 */
export function usesLines(
	scenario: Scenario,
	plans: readonly Plan[],
	env: Readonly<Record<string, string | undefined>>,
): string[] {
	const { kubernetes, clients, baseline, rig } = scenario;
	const keys = new Set(plans.map(({ system }) => system));
	const systems = scenario.systems.filter(
		({ key, broker }) => keys.has(key) && broker !== noBroker,
	);
	const files = [
		...plans.map(({ message }) => message.file),
		...systems.flatMap(({ options: { tls } }) =>
			typeof tls === "object" ? [tls.ca, tls.cert, tls.key] : [],
		),
		...(baseline?.path ? [baseline.path] : []),
		...[...sshAccess(scenario)].flatMap((one) => [one.identity, one.knownHosts]),
	].filter((file) => typeof file === "string");
	const own = systems.flatMap(({ options }) => brokerOf(options).secretEnv);
	const variables = [...scenario.variables, ...own.filter((name) => env[name] !== undefined)];
	return [
		...(rig === null && targets[scenario.target].place === "process"
			? systems.flatMap(programLine)
			: []),
		...(kubernetes === null ? [] : [`cluster: ${clusterText(kubernetes)}`]),
		...(kubernetes !== null && clients.kind === "pods"
			? [`image ${kubernetes.image} for the load generator pods`]
			: []),
		...lineOf("files", files),
		...lineOf("variables of the environment", variables),
	];
}

// --- internal ---

function programLine({ key, binary, options }: System): string[] {
	if (!hasProcess(options)) return [];
	// What else might be written is for tables; of a broker without a server, only its forwarder is a program.
	const from = brokerOf(options)
		.install?.from.split(/(?:; or|,) `binary:/)[0]
		?.split(/; with `\w+: true` /)
		.at(-1);
	const { server } = options as { readonly server?: string };
	const program = binary ?? server ?? from?.replaceAll("`", "");
	return program === undefined ? [] : [`${key}: program ${program}`];
}

function sshAccess({ clients, rig }: Scenario) {
	return [
		...(clients.kind === "ssh" ? Object.values(clients.access ?? {}) : []),
		...(rig?.brokers.flatMap(({ hosts }) => hosts) ?? []),
	];
}

function lineOf(what: string, names: readonly string[]): string[] {
	const all = distinct(names, (name) => name);
	return all.length === 0 ? [] : [`${what}: ${all.join(", ")}`];
}
