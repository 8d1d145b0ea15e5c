import type { Command } from "commander";
import { EXIT, type ExitCode, failure } from "../errors.ts";
import { expand } from "../plan/expand.ts";
import type { Overrides } from "../scenario/overrides.ts";
import { readScenario } from "../scenario/read.ts";
import { compile as compilePlan } from "../script/compile.ts";
import { operatorRefuses, testRunOf } from "../script/operator.ts";
import type { World } from "../world.ts";
import { type Invocation, scenarioOptions } from "./options.ts";

export function declare(command: Command, { world, exit }: Invocation): void {
	scenarioOptions(command)
		.option("--plan", "print the plan.json that the script opens")
		.option(
			"--inline",
			"print the script with the plan in it: all that the k6 of `mqbench build` needs, beside MQBENCH_URL",
		)
		.option(
			"--k6-operator <image>",
			"print a TestRun for k6's operator with this image, which has the k6 of `mqbench build`, and what is lost by it",
		)
		.action(async (path: string, options) => exit(await compile({ path, ...options }, world)));
}

export interface CompileArgs extends Overrides {
	/** Path of the scenario file. */
	readonly path: string;
	/** `--only`: a glob over "system/case"; the first run that it matches is shown. */
	readonly only?: string | undefined;
	/** `--plan`: the plan.json that the script opens, instead of the script. */
	readonly plan?: boolean | undefined;
	/** `--inline`: the plan stands in the script. */
	readonly inline?: boolean | undefined;
	/** `--k6-operator`: a TestRun with this image. */
	readonly k6Operator?: string | undefined;
}

/** `mqbench compile`: shows the k6 script of the first run. */
export async function compile(args: CompileArgs, world: World): Promise<ExitCode> {
	const { scenario } = await readScenario(args.path, args, world);
	const [first] = expand(scenario, { runId: "compile", only: args.only });
	if (!first) throw new Error("a scenario without runs");
	if (args.k6Operator !== undefined) {
		const wrong = operatorRefuses(first, args.path);
		if (wrong !== null) throw failure("usage", { message: wrong });
		world.stdout.write(testRunOf(first, args.k6Operator));
		return EXIT.pass;
	}
	const { script, planJson } = compilePlan(first, args);
	world.stdout.write(args.plan ? planJson : script);
	return EXIT.pass;
}
