import type { Command } from "commander";
import { pulumiConfig } from "../../infra/cloud/pulumi-config.ts";
import { type CloudSide, offerFor, theCloud } from "../../infra/cloud/rent.ts";
import { cloudRequest } from "../../infra/cloud/request.ts";
import { EXIT, type ExitCode } from "../errors.ts";
import { RENTING } from "../model/targets.ts";
import { expand } from "../plan/expand.ts";
import { readScenario } from "../scenario/read.ts";
import type { World } from "../world.ts";
import { type Action, type ScenarioArgs, systemsOptions } from "./options.ts";

export function declare(rigs: Command, on: Action): void {
	systemsOptions(rigs.command("config"))
		.description("print the Pulumi configuration of a scenario, for running pulumi up by hand")
		.option("--clients <n>", "machines for the load")
		.action(on(rigsConfig, "path"));
}

/** The Pulumi program's configuration for a scenario, to run `pulumi up` by hand. Rents nothing. */
export async function rigsConfig(
	args: ScenarioArgs,
	world: World,
	cloud: CloudSide = theCloud,
): Promise<ExitCode> {
	const asked = { ...args, target: RENTING };
	const { scenario } = await readScenario(args.path, asked, world);
	const plans = expand(scenario, { only: args.only });
	const request = cloudRequest(scenario, plans, args);
	if (request === null) throw new Error(`target ${RENTING} rents machines`);
	const offer = await offerFor(request, world, cloud);
	world.stdout.write(pulumiConfig(offer, args.path));
	return EXIT.pass;
}
