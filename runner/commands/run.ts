import { existsSync } from "node:fs";
import path from "node:path";
import { type ExitCode, failure } from "../errors.ts";
import type { Against } from "../model/against-file.ts";
import { commandOf } from "../model/command-file.ts";
import { runPipeline } from "../pipeline.ts";
import { checkCopies } from "../report/copies.ts";
import { deliver } from "../report/deliver.ts";
import {
	type Reporter,
	type ReporterArgs,
	reportersOf,
} from "../report/reporters.ts";
import { makeProgress, type Progress } from "../run/progress.ts";
import type { Overrides } from "../scenario/overrides.ts";
import { readScenario } from "../scenario/read.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { holdsSecret } from "../secrets.ts";
import type { OnInconclusive } from "../verdict/exit.ts";
import type { World } from "../world.ts";
import { prepare } from "./against.ts";
import { foresee } from "./foresee.ts";
import { rentalOf } from "./rental.ts";
import {
	type CloudSide,
	onRented,
	type RentArgs,
	refuseRentArgs,
	rent,
	theCloud,
} from "./rented.ts";
import { endWarnings } from "./rig-end.ts";

export interface RunArgs extends Overrides, ReporterArgs, RentArgs {
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

/**
 * `mqbench run`: makes every run of a scenario, prints the verdict, and gives its exit code. With target aws it rents the machines first,
 * makes the ordinary run on their rig.json, and takes them down again: the exit code is 5 where something of them is left.
 */
export async function run(
	args: RunArgs,
	world: World,
	cloud: CloudSide = theCloud,
	measure: Measure = measured,
): Promise<ExitCode> {
	if (args.out !== undefined && args.resume !== undefined)
		throw failure("usage", {
			message: "--resume goes on in the folder that it names; leave --out away",
		});
	const reporters = reportersOf(args, world);
	const { scenario: written, text } = await readScenario(
		args.path,
		args,
		world,
	);
	const { scenario, against, warnings } = prepare(written, args, world);
	foresee(scenario, args, world);
	const rental = rentalOf(scenario, args);
	if (rental === null) refuseRentArgs(args);
	checkCopies(reporters, world);
	const progress = makeProgress(world, args.quiet ?? false);
	if ([args.url ?? "", ...(args.set ?? [])].some(holdsSecret))
		progress.say(VISIBLE_PASSWORD);
	for (const warning of warnings) progress.say(`Warning: ${warning}`);
	const all = { args, text, against, reporters, progress };
	if (rental === null) return measure({ ...all, scenario }, world);
	if (args.resume !== undefined)
		throw failure("usage", {
			message: `--resume ${args.resume}: its runs were made on other machines than those that would be rented now; go on with it on the rig that it began on: --rig rig.json`,
		});
	free(args, world);
	const say = (line: string) => progress.say(line);
	const { plannedNs, onMachinesNs } = rental;
	const using = { plannedNs, rigFile: null };
	const rig = await rent(rental, using, args, progress, world, cloud);
	return onRented(rig, say, world, async () => {
		// AWS may have taken longer to hand them out than was reckoned with.
		for (const warning of endWarnings(
			rig.file,
			onMachinesNs,
			ON_MACHINES,
			world,
		))
			say(`Warning: ${warning}`);
		// From here on it is an ordinary run, as anybody makes it with --rig.
		const { target: _, ...rest } = args;
		const onRig = { ...rest, rig: rig.place.path };
		const read = await readScenario(args.path, onRig, world);
		const { scenario } = prepare(read.scenario, args, world);
		return measure({ ...all, scenario }, world);
	});
}

/** Makes the runs, and tells of them; tests pass a fake. */
export type Measure = (run: Measuring, world: World) => Promise<ExitCode>;

export interface Measuring {
	readonly args: RunArgs;
	/** What is measured, where it is measured. */
	readonly scenario: Scenario;
	/** As it was written. */
	readonly text: string;
	readonly against: Against | null;
	readonly reporters: readonly Reporter[];
	readonly progress: Progress;
}

// --- internal ---

const measured: Measure = async (run, world) => {
	const { args, scenario, text, against, reporters, progress } = run;
	const { folder, result } = await runPipeline(
		{
			scenario,
			scenarioText: text,
			only: args.only,
			out: args.out,
			resume: args.resume,
			// What is no result needs no floor to compare it with.
			floor: (args.floor ?? true) && !scenario.quick,
			confirm: (args.confirm ?? false) && !scenario.quick,
			against,
			command: commandOf(args.path, args.argv ?? [], world),
			onInconclusive: args.onInconclusive,
			progress,
		},
		world,
	);
	const { onInconclusive, quiet } = args;
	const code = deliver(
		{ result, folder, reporters, onInconclusive, quiet },
		world,
	);
	if (result.openBaselineOnly && args.onInconclusive === undefined)
		progress.say(OPEN_BASELINE);
	return code;
};

/** Machines that wait for a folder which cannot be made cost money. */
function free({ out }: RunArgs, world: World): void {
	if (out !== undefined && existsSync(path.resolve(world.cwd, out)))
		throw failure("output-exists", { path: out });
}

/** What to say of machines that were long in coming. */
const ON_MACHINES = {
	doing: "setting its machines up and the runs take",
	remedy:
		"runs beyond its end become INVALID; Ctrl-C takes the machines down now, and a longer aws.ttl is for the next time",
};

const OPEN_BASELINE =
	"Warning: what compares with the baseline is undecided, and lets the build through all the same (exit code 0); --on-inconclusive fail makes it 6.";

/** We hide our own command line, not those of npx and the shell above us. */
const VISIBLE_PASSWORD =
	// biome-ignore lint/suspicious/noTemplateCurlyInString: that is what a person is to type.
	"There is a password on the command line: whoever lists this machine's processes may have seen it. Better in the environment: NATS_URL=... mqbench ... --url '${NATS_URL}'";
