import { costText } from "../../infra/cloud/cost-text.ts";
import { EXIT, type ExitCode, failure, MqbenchError } from "../errors.ts";
import { expand } from "../plan/expand.ts";
import { outline, tooDeepSentence } from "../plan/outline.ts";
import { renderOutline } from "../plan/outline-text.ts";
import { placeLines } from "../plan/place-text.ts";
import type { Overrides } from "../scenario/overrides.ts";
import { readScenario } from "../scenario/read.ts";
import { formatCount, formatDuration } from "../units.ts";
import type { World } from "../world.ts";
import { wrap } from "../wrap.ts";
import { type Rental, rentalOf } from "./rental.ts";
import { type CloudSide, offerFor, theCloud } from "./rented.ts";

export interface PlanArgs extends Overrides {
	/** Path of the scenario file. */
	readonly path: string;
	/** `--only`: a glob over "system/case". */
	readonly only?: string | undefined;
	/** `--json`: all plans as they would stand in plan.json. */
	readonly json?: boolean | undefined;
}

/** `mqbench plan`: what the runs will take and which percentiles they will carry. Fails under `strict` when an SLA asks for more. */
export async function plan(
	args: PlanArgs,
	world: World,
	cloud: CloudSide = theCloud,
): Promise<ExitCode> {
	const { scenario } = await readScenario(args.path, args, world);
	const rental = rentalOf(scenario, args);
	const plans = expand(scenario, { runId: "plan", only: args.only });
	const found = outline(plans);
	const warnings = found.tooDeep.map((line) =>
		tooDeepSentence(line, formatCount),
	);
	if (args.json) {
		world.stdout.write(`${JSON.stringify(plans, null, 2)}\n`);
		if (!scenario.strict)
			for (const warning of warnings)
				world.stderr.write(`Warning: ${warning}\n`);
	} else {
		// Under strict the error says it, once.
		const shown = scenario.strict ? { ...found, tooDeep: [] } : found;
		world.stdout.write(
			renderOutline(
				shown,
				world.stdout.columns,
				placeLines(
					rental?.scenario ?? scenario,
					new Set(plans.map(({ system }) => system)),
				),
			),
		);
		if (rental !== null)
			world.stdout.write(await offerText(rental, world, cloud));
	}
	if (scenario.strict && warnings.length > 0)
		throw failure("percentile-too-deep", { path: args.path, warnings });
	return EXIT.pass;
}

// --- internal ---

/** What AWS says of the machines; where it cannot be asked, why: nothing of a plan depends on it. */
async function offerText(
	rental: Rental,
	world: World,
	cloud: CloudSide,
): Promise<string> {
	const width = Math.max(40, world.stdout.columns);
	const indented = (line: string) => wrap(line, width, "    ", "  ");
	const time = `Standing up, all runs and what comes between them: at most ${formatDuration(rental.plannedNs)}.`;
	const lines = indented(time);
	try {
		const offer = await offerFor(rental, world, cloud);
		const { hourlyUsd, unpriced, warnings } = offer;
		const { plannedNs, scenario } = rental;
		const { ttlNs } = scenario.aws;
		// A table: its blanks are its columns.
		lines.push(...offer.lines.map((line) => `  ${line}`));
		lines.push(
			...indented(
				`Price: ${costText({ hourlyUsd, unpriced, plannedNs, ttlNs })}.`,
			),
			...warnings.flatMap((warning) => indented(`Warning: ${warning}`)),
		);
	} catch (error) {
		if (error instanceof MqbenchError && error.code === "interrupted")
			throw error;
		// Ours, and no answer of anybody's.
		if (error instanceof TypeError || error instanceof ReferenceError)
			throw error;
		const [why = ""] = (error as Error).message.split("\n");
		lines.push(...indented(`What it costs is not known: ${why}`));
	}
	return `\nWhat is rented:\n\n${lines.join("\n")}\n`;
}
