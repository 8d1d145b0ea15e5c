import path from "node:path";
import { failure } from "../errors.ts";
import { isBaseline } from "../model/baseline-sla.ts";
import type { BaselineSnapshot } from "../model/baseline-snapshot.ts";
import type { Baseline, Calibration, Machine } from "../model/comparison.ts";
import type { MachineSettings } from "../model/machine-settings.ts";
import type { Plan } from "../model/plan.ts";
import { loadOf } from "../result/load.ts";
import { readEnvironment } from "../run/environment.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { LEAST_REPEATS, needsRepeats } from "../scenario/sla-lines.ts";
import { tell } from "../text/tell.ts";
import { formatUtc } from "../units.ts";
import type { World } from "../world.ts";
import { fitsBaseline } from "./baseline-fits.ts";
import { knownCalibration, readCalibration } from "./calibrate/file.ts";
import { readBaseline } from "./read-baseline.ts";
import { hashOf, machineDifference, machineOf } from "./same-machine.ts";
import { workFacts } from "./work.ts";

export interface BaselineArgs {
	/** Path of the scenario file, for messages. */
	readonly path: string;
	readonly only?: string | undefined;
	/** `--baseline`: a file or folder; "none": leave out what compares. */
	readonly baseline?: string | undefined;
	/** `--calibration`: a file, or the folder of `mqbench calibrate`. */
	readonly calibration?: string | undefined;
}

interface MachineHere {
	/** Of this machine; undefined: nothing is compared. */
	readonly settings: MachineSettings | undefined;
}

interface BaselineToCompare {
	/** null: nothing from outside is compared with. */
	readonly snapshot: BaselineSnapshot | null;
	/** What a person is to know before anything runs. */
	readonly warnings: readonly string[];
}

/** The scenario with the baseline that the command line names. */
export function withBaseline(
	scenario: Scenario,
	{ baseline }: BaselineArgs,
	{ cwd }: Pick<World, "cwd">,
): Scenario {
	if (scenario.quick || baseline === undefined) return scenario;
	// The lines stay: their figures have to be in the baseline that these runs are to become.
	if (baseline === "none") return { ...scenario, baseline: null };
	const file = { system: null, path: path.resolve(cwd, baseline) };
	return { ...scenario, baseline: file };
}

/**
 * Gets what the plans of a scenario are compared with, before anything runs: the file or folder that it names, and what is known of this machine's noise. Throws where a line that compares could not be judged at all: no baseline, one of other work, too few
 * runs, or runs without its figure. What could be judged in part, or on another machine, is a warning.
 */
export function baselineToCompare(
	scenario: Scenario,
	plans: readonly Plan[],
	args: BaselineArgs & MachineHere,
	world: Pick<World, "cwd" | "env" | "clock">,
): BaselineToCompare {
	if (scenario.quick) return { snapshot: null, warnings: [] };
	if (args.baseline === "none") return withoutBaseline(scenario);
	const compared = plans.filter((plan) => plan.baselineSla.length > 0 && !isBaseline(plan));
	const { baseline } = scenario;
	if (baseline === null) {
		const [line] = compared.flatMap((plan) => plan.baselineSla);
		if (line) throw failure("baseline-missing", { path: args.path, sla: line.text });
		return { snapshot: null, warnings: [] };
	}
	if (scenario.repeat < LEAST_REPEATS)
		throw failure("usage", { message: `${args.path}: ${needsRepeats(scenario.repeat)}` });
	const environment = readEnvironment(
		new Date(world.clock.nowMs()).toISOString(),
		{ k6: "unknown", go: null },
		scenario,
		null,
		args.settings,
	);
	const machine = machineOf(environment);
	const calibrated = calibration(args, plans, machine, world);
	if (baseline.system !== null) {
		const lonely = withoutOther(baseline.system, plans, args);
		return {
			snapshot: calibrated.calibration && {
				schema: 1,
				name: null,
				baseline: null,
				calibration: calibrated.calibration,
			},
			warnings: [...lonely, ...calibrated.warnings],
		};
	}
	// As it was given: an absolute path is for nobody's eyes.
	const shown = args.baseline ?? path.relative(world.cwd, baseline.path);
	const file = readBaseline(baseline.path);
	return {
		snapshot: {
			schema: 1,
			name: nameOf(file, baseline.path),
			baseline: file,
			calibration: calibrated.calibration,
		},
		warnings: [
			...fitsBaseline(file, shown, plans, compared),
			...otherMachine(file, machine),
			...calibrated.warnings,
		],
	};
}

// --- internal ---

function withoutBaseline(scenario: Scenario): BaselineToCompare {
	const lines = [...new Set(scenario.baselineSla.map(({ expect }) => expect.text))];
	return {
		snapshot: null,
		warnings: lines.length === 0 ? [] : [`--baseline none: not judged are ${lines.join(", ")}`],
	};
}

/** "the baseline of 2026-11-20 (main.json)" */
function nameOf({ startedAt }: Baseline, where: string): string {
	const day = startedAt === null ? "" : ` of ${formatUtc(startedAt, "day")}`;
	return `the baseline${day} (${path.basename(where)})`;
}

/** Whose other side `--only` leaves out: nothing to do for a line that compares, and a warning where none does. */
function withoutOther(system: string, plans: readonly Plan[], { only }: BaselineArgs): string[] {
	const all = plans.filter(
		(plan) => !isBaseline(plan) && !plans.some((one) => isBaseline(one) && one.case === plan.case),
	);
	const lonely = all.find((plan) => plan.baselineSla.length > 0);
	if (lonely)
		throw failure("usage", {
			message: `--only '${only}' leaves out ${system}, ${lonely.case}, which ${lonely.system} is compared with. Choose both, e.g. --only '*/${lonely.case}', or add --baseline none`,
		});
	const which = new Set(all.map((plan) => `${plan.system}, ${plan.case}`));
	return [...which].map((one) => `not compared is ${one}: --only leaves out ${system}`);
}

function otherMachine(file: Baseline, machine: Machine | null): string[] {
	if (file.machine === null || machine === null) return [tell("baseline-machine-unknown")];
	const difference = machineDifference(file.machine, machine);
	return difference === null ? [] : [tell("baseline-other-machine", { difference })];
}

function calibration(
	args: BaselineArgs,
	plans: readonly Plan[],
	machine: Machine | null,
	world: Pick<World, "cwd" | "env">,
): { calibration: Calibration | null; warnings: string[] } {
	const works = plans.map((plan) => hashOf(workFacts({ load: loadOf(plan) })));
	if (args.calibration === undefined)
		return {
			calibration: machine === null ? null : knownCalibration(machine, works, world),
			warnings: [],
		};
	const calibration = readCalibration(path.resolve(world.cwd, args.calibration));
	const difference =
		machine === null
			? tell("this-machine-unknown")
			: machineDifference(calibration.machine, machine);
	const fitting = calibration.noise.some(({ work }) => works.includes(work));
	const warnings =
		difference !== null
			? [tell("calibration-other-machine", { difference })]
			: fitting
				? []
				: [tell("calibration-other-work")];
	return { calibration: warnings.length > 0 ? null : calibration, warnings };
}
