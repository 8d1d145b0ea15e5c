import path from "node:path";
import {
	CALIBRATION,
	keepCalibration,
	writeCalibration,
} from "../compare/calibrate/file.ts";
import { calibrationOf } from "../compare/calibrate/measure.ts";
import { LEAST_RUNS } from "../compare/calibrate/noise.ts";
import { renderCalibration } from "../compare/calibrate/text.ts";
import { EXIT, type ExitCode, failure } from "../errors.ts";
import { commandOf } from "../model/command-file.ts";
import { runPipeline } from "../pipeline.ts";
import { expand } from "../plan/expand.ts";
import { warnBeforeRuns } from "../plan/warnings.ts";
import { makeProgress } from "../run/progress.ts";
import type { Overrides } from "../scenario/overrides.ts";
import { readScenario } from "../scenario/read.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { didYouMean } from "../suggest.ts";
import { exitCodeOf } from "../verdict/exit.ts";
import type { World } from "../world.ts";

export interface CalibrateArgs extends Overrides {
	/** Path of the scenario file. */
	readonly path: string;
	readonly only?: string | undefined;
	readonly out?: string | undefined;
	readonly quiet?: boolean | undefined;
	/** `--runs`: as it was typed. */
	readonly runs: string;
	/** `--system`: the one to calibrate; undefined: all. */
	readonly system?: string | undefined;
	/** What follows "mqbench" on the command line. */
	readonly argv?: readonly string[] | undefined;
}

/** `mqbench calibrate`: A/A runs, and what they differ by: for the eyes, in the run's folder, and in the cache for later runs. */
export async function calibrate(
	args: CalibrateArgs,
	world: World,
): Promise<ExitCode> {
	const { scenario: written, text } = await readScenario(
		args.path,
		args,
		world,
	);
	if (written.aws !== null)
		throw failure("usage", {
			message: `${args.path}: calibrate rents no machines; stand them up first: mqbench up ${args.path} --target aws, and give it their file: --rig rig.json`,
		});
	const scenario = repeated(written, args);
	const plans = expand(scenario, { runId: "calibrate", only: args.only });
	warnBeforeRuns(scenario, plans, args, world);
	const { folder, result } = await runPipeline(
		{
			scenario,
			scenarioText: text,
			only: args.only,
			out: args.out,
			resume: undefined,
			floor: false,
			confirm: false,
			against: null,
			command: commandOf(args.path, args.argv ?? [], world),
			onInconclusive: undefined,
			progress: makeProgress(world, args.quiet ?? false),
		},
		world,
	);
	// A breach is no matter here; a run that was not made is.
	if (result.verdict === "interrupted" || result.errorCause === "internal")
		return exitCodeOf(result);
	const asked = written.baselineSla.map(({ expect }) => expect.figure);
	const { calibration, missing } = calibrationOf(result, asked);
	if (!args.quiet)
		world.stdout.write(
			renderCalibration(calibration, missing, world.stdout.columns),
		);
	if (calibration === null)
		return result.verdict === "error" ? exitCodeOf(result) : EXIT.invalid;
	const file = path.join(folder, CALIBRATION);
	writeCalibration(file, calibration);
	const cache = keepCalibration(calibration, world);
	if (!args.quiet) {
		const here = path.relative(world.cwd, file);
		world.stdout.write(
			`\n${here.startsWith("..") ? file : here} has it, and so has ${cache}, where run and compare look for it.\n`,
		);
	}
	return missing.some(({ metric }) => metric === null)
		? EXIT.invalid
		: EXIT.pass;
}

// --- internal ---

/** The same runs again and again: nothing is stopped early, nothing is searched for, nothing is compared. */
function repeated(
	scenario: Scenario,
	{ runs, system, path: file }: CalibrateArgs,
): Scenario {
	const usage = (message: string) => failure("usage", { message });
	if (!/^\d{1,3}$/.test(runs) || Number(runs) < LEAST_RUNS)
		throw usage(
			`--runs ${runs}: calibrate needs a number of at least ${LEAST_RUNS} runs, as halves of fewer have no interval; 10 is the default`,
		);
	if (scenario.quick)
		throw usage(
			"--quick gives no results, and so no noise of them; leave it away, or shorten with --set workload.duration=10s",
		);
	const systems = scenario.systems.filter(
		({ key }) => system === undefined || key === system,
	);
	if (systems.length === 0)
		throw usage(
			`--system ${system}: there is no such system in ${file}${didYouMean(
				system ?? "",
				scenario.systems.map(({ key }) => key),
			)}`,
		);
	const cases = scenario.cases.filter(({ find }) => find === null);
	if (cases.length === 0)
		throw usage(
			`${file}: a search (find) has no repeats at one rate; calibrate a scenario with a fixed rate`,
		);
	return {
		...scenario,
		systems,
		cases,
		sla: scenario.sla.map((line) => ({
			...line,
			expect: { ...line.expect, abort: false },
		})),
		baseline: null,
		repeat: Number(runs),
	};
}
