import path from "node:path";
import type { Command } from "commander";
import { readScenario } from "../../infra/read-scenario.ts";
import { CALIBRATION, keepCalibration, writeCalibration } from "../compare/calibrate/file.ts";
import { calibrationOf } from "../compare/calibrate/measure.ts";
import { LEAST_RUNS } from "../compare/calibrate/noise.ts";
import { scenarioToCalibrate } from "../compare/calibrate/scenario.ts";
import { calibration as calibrationBlocks } from "../document/calibration.ts";
import { EXIT, type ExitCode, failure } from "../errors.ts";
import { commandOf } from "../model/command-file.ts";
import { type PipelineArgs, runIdFor, runPipeline } from "../pipeline.ts";
import { expand } from "../plan/expand.ts";
import { warnBeforeRuns } from "../plan/warnings.ts";
import { renderBlocks } from "../render/terminal.ts";
import { makeProgress } from "../run/progress.ts";
import { terminalLook } from "../terminal/look.ts";
import { exitCodeOf } from "../verdict/exit.ts";
import type { World } from "../world.ts";
import {
	type Action,
	allowCodeOption,
	outFolderOption,
	type ScenarioArgs,
	scenarioOptions,
} from "./options.ts";

export function declare(command: Command, on: Action): void {
	scenarioOptions(command)
		.option("--runs <n>", `runs of each system and case, at least ${LEAST_RUNS}`, "10")
		.addOption(outFolderOption())
		.addOption(allowCodeOption())
		.option(
			"-y, --yes",
			"ask nothing: fetch a Go to build the load generator with, where it is missing",
		)
		.option("-q, --quiet", "print nothing; only write the files")
		.action(on(calibrate, "path"));
}

interface CalibrateArgs extends ScenarioArgs, Pick<PipelineArgs, "out" | "yes" | "allowCode"> {
	readonly quiet?: boolean | undefined;
	readonly runs: string;
}

export async function calibrate(args: CalibrateArgs, world: World): Promise<ExitCode> {
	const { scenario: written, text } = await readScenario(args.path, args, world);
	if (written.aws !== null)
		throw failure("usage", {
			message: `${args.path}: calibrate rents no machines. Rent them first: npx mqbench up ${args.path} --target aws, then add --rig rig.json`,
		});
	const scenario = scenarioToCalibrate(written, args);
	const plans = expand(scenario, { runId: runIdFor(scenario, undefined, world), only: args.only });
	warnBeforeRuns(scenario, plans, args, world);
	const { folder, result } = await runPipeline(
		{
			scenario,
			scenarioText: text,
			plans,
			out: args.out,
			yes: args.yes,
			allowCode: args.allowCode,
			snapshot: null,
			command: commandOf(args.path, args.argv ?? [], world),
			progress: makeProgress(world, args.quiet ?? false),
		},
		world,
	);
	// A breached SLA does not matter here; a run that failed does.
	if (result.verdict === "interrupted" || result.errorCause === "internal")
		return exitCodeOf(result);
	const asked = written.baselineSla.map(({ expect }) => expect.figure);
	const { calibration, missing } = calibrationOf(result, asked);
	if (!args.quiet)
		world.stdout.write(
			renderBlocks(calibrationBlocks(calibration, missing), terminalLook(world.stdout, world.env)),
		);
	if (calibration === null) return result.verdict === "error" ? exitCodeOf(result) : EXIT.invalid;
	const file = path.join(folder, CALIBRATION);
	writeCalibration(file, calibration);
	const cache = keepCalibration(calibration, world);
	if (!args.quiet) {
		const here = path.relative(world.cwd, file);
		world.stdout.write(
			`\nWritten to ${here.startsWith("..") ? file : here}, and kept in ${cache}, where run and compare look for it.\n`,
		);
	}
	return missing.some(({ metric }) => metric === null) ? EXIT.invalid : EXIT.pass;
}
