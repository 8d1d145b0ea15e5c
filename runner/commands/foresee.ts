import { failure } from "../errors.ts";
import { expand } from "../plan/expand.ts";
import { outline, tooDeepSentence } from "../plan/outline.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { formatCount } from "../units.ts";
import type { World } from "../world.ts";

/** Before anything starts: warns of each SLA line that the samples will not carry; under `strict` it throws instead. */
export function foresee(
	scenario: Scenario,
	args: {
		readonly path: string;
		readonly only?: string | undefined;
		readonly quiet?: boolean | undefined;
	},
	world: Pick<World, "stderr">,
): void {
	const plans = expand(scenario, { runId: "foresee", only: args.only });
	const warnings = outline(plans).tooDeep.map((line) =>
		tooDeepSentence(line, formatCount),
	);
	if (scenario.strict && warnings.length > 0)
		throw failure("percentile-too-deep", { path: args.path, warnings });
	if (!args.quiet)
		for (const warning of warnings) world.stderr.write(`Warning: ${warning}\n`);
}
