import { brokers, builtPrograms } from "../brokers/index.ts";
import { MqbenchError } from "../errors.ts";
import { formatDuration } from "../units.ts";
import { bad, type Check, type Found, info, ok, unknown } from "./finding.ts";
import type { Machine } from "./this-machine.ts";

/**
 * What the load generator is built with: a run without it is not possible. What each broker needs where mqbench starts it (target local) speaks
 * against nothing but that broker; a run that needs it says how to install it on this platform.
 */
export const buildChecks: readonly Check[] = [
	{ name: "generator", look: generator },
	{ name: "Go", look: go },
];
export const programChecks: readonly Check[] = [
	...buildChecks,
	...Object.values(brokers).flatMap(({ title, install }): Check[] =>
		install === null
			? []
			: [
					{
						name: title,
						async look(machine) {
							const { here, figure, sentence } = await install.look(machine);
							return (here ? ok : info)(figure, sentence);
						},
					},
				],
	),
	{ name: "Docker", look: docker },
	{ name: "AWS", look: aws },
];

// --- internal ---

const PROGRAMS = ["k6", ...builtPrograms.map(({ name }) => name), "agent"].join(", ");

async function generator(machine: Machine): Promise<Found> {
	const found = await machine.generator();
	if (found.from === "MQBENCH_K6")
		return "k6" in found
			? ok(found.k6, `MQBENCH_K6 names it; ${PROGRAMS} are beside each other.`)
			: bad("unusable", "MQBENCH_K6 is set, so mqbench uses no other.", found.unusable);
	if (found.from === "package")
		return ok(found.name, `${PROGRAMS} are the package's, built with ${found.go}.`);
	const why = found.why === null ? "" : ` ${found.why}`;
	if (found.from === "cache")
		return ok(
			`built ${formatDuration(Math.max(0, found.ageMs) * 1e6)} ago with ${found.go}`,
			`${PROGRAMS} are in the cache (${found.key}).${why}`,
		);
	return info(
		found.damaged ? "damaged in the cache" : "not built yet",
		`The first run builds ${PROGRAMS} with Go, which takes a minute or two (cache: ${found.key}).${why}`,
	);
}

/** Go is needed for a build only. */
async function go(machine: Machine): Promise<Found> {
	const { from } = await machine.generator();
	try {
		return ok(await machine.go(), "New enough to build the load generator.");
	} catch (error) {
		if (!(error instanceof MqbenchError) || error.code === "interrupted")
			return unknown("It did not answer in time.");
		const figure = error.code === "go-missing" ? "not found" : "too old";
		return from === "build"
			? bad(figure, "The load generator has to be built once, with Go.", error.message)
			: info(figure, "Not needed now: the load generator is built already.");
	}
}

async function docker(machine: Machine): Promise<Found> {
	const text = await machine.run("docker", "version", "--format", "{{.Server.Version}}");
	const version = /^\d\S*/.exec(text ?? "")?.[0];
	return version === undefined
		? info("no engine answers this user", "Needed only for brokers and clients in containers.")
		: ok(
				version,
				"Brokers and clients can be containers (target: docker, clients: { docker: n }).",
			);
}

/** Whether AWS lets the caller in, and Pulumi's command is there, a plan or a run finds out. */
async function aws(machine: Machine): Promise<Found> {
	const { missing, install } = await machine.aws();
	return missing.length > 0
		? info(
				"not installed",
				"Needed only for target aws: Pulumi's packages and the SDK of AWS.",
				install,
			)
		: ok(
				"SDK and Pulumi's packages are installed",
				"To check credentials and what they may rent: mqbench plan <scenario> --target aws.",
			);
}
