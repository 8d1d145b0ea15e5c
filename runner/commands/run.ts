import path from "node:path";
import { type Command, Option } from "commander";
import { ownSettings } from "../../infra/machine-settings.ts";
import { readScenario } from "../../infra/read-scenario.ts";
import {
	type CloudSide,
	type RentOptions,
	refuseFolder,
	refuseRentOptions,
	rentAndUse,
	theCloud,
} from "../../infra/rent/rent.ts";
import { cloudRequest } from "../../infra/rent/request.ts";
import { againstBaseline, type BaselineArgs, baselineToCompare } from "../compare/to-compare.ts";
import { type ExitCode, failure } from "../errors.ts";
import { commandOf } from "../model/command-file.ts";
import { type Measure, measureAndReport, type PipelineArgs, runIdFor } from "../pipeline.ts";
import { expand } from "../plan/expand.ts";
import { warnBeforeRuns } from "../plan/warnings.ts";
import { deliveringErrors } from "../render/deliver.ts";
import { type ReporterArgs, reportersOf } from "../result/reporters.ts";
import { makeProgress } from "../run/progress.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { holdsSecret, VISIBLE_PASSWORD } from "../secrets.ts";
import { type WatchArgs, watching } from "../watch/watch.ts";
import type { World } from "../world.ts";
import {
	type Action,
	allowCodeOption,
	calibrationOption,
	collect,
	inconclusiveOption,
	outFolderOption,
	rentOptions,
	reportOptions,
	type ScenarioArgs,
	scenarioOptions,
} from "./options.ts";

export function declare(command: Command, on: Action): void {
	reportOptions(
		rentOptions(scenarioOptions(command))
			.addOption(outFolderOption().conflicts("resume"))
			.addOption(allowCodeOption())
			.option(
				"--resume <folder>",
				"continue an interrupted command in its folder, reports/<run-id>; complete runs are kept",
			),
	)
		.option("--no-floor", "skip the floor, a measurement of the load generator alone (4s per case)")
		.option(
			"--k6-out <output>",
			"send metrics of each run to an output of k6 as well, once a second: json=samples.json (in the run's folder), experimental-prometheus-rw, opentelemetry, web-dashboard; may be repeated, and reads k6's variables",
			collect,
		)
		.option(
			"-q, --quiet",
			"print nothing but the address of --watch; only the exit code tells the result",
		)
		.addOption(
			inconclusiveOption(
				"exit code for an undecided SLA: fail gives 6, warn and pass give 0 (default: fail; for lines that compare with a baseline: warn)",
			),
		)
		.option(
			"--baseline <path>",
			"what 'p99 <= baseline + 10%' compares with: a baseline.json or a run folder; none skips such lines",
		)
		.addOption(calibrationOption())
		.option(
			"--watch",
			"serve the report so far and the current seconds, on 127.0.0.1 alone, while the command goes on",
		)
		.addOption(
			new Option(
				"--watch-port <port>",
				"serve that page on this port (default: one that is free)",
			).implies({ watch: true }),
		)
		.option("--open", "open that page in a browser; without --watch the report, in the end")
		.option(
			"--confirm",
			"make two more repeats of everything breached or undecided, and judge all repeats together; not of a search, which confirms its answer itself",
		)
		.action(on(run, "path"));
}

export type RunArgs = ScenarioArgs &
	BaselineArgs &
	PipelineArgs &
	ReporterArgs &
	RentOptions &
	WatchArgs;

/** With target aws it makes the ordinary run on rented machines; exit code 5 if some of them are left. */
export async function run(
	args: RunArgs,
	world: World,
	cloud: CloudSide = theCloud,
	measure: Measure = measureAndReport,
): Promise<ExitCode> {
	const { path: file, only, out, resume, quiet = false } = args;
	const reporters = reportersOf(args, world);
	return deliveringErrors(file, reporters, world, async (delivered) => {
		if (args.k6Out?.some((one) => one.includes(",")))
			throw failure("usage", {
				message:
					"--k6-out: to k6 a comma ends an output; write %2C in a URL, and give --k6-out once for each output",
			});
		const read = await readScenario(file, args, world);
		const scenario = againstBaseline(read.scenario, args, world);
		// Rented machines cannot resume a run, and renting reports that.
		const runId = runIdFor(scenario, scenario.aws === null ? resume : undefined, world);
		const plans = expand(scenario, { runId, only });
		const settings = scenario.baseline === null ? undefined : await ownSettings();
		const { snapshot, warnings } = baselineToCompare(scenario, plans, { ...args, settings }, world);
		warnBeforeRuns(scenario, plans, args, world);
		const request = cloudRequest(scenario, plans, args);
		if (request === null) refuseRentOptions(args);
		if (request !== null) refuseFolder(args, world);
		const folder = resume ?? out ?? path.join("reports", runId);
		const command = commandOf(file, args.argv ?? [], world);
		return watching(args, { scenario, folder }, world, async (feed) => {
			const progress = makeProgress(world, quiet, feed);
			if ([args.url, args.set, args.k6Out].flat().some(holdsSecret)) progress.say(VISIBLE_PASSWORD);
			for (const warning of warnings) progress.say(`Warning: ${warning}`);
			const make = async (scenario: Scenario, world: World) => {
				const full = !scenario.quick;
				const floor = (args.floor ?? true) && full;
				const confirm = args.confirm && full;
				const made = { scenario, scenarioText: read.text, plans, snapshot, command };
				const options = { ...args, ...made, floor, confirm, progress, feed, reporters };
				const code = await measure(options, world);
				delivered();
				return code;
			};
			if (request === null) return make(scenario, world);
			const use = async (rig: string) =>
				make(againstBaseline(await read.onRig(rig), args, world), world);
			return rentAndUse(request, args, progress, world, cloud, use);
		});
	});
}
