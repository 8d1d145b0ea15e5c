import type { Command } from "commander";
import { examine } from "../doctor/examine.ts";
import { renderFindings, worst } from "../doctor/finding.ts";
import { type Machine, thisMachine } from "../doctor/this-machine.ts";
import { EXIT, type ExitCode } from "../errors.ts";
import { packageVersion } from "../package.ts";
import { orInterrupted } from "../stop.ts";
import { terminalLook } from "../terminal/look.ts";
import type { World } from "../world.ts";
import { type Action, type ClusterArgs, clusterOptions, isCluster } from "./options.ts";

export function declare(command: Command, on: Action): void {
	clusterOptions(command).option("--json", "print the findings as JSON").action(on(doctor));
}

/** `mqbench doctor`: what on this machine would bend a measurement, and the remedy. Exit code 3 when something is bad. */
export async function doctor(
	{ json, ...where }: ClusterArgs & { readonly json?: boolean | undefined },
	world: World,
	machine: Machine = thisMachine(world),
): Promise<ExitCode> {
	const findings = await Promise.all([examine(machine), inCluster(where, world)]);
	orInterrupted(world.stop);
	const all = findings.flat();
	const verdict = worst(all);
	world.stdout.write(
		json
			? `${JSON.stringify({ schema: 1, mqbench: packageVersion, verdict, findings: all }, null, "\t")}\n`
			: renderFindings(all, terminalLook(world.stdout, world.env)),
	);
	return verdict === "bad" ? EXIT.environment : EXIT.pass;
}

// --- internal ---

async function inCluster(where: ClusterArgs, world: World) {
	if (!isCluster(where)) return [];
	const { clusterFindings } = await import("../doctor/cluster.ts");
	return clusterFindings(where, world);
}
