import {
	type CloudSide,
	type RentOptions,
	refuseFolder,
	refuseRentOptions,
	rentAndUse,
	theCloud,
} from "../../infra/cloud/rent.ts";
import { cloudRequest } from "../../infra/cloud/request.ts";
import { type ExitCode, failure } from "../errors.ts";
import { commandOf } from "../model/command-file.ts";
import { measureAndReport, runIdFor } from "../pipeline.ts";
import { expand } from "../plan/expand.ts";
import { warnBeforeRuns } from "../plan/warnings.ts";
import {
	baselineToCompare,
	withBaseline,
} from "../report/baseline-to-compare.ts";
import { checkCopies } from "../report/copies.ts";
import { type ReporterArgs, reportersOf } from "../report/reporters.ts";
import { makeProgress } from "../run/progress.ts";
import type { Overrides } from "../scenario/overrides.ts";
import { readScenario } from "../scenario/read.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { holdsSecret, VISIBLE_PASSWORD } from "../secrets.ts";
import type { OnInconclusive } from "../verdict/exit.ts";
import type { World } from "../world.ts";

export interface RunArgs extends Overrides, ReporterArgs, RentOptions {
	/** Path of the scenario file. */
	readonly path: string;
	/** `--only`: a glob over "system/case". */
	readonly only?: string | undefined;
	/** `--out`: folder for the results. */
	readonly out?: string | undefined;
	/** `--resume`: folder of an interrupted command that is to be gone on with. */
	readonly resume?: string | undefined;
	/** What follows "mqbench" on the command line. */
	readonly argv?: readonly string[] | undefined;
	/** `--no-floor`: false; the floor of the generator is then unknown. */
	readonly floor?: boolean | undefined;
	/** `--baseline`: file or folder that is compared with; "none": what compares is left out. */
	readonly baseline?: string | undefined;
	/** `--calibration`: what is known of this machine's noise. */
	readonly calibration?: string | undefined;
	/** `--confirm`: two more repeats of what did not pass. */
	readonly confirm?: boolean | undefined;
	readonly onInconclusive?: OnInconclusive | undefined;
}

/** Makes the runs of a scenario, and tells of them; tests pass a fake. */
export type Measure = typeof measureAndReport;

/**
 * `mqbench run`: makes every run of a scenario, prints the verdict, and gives its exit code. With target aws it rents the machines first,
 * makes the ordinary run on their rig.json, and takes them down again: the exit code is 5 where something of them is left.
 */
export async function run(
	args: RunArgs,
	world: World,
	cloud: CloudSide = theCloud,
	measure: Measure = measureAndReport,
): Promise<ExitCode> {
	const { path: file, only, out, resume, onInconclusive, quiet } = args;
	if (out !== undefined && resume !== undefined)
		throw failure("usage", {
			message: "--resume goes on in the folder that it names; leave --out away",
		});
	const reporters = reportersOf(args, world);
	const read = await readScenario(file, args, world);
	const scenario = withBaseline(read.scenario, args, world);
	// On rented machines nothing is resumed; whoever rents says so.
	const goesOn = scenario.aws === null ? resume : undefined;
	const runId = runIdFor(scenario, goesOn, world);
	const plans = expand(scenario, { runId, only });
	const compared = baselineToCompare(scenario, plans, args, world);
	const { against, warnings } = compared;
	warnBeforeRuns(scenario, plans, args, world);
	const request = cloudRequest(scenario, plans, args);
	if (request === null) refuseRentOptions(args);
	checkCopies(reporters, world);
	const progress = makeProgress(world, quiet ?? false);
	if ([args.url ?? "", ...(args.set ?? [])].some(holdsSecret))
		progress.say(VISIBLE_PASSWORD);
	for (const warning of warnings) progress.say(`Warning: ${warning}`);
	const make = (scenario: Scenario) => {
		const full = !scenario.quick;
		return measure(
			{
				scenario,
				scenarioText: read.text,
				...{ plans, out, resume, against, onInconclusive, progress },
				...{ reporters, quiet },
				// What is no result needs no floor to compare it with.
				floor: (args.floor ?? true) && full,
				confirm: (args.confirm ?? false) && full,
				command: commandOf(file, args.argv ?? [], world),
			},
			world,
		);
	};
	if (request === null) return make(scenario);
	refuseFolder(args, world);
	return rentAndUse(request, args, progress, world, cloud, async (rig) => {
		// From here on it is an ordinary run, as anybody makes it with --rig.
		return make(withBaseline(await read.onRig(rig), args, world));
	});
}
