import type { Command } from "commander";
import { writeOffer } from "../../infra/cloud/planned-offer.ts";
import { type CloudSide, theCloud } from "../../infra/cloud/rent.ts";
import { cloudRequest } from "../../infra/cloud/request.ts";
import { EXIT, type ExitCode, failure } from "../errors.ts";
import { expand } from "../plan/expand.ts";
import { outline, tooDeepSentence } from "../plan/outline.ts";
import { renderOutline } from "../plan/outline-text.ts";
import { placeLines } from "../plan/place-text.ts";
import { usesLines } from "../plan/uses-text.ts";
import { warningsOf } from "../plan/warnings.ts";
import { readScenario } from "../scenario/read.ts";
import { foreseen } from "../search/runs.ts";
import { say } from "../text/say.ts";
import { formatCount } from "../units.ts";
import type { World } from "../world.ts";
import { type Action, type ScenarioArgs, scenarioOptions } from "./options.ts";

export function declare(command: Command, on: Action): void {
	scenarioOptions(command).option("--json", "print the plans as JSON").action(on(plan, "path"));
}

/**
 * `mqbench plan`: what the runs will take and use, and which percentiles they will carry; of target aws also what would be rented. Fails under
 * `strict` when an SLA asks for more. Machines that could not be rented give the exit code that a run would have; it stays 0 where AWS was
 * not asked, as the SDK, any credentials or the network are not there: who has no account plans all the same.
 */
export async function plan(
	args: ScenarioArgs & { readonly json?: boolean | undefined },
	world: World,
	cloud: CloudSide = theCloud,
): Promise<ExitCode> {
	const { scenario } = await readScenario(args.path, args, world);
	const plans = expand(scenario, { only: args.only });
	const request = cloudRequest(scenario, plans, args);
	const outlined = outline(plans);
	const warnings = outlined.tooDeep.map((line) => tooDeepSentence(line, formatCount));
	const others = warningsOf(scenario, plans);
	let unfit: ExitCode = EXIT.pass;
	if (args.json) {
		world.stdout.write(`${JSON.stringify(plans, null, 2)}\n`);
		for (const warning of scenario.strict ? others : [...warnings, ...others])
			world.stderr.write(`Warning: ${warning}\n`);
	} else {
		// Under strict the error says it, once.
		const shown = scenario.strict ? { ...outlined, tooDeep: [] } : outlined;
		world.stdout.write(
			renderOutline(
				shown,
				world.stdout.columns,
				placeLines(request?.scenario ?? scenario, new Set(plans.map(({ system }) => system))),
				others,
				(search) => say("search-takes", foreseen(search)).text,
				usesLines(scenario, plans, world.env),
			),
		);
		if (request !== null) unfit = await writeOffer(request, world, cloud);
		const { kubernetes } = scenario;
		if (kubernetes !== null) {
			const { writeClusterPlan } = await import("../../infra/kubernetes/planned.ts");
			unfit = await writeClusterPlan({ ...scenario, kubernetes }, plans, world);
		}
	}
	if (scenario.strict && warnings.length > 0)
		throw failure("percentile-too-deep", { path: args.path, warnings });
	return unfit;
}
