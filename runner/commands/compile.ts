import type { Command } from "commander";
import { readScenario } from "../../infra/read-scenario.ts";
import { EXIT, type ExitCode } from "../errors.ts";
import { expand } from "../plan/expand.ts";
import { compile as compilePlan } from "../script/compile.ts";
import type { World } from "../world.ts";
import { type Action, type Flags, type ScenarioArgs, scenarioOptions } from "./options.ts";

export function declare(command: Command, on: Action): void {
	scenarioOptions(command)
		.option("--plan", "print the plan.json that the script opens")
		.option(
			"--inline",
			"print the script with the plan in it: all that the k6 of `npx mqbench build` needs, besides MQBENCH_URL",
		)
		.action(on(compile, "path"));
}

export async function compile(
	args: ScenarioArgs & Flags<"plan" | "inline">,
	world: World,
): Promise<ExitCode> {
	const { scenario } = await readScenario(args.path, args, world);
	const [first] = expand(scenario, { runId: "compile", only: args.only });
	if (!first) throw new Error("a scenario without runs");
	const { script, planJson } = compilePlan(first, args);
	world.stdout.write(args.plan ? planJson : script);
	return EXIT.pass;
}
