import { builtPrograms } from "../brokers/index.ts";
import { MqbenchError } from "../errors.ts";
import { formatDuration } from "../units.ts";
import { brokerChecks } from "./brokers.ts";
import { type Check, type Finding, ok, unknown } from "./finding.ts";
import type { Generator } from "./generator.ts";
import type { Machine, PulumiFound } from "./machine.ts";

/** What mqbench needs to run, and what it could measure with what is here. */
export const programChecks: readonly Check[] = [
	{ name: "Node", alone: false, look: node },
	{ name: "generator", alone: false, look: generator },
	{ name: "Go", alone: false, look: go },
	...brokerChecks,
	{ name: "Docker", alone: false, look: docker },
	{ name: "ssh", alone: false, look: ssh },
	{ name: "AWS", alone: false, look: aws },
];

// --- internal ---

/** Names of the brokers that mqbench builds. */
const BUILT = builtPrograms.map(({ name }) => name);

const NODE = [20, 19] as const;

function node({ node: version }: Machine): Finding[] {
	const [major = 0, minor = 0] = version
		.replace(/^v/, "")
		.split(".")
		.map(Number);
	if (major > NODE[0] || (major === NODE[0] && minor >= NODE[1]))
		return [ok("Node", version, "It runs mqbench.")];
	return [
		{
			check: "Node",
			verdict: "bad",
			figure: version,
			sentence: `mqbench is made for ${NODE.join(".")} and newer.`,
			remedy: "Install a newer Node (https://nodejs.org).",
		},
	];
}

async function generator(machine: Machine): Promise<Finding[]> {
	const found: Generator = await machine.generator();
	if (found.from === "MQBENCH_K6")
		return [
			"k6" in found
				? ok(
						"generator",
						found.k6,
						`MQBENCH_K6 names it; ${[...BUILT, "agent"].join(" and ")} lie beside it.`,
					)
				: {
						check: "generator",
						verdict: "bad",
						figure: "unusable",
						sentence: "MQBENCH_K6 is set, and nothing else is looked at then.",
						remedy: found.unusable,
					},
		];
	if (found.from === "cache")
		return [
			ok(
				"generator",
				`built ${formatDuration(Math.max(0, found.ageMs) * 1e6)} ago with ${found.go}`,
				`k6, ${BUILT.join(", ")} and agent come from the cache (${found.key}); MQBENCH_K6 is not set.`,
			),
		];
	return [
		{
			check: "generator",
			verdict: "info",
			figure: found.damaged ? "damaged in the cache" : "not built yet",
			sentence: `MQBENCH_K6 is not set and the cache has no build ${found.key}: the first run builds k6, ${BUILT.join(", ")} and agent with Go, which takes a minute or two.`,
			remedy: null,
		},
	];
}

/** Go is needed for a build only. */
async function go(machine: Machine): Promise<Finding[]> {
	const { from } = await machine.generator();
	try {
		const version = await machine.go();
		return [ok("Go", version, "Good enough to build the generator.")];
	} catch (error) {
		if (!(error instanceof MqbenchError) || error.code === "interrupted")
			return [unknown("Go", "It did not answer in time.")];
		const figure = error.code === "go-missing" ? "not found" : "too old";
		if (from !== "build")
			return [
				{
					check: "Go",
					verdict: "info",
					figure,
					sentence: "Not needed now: the generator is there already.",
					remedy: null,
				},
			];
		return [
			{
				check: "Go",
				verdict: "bad",
				figure,
				sentence: "The generator has to be built once, with Go.",
				remedy: error.message,
			},
		];
	}
}

async function docker(machine: Machine): Promise<Finding[]> {
	const text = await machine.run(
		"docker",
		"version",
		"--format",
		"{{.Server.Version}}",
	);
	const version = /^\d\S*/.exec(text ?? "")?.[0];
	if (version !== undefined)
		return [
			ok(
				"Docker",
				version,
				"Brokers and clients can be containers (target: docker, clients: { docker: n }).",
			),
		];
	const client = await machine.which("docker");
	return [
		{
			check: "Docker",
			verdict: "info",
			figure: client
				? "installed, but its daemon does not answer (this user)"
				: "not found",
			sentence: "Only brokers and clients in containers need it.",
			remedy: null,
		},
	];
}

/** The user's own: it knows keys, agents and hosts behind others. */
async function ssh(machine: Machine): Promise<Finding[]> {
	const found = await machine.which("ssh");
	return [
		found === null
			? {
					check: "ssh",
					verdict: "info",
					figure: "not found",
					sentence:
						"Only clients and brokers on other hosts need it, and target aws.",
					remedy: null,
				}
			: ok(
					"ssh",
					found,
					"Clients on other hosts are reached by it (clients: [user@host]).",
				),
	];
}

/** Who measures on a laptop has none of it. Whether AWS lets the caller in is asked by a plan or a run. */
async function aws(machine: Machine): Promise<Finding[]> {
	const { folder, missing, pulumi } = await machine.aws();
	if (missing.length > 0)
		return [
			{
				check: "AWS",
				verdict: "info",
				figure: "not installed",
				sentence:
					"Only target aws needs Pulumi's packages and the SDK of AWS; once:",
				remedy: `npm ci --prefix ${/[^\w@%+=:,./-]/.test(folder) ? JSON.stringify(folder) : folder}`,
			},
		];
	return [
		ok(
			"AWS",
			"SDK and Pulumi's packages are installed",
			"What target aws needs of this machine; whether there are credentials, and what AWS lets them rent, was not asked: mqbench plan does, with --target aws.",
		),
		...(pulumi === null ? [] : [command(pulumi)]),
	];
}

/** Pulumi's own command, which the packages drive. */
function command(pulumi: PulumiFound): Finding {
	if ("unusable" in pulumi)
		return {
			check: "pulumi",
			verdict: "info",
			figure: "unusable",
			sentence: "Only target aws needs it, and MQBENCH_PULUMI is set.",
			remedy: pulumi.unusable,
		};
	const { wanted, program, version, reason } = pulumi;
	return program === null
		? {
				check: "pulumi",
				verdict: "info",
				figure: "missing",
				sentence: `Only target aws needs the command, ${wanted} or newer, and ${reason}: mqbench offers to download it when it rents.`,
				remedy: null,
			}
		: ok("pulumi", `${version}`, `Target aws runs ${program}.`);
}
