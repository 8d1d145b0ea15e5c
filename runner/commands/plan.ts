import { costText } from "../../infra/cloud/cost-text.ts";
import { EXIT, type ExitCode, failure, MqbenchError } from "../errors.ts";
import { expand } from "../plan/expand.ts";
import { outline, tooDeepSentence } from "../plan/outline.ts";
import { renderOutline } from "../plan/outline-text.ts";
import { placeLines } from "../plan/place-text.ts";
import type { Overrides } from "../scenario/overrides.ts";
import { readScenario } from "../scenario/read.ts";
import { wrap } from "../terminal/wrap.ts";
import { formatCount, formatDuration } from "../units.ts";
import type { World } from "../world.ts";
import { type Rental, rentalOf } from "./rental.ts";
import { askingText, type CloudSide, offerFor, theCloud } from "./rented.ts";

export interface PlanArgs extends Overrides {
	/** Path of the scenario file. */
	readonly path: string;
	/** `--only`: a glob over "system/case". */
	readonly only?: string | undefined;
	/** `--json`: all plans as they would stand in plan.json. */
	readonly json?: boolean | undefined;
}

/**
 * `mqbench plan`: what the runs will take and which percentiles they will carry; of target aws also what would be rented. Fails under
 * `strict` when an SLA asks for more. Machines that could not be rented give the exit code that a run would have; it stays 0 where AWS was
 * not asked, as the SDK, any credentials or the network are not there: who has no account plans all the same.
 */
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
	let unfit: ExitCode = EXIT.pass;
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
		if (rental !== null) unfit = await writeOffer(rental, world, cloud);
	}
	if (scenario.strict && warnings.length > 0)
		throw failure("percentile-too-deep", { path: args.path, warnings });
	return unfit;
}

// --- internal ---

/** Prints what AWS says of the machines; returns the exit code that it comes to. */
async function writeOffer(
	rental: Rental,
	world: World,
	cloud: CloudSide,
): Promise<ExitCode> {
	const width = Math.max(40, world.stdout.columns);
	const indented = (line: string) =>
		COMMAND.test(line) ? [`  ${line}`] : wrap(line, width, "    ", "  ");
	const time = `Standing up, all runs and what comes between them: at most ${formatDuration(rental.plannedNs)}.`;
	const lines = indented(time);
	let code: ExitCode = EXIT.pass;
	world.stderr.write(`${askingText(rental)}\n`);
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
		if (!(error instanceof MqbenchError) || error.code === "interrupted")
			throw error;
		const said = error.message.split("\n");
		// Most of them hold a command.
		if (UNASKED.has(error.code)) lines.push(`  AWS was not asked: ${said[0]}`);
		else {
			lines.push(...said.map((line) => `  It could not be rented: ${line}`));
			code = error.exit;
		}
	}
	world.stdout.write(`\nWhat is rented:\n\n${lines.join("\n")}\n`);
	return code;
}

/** What is to be copied into a shell is not wrapped. */
const COMMAND = /\b(aws|mqbench|npm|npx) [a-z]/;

/** Who has no account, or no network, has not done anything wrong. */
const UNASKED: ReadonlySet<string> = new Set(["sdk-missing", "aws-unasked"]);
