import type { Command } from "commander";
import { ownSettings } from "../../infra/machine-settings.ts";
import { readScenario } from "../../infra/read-scenario.ts";
import { cloudRequest } from "../../infra/rent/request.ts";
import { EXIT, type ExitCode, MqbenchError } from "../errors.ts";
import type { Plan } from "../model/plan.ts";
import { expand } from "../plan/expand.ts";
import { placeLines } from "../plan/place-text.ts";
import { comparedText, QUICK_MEANS } from "../plan/plan-text.ts";
import { warnBeforeRuns } from "../plan/warnings.ts";
import { formatDuration, plural } from "../units.ts";
import type { World } from "../world.ts";
import { type Action, type Flags, type ScenarioArgs, scenarioOptions } from "./options.ts";

export function declare(command: Command, on: Action): void {
	scenarioOptions(
		command.option(
			"--json",
			"print mistakes as a JSON array, for editors and CI: code, file, line, column, option, message, remedy; [] if there are none",
		),
	).action(on(validate, "path"));
}

/** `json`: prints only the scenario's mistakes; other errors stay the same. */
export async function validate(
	{ json, ...args }: ScenarioArgs & Flags<"json">,
	world: World,
): Promise<ExitCode> {
	if (json) return asJson(args, world);
	const { scenario } = await readScenario(args.path, args, world);
	const plans = expand(scenario, { only: args.only });
	if (scenario.baseline !== null) {
		const { baselineToCompare } = await import("../compare/to-compare.ts");
		const here = { ...args, settings: await ownSettings() };
		const { warnings } = baselineToCompare(scenario, plans, here, world);
		for (const warning of warnings) world.stderr.write(`Warning: ${warning}\n`);
	}
	warnBeforeRuns(scenario, plans, args, world);
	const request = cloudRequest(scenario, plans, args);
	world.stdout.write(`${args.path} is valid: ${summary(plans)}\n`);
	const systems = new Set(plans.map(({ system }) => system));
	for (const line of placeLines(request?.scenario ?? scenario, systems))
		world.stdout.write(`${line}\n`);
	if (scenario.quick) world.stdout.write(`${QUICK_MEANS}\n`);
	const compared = comparedText(plans);
	if (compared !== null) world.stdout.write(`${compared}\n`);
	else if (plans.every(({ sla }) => sla.length === 0))
		world.stdout.write("no sla: nothing will be judged\n");
	return EXIT.pass;
}

// --- internal ---

async function asJson(args: ScenarioArgs, world: World): Promise<ExitCode> {
	const print = (mistakes: unknown) => world.stdout.write(`${JSON.stringify(mistakes, null, 2)}\n`);
	const silent = { ...world.stdout, write: () => true };
	try {
		const exit = await validate(args, { ...world, stdout: silent });
		print([]);
		return exit;
	} catch (error) {
		if (!(error instanceof MqbenchError && "mistakes" in error.details)) throw error;
		print(error.details.mistakes);
		return error.exit;
	}
}

/** "3 runs, 1 system (nats), 3 cases, 1min 45s and drain" */
function summary(plans: readonly Plan[]): string {
	const systems = [...new Set(plans.map(({ system }) => system))];
	const searches = plans.filter(({ search }) => search !== null);
	const runs = plans.filter(({ search }) => search === null);
	const ns = runs.reduce((sum, { schedule }) => sum + schedule.warmupNs + schedule.durationNs, 0);
	const most = runs.some(({ schedule }) => schedule.kind === "closed") ? "at most " : "";
	const parts = [
		runs.length > 0 && plural(runs.length, "run"),
		searches.length > 0 &&
			`${searches.length} search${searches.length === 1 ? "" : "es"} (times: npx mqbench plan)`,
		`${plural(systems.length, "system")} (${systems.join(", ")})`,
		plural(new Set(plans.map((plan) => plan.case)).size, "case"),
		runs.length > 0 && `${most}${formatDuration(ns)} and drain`,
	];
	return parts.filter((part) => part !== false).join(", ");
}
