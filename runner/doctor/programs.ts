import { builtPrograms } from "../brokers/index.ts";
import { MqbenchError } from "../errors.ts";
import { tell } from "../text/tell.ts";
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
			: bad("unusable", tell("k6-set"), generator.unusable);
	if (generator.from === "package")
		return ok(generator.name, tell("programs-packed", { programs: BUILT, go: generator.go }));
	if (generator.from === "cache")
		return ok(
			`built ${formatDuration(Math.max(0, generator.ageMs) * 1e6)} ago with ${generator.go}`,
			because(tell("programs-cached", { programs: BUILT, key: generator.key }), generator.why),
		);
	return info(
		generator.damaged ? "damaged in the cache" : "not built yet",
		because(tell("programs-built-once", { programs: BUILT, key: generator.key }), generator.why),
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
		return ok(version, tell("go-new-enough"));
	} catch (error) {
		if (!(error instanceof MqbenchError) || error.code === "interrupted")
			return unknown(tell("no-answer-in-time"));
		const figure = error.code === "go-missing" ? "not found" : "too old";
		if (from !== "build") return info(figure, tell("go-not-needed"));
		return bad(figure, tell("go-needed"), error.message);
	}
}

async function docker(machine: Machine): Promise<Found> {
	const text = await machine.run("docker", "version", "--format", "{{.Server.Version}}");
	const version = /^\d\S*/.exec(text ?? "")?.[0];
	if (version !== undefined) return ok(version, tell("containers-possible"));
	const client = await machine.which("docker");
	return info(client ? tell("docker-daemon-silent") : "not found", tell("docker-optional"));
}

/** The user's own: it knows keys, agents and hosts behind others. */
async function ssh(machine: Machine): Promise<Found> {
	const program = await machine.which("ssh");
	return program === null
		? info("not found", tell("ssh-optional"))
		: ok(program, tell("ssh-means"));
}

/** Who measures on a laptop has none of it. Whether AWS lets the caller in is asked by a plan or a run. */
async function aws(machine: Machine): Promise<Found | Found[]> {
	const { folder, missing, pulumi } = await machine.aws();
	if (missing.length > 0)
		return info(
			"not installed",
			tell("sdk-optional"),
			`npm ci --prefix ${/[^\w@%+=:,./-]/.test(folder) ? JSON.stringify(folder) : folder}`,
		);
	return [
		ok(tell("sdk-installed"), tell("sdk-means")),
		...(pulumi === null ? [] : [{ check: "pulumi", ...command(pulumi) }]),
	];
}

/** Pulumi's own command, which the packages drive. */
function command(pulumi: PulumiFound): Found {
	if ("unusable" in pulumi) return info("unusable", tell("pulumi-set"), pulumi.unusable);
	const { wanted, program, version, reason, archive } = pulumi;
	if (program !== null) return ok(`${version}`, `Target aws uses ${program}.`);
	return info(
		"missing",
		archive.sha256 === null
			? tell("pulumi-optional-yours", { wanted, reason, archive: archive.name })
			: tell("pulumi-optional", { wanted, reason }),
	);
}
