import type { Command } from "commander";
import { checks } from "../doctor/checks.ts";
import { examine, renderFindings, worst } from "../doctor/finding.ts";
import { type Machine, thisMachine } from "../doctor/this-machine.ts";
import { EXIT, type ExitCode } from "../errors.ts";
import { packageVersion } from "../package.ts";
import { orInterrupted } from "../stop.ts";
import { terminalLook } from "../terminal/look.ts";
import type { World } from "../world.ts";
import type { Action, Flags } from "./options.ts";

export function declare(command: Command, on: Action): void {
	command.option("--json", "print the findings as JSON").action(on(doctor));
}

/** Exit code 3 when something is bad. */
export async function doctor(
	{ json }: Flags<"json">,
	world: World,
	machine: Machine = thisMachine(world),
): Promise<ExitCode> {
	const findings = await examine(machine, checks);
	orInterrupted(world.stop);
	const verdict = worst(findings);
	world.stdout.write(
		json
			? `${JSON.stringify({ schema: 1, mqbench: packageVersion, verdict, findings }, null, "\t")}\n`
			: renderFindings(findings, terminalLook(world.stdout, world.env)),
	);
	return verdict === "bad" ? EXIT.environment : EXIT.pass;
}
