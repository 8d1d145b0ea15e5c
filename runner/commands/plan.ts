import type { Command } from "commander";
import { readScenario } from "../../infra/read-scenario.ts";
import { type CloudSide, theCloud, writeOffer } from "../../infra/rent/rent.ts";
import { cloudRequest } from "../../infra/rent/request.ts";
import { EXIT, type ExitCode, failure } from "../errors.ts";
import { tooDeepWarnings } from "../plan/depth.ts";
import { expand } from "../plan/expand.ts";
import { holdingLines, placeLines, usesLines } from "../plan/place-text.ts";
import { renderPlan } from "../plan/plan-text.ts";
import { warningsOf } from "../plan/warnings.ts";
import { foreseenText } from "../search/runs.ts";
import type { World } from "../world.ts";
import { type Action, type Flags, type ScenarioArgs, scenarioOptions } from "./options.ts";

export function declare(command: Command, on: Action): void {
	scenarioOptions(command).option("--json", "print the plans as JSON").action(on(plan, "path"));
}

/** With target aws also shows the machines to rent, and exits as a run would if they are not available; 0 if AWS cannot be asked. */
export async function plan(
	args: ScenarioArgs & Flags<"json">,
	world: World,
	cloud: CloudSide = theCloud,
): Promise<ExitCode> {
	const { scenario } = await readScenario(args.path, args, world);
	const plans = expand(scenario, { only: args.only });
	const request = cloudRequest(scenario, plans, args);
	const tooDeep = tooDeepWarnings(plans);
	const warnings = [...(scenario.strict ? [] : tooDeep), ...warningsOf(scenario, plans)];
	let unfit: ExitCode = EXIT.pass;
	if (args.json) {
		world.stdout.write(`${JSON.stringify(plans, null, 2)}\n`);
		for (const warning of warnings) world.stderr.write(`Warning: ${warning}\n`);
	} else {
		world.stdout.write(
			renderPlan(plans, {
				columns: world.stdout.columns,
				where: [
					...placeLines(request?.scenario ?? scenario, new Set(plans.map(({ system }) => system))),
					...holdingLines(plans),
				],
				uses: usesLines(scenario, plans, world.env),
				warnings,
				searchText: foreseenText,
			}),
		);
		if (request !== null) unfit = await writeOffer(request, world, cloud);
	}
	if (scenario.strict && tooDeep.length > 0)
		throw failure("percentile-too-deep", { path: args.path, warnings: tooDeep });
	return unfit;
}
