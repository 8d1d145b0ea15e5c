import { builtPrograms } from "../brokers/index.ts";
import { MqbenchError } from "../errors.ts";
import { formatDuration } from "../units.ts";
import { brokerChecks } from "./brokers.ts";
import { bad, type Check, type Found, info, ok, unknown } from "./finding.ts";
import type { Generator } from "./generator.ts";
import type { Machine, PulumiFound } from "./this-machine.ts";

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

function node({ node: version }: Machine): Found {
	const [major = 0, minor = 0] = version.replace(/^v/, "").split(".").map(Number);
	if (major > NODE[0] || (major === NODE[0] && minor >= NODE[1]))
		return ok(version, "New enough for mqbench.");
	return bad(
		version,
		`mqbench needs ${NODE.join(".")} or newer.`,
		"Install a newer Node (https://nodejs.org).",
	);
}

async function generator(machine: Machine): Promise<Found> {
	const generator: Generator = await machine.generator();
	if (generator.from === "MQBENCH_K6")
		return "k6" in generator
			? ok(
					generator.k6,
					`Named by MQBENCH_K6, with ${[...BUILT, "agent"].join(" and ")} beside it.`,
				)
			: bad("unusable", "MQBENCH_K6 is set, so mqbench uses no other.", generator.unusable);
	if (generator.from === "package")
		return ok(
			generator.name,
			`k6, ${BUILT.join(", ")} and agent are the package's, built with ${generator.go} from the sources that are here.`,
		);
	if (generator.from === "cache")
		return ok(
			`built ${formatDuration(Math.max(0, generator.ageMs) * 1e6)} ago with ${generator.go}`,
			because(
				`k6, ${BUILT.join(", ")} and agent are in the cache (${generator.key}).`,
				generator.why,
			),
		);
	return info(
		generator.damaged ? "damaged in the cache" : "not built yet",
		because(
			`The first run builds k6, ${BUILT.join(", ")} and agent with Go, which takes a minute or two (cache: ${generator.key}).`,
			generator.why,
		),
	);
}

function because(text: string, why: string | null): string {
	return why === null ? text : `${text} ${why}`;
}

/** Go is needed for a build only. */
async function go(machine: Machine): Promise<Found> {
	const { from } = await machine.generator();
	try {
		const version = await machine.go();
		return ok(version, "New enough to build the load generator.");
	} catch (error) {
		if (!(error instanceof MqbenchError) || error.code === "interrupted")
			return unknown("It did not answer in time.");
		const figure = error.code === "go-missing" ? "not found" : "too old";
		if (from !== "build")
			return info(figure, "Not needed now: the load generator is built already.");
		return bad(figure, "The load generator has to be built once, with Go.", error.message);
	}
}

async function docker(machine: Machine): Promise<Found> {
	const text = await machine.run("docker", "version", "--format", "{{.Server.Version}}");
	const version = /^\d\S*/.exec(text ?? "")?.[0];
	if (version !== undefined)
		return ok(
			version,
			"Brokers and clients can be containers (target: docker, clients: { docker: n }).",
		);
	const client = await machine.which("docker");
	return info(
		client ? "installed, but its daemon does not answer this user" : "not found",
		"Needed only for brokers and clients in containers.",
	);
}

/** The user's own: it knows keys, agents and hosts behind others. */
async function ssh(machine: Machine): Promise<Found> {
	const program = await machine.which("ssh");
	return program === null
		? info("not found", "Needed only for clients and brokers on other hosts, and for target aws.")
		: ok(program, "mqbench uses it to reach clients on other hosts (clients: [user@host]).");
}

/** Who measures on a laptop has none of it. Whether AWS lets the caller in is asked by a plan or a run. */
async function aws(machine: Machine): Promise<Found | Found[]> {
	const { folder, missing, pulumi } = await machine.aws();
	if (missing.length > 0)
		return info(
			"not installed",
			"Needed only for target aws: Pulumi's packages and the SDK of AWS.",
			`npm ci --prefix ${/[^\w@%+=:,./-]/.test(folder) ? JSON.stringify(folder) : folder}`,
		);
	return [
		ok(
			"SDK and Pulumi's packages are installed",
			"This machine has what target aws needs. To check credentials and what they may rent: mqbench plan <scenario> --target aws.",
		),
		...(pulumi === null ? [] : [{ check: "pulumi", ...command(pulumi) }]),
	];
}

/** Pulumi's own command, which the packages drive. */
function command(pulumi: PulumiFound): Found {
	if ("unusable" in pulumi)
		return info("unusable", "Needed only for target aws; MQBENCH_PULUMI is set.", pulumi.unusable);
	const { wanted, program, version, reason, archive } = pulumi;
	if (program !== null) return ok(`${version}`, `Target aws uses ${program}.`);
	return info(
		"missing",
		archive.sha256 === null
			? `Needed only for target aws, ${wanted} or newer; ${reason}. Install it: mqbench has no sha256 of ${archive.name} to check a download by.`
			: `Needed only for target aws, ${wanted} or newer; ${reason}. mqbench offers to download it when it rents.`,
	);
}
