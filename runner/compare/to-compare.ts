import path from "node:path";
import { failure } from "../errors.ts";
import { isBaseline } from "../model/baseline-sla.ts";
import type { BaselineSnapshot } from "../model/baseline-snapshot.ts";
import type { Baseline, Calibration, Machine } from "../model/comparison.ts";
import type { MachineSettings } from "../model/machine-settings.ts";
import type { Plan } from "../model/plan.ts";
import { field } from "../result/fields.ts";
import { loadOf } from "../result/load.ts";
import { at, bySystemAndCase } from "../result/select.ts";
import { readEnvironment } from "../run/environment.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { LEAST_REPEATS, needsRepeats } from "../scenario/sla-lines.ts";
import { formatUtc } from "../units.ts";
import type { World } from "../world.ts";
import { readBaseline } from "./baseline-file.ts";
import { knownCalibration, readCalibration } from "./calibrate/file.ts";
import { hashOf, machineDifference, machineOf } from "./machine.ts";
import { searchFacts, workDifference, workFacts } from "./work.ts";

export interface BaselineArgs {
	/** Path of the scenario file, for messages. */
	readonly path: string;
	readonly only?: string | undefined;
	/** `--baseline`: a file or folder; "none": leave out what compares. */
	readonly baseline?: string | undefined;
	/** `--calibration`: a file, or the folder of `mqbench calibrate`. */
	readonly calibration?: string | undefined;
}

interface ToCompare {
	/** null: nothing from outside is compared with. */
	readonly snapshot: BaselineSnapshot | null;
	/** What a person is to know before anything runs. */
	readonly warnings: readonly string[];
}

/** The scenario with the baseline that the command line names. */
export function againstBaseline(
	scenario: Scenario,
	{ baseline }: BaselineArgs,
	{ cwd }: Pick<World, "cwd">,
): Scenario {
	if (scenario.quick || baseline === undefined) return scenario;
	// The lines stay: their figures have to be in the baseline that these runs are to become.
	if (baseline === "none") return { ...scenario, baseline: null };
	return { ...scenario, baseline: { system: null, path: path.resolve(cwd, baseline) } };
}

/**
 * Gets what the plans of a scenario are compared with, before anything runs: the file or folder that it names, and what is known of this
 * machine's noise. Throws where a line that compares could not be judged at all: no baseline, one of other work, too few runs, or runs without its
 * figure. What could be judged in part, or on another machine, is a warning. `settings`: of this machine; undefined: nothing is compared.
 */
export function baselineToCompare(
	scenario: Scenario,
	plans: readonly Plan[],
	args: BaselineArgs & { readonly settings: MachineSettings | undefined },
	world: Pick<World, "cwd" | "env" | "clock">,
): ToCompare {
	if (scenario.quick) return { snapshot: null, warnings: [] };
	const { baseline } = scenario;
	if (args.baseline === "none") {
		const lines = [...new Set(scenario.baselineSla.map(({ expect }) => expect.text))].join(", ");
		const warnings = lines === "" ? [] : [`--baseline none: not judged are ${lines}`];
		return { snapshot: null, warnings };
	}
	const judged = plans.filter((plan) => plan.baselineSla.length > 0 && !isBaseline(plan));
	if (baseline === null) {
		const [line] = judged.flatMap((plan) => plan.baselineSla);
		if (line) throw failure("baseline-missing", { path: args.path, sla: line.text });
		return { snapshot: null, warnings: [] };
	}
	if (scenario.repeat < LEAST_REPEATS)
		throw failure("usage", { message: `${args.path}: ${needsRepeats(scenario.repeat)}` });
	const now = new Date(world.clock.nowMs()).toISOString();
	const versions = { k6: "unknown", go: null };
	const machine = machineOf(readEnvironment(now, versions, scenario, null, args.settings));
	const { calibration, warnings } = calibrationFor(plans, machine, args, world);
	if (baseline.system !== null) {
		const lonely = withoutOther(baseline.system, plans, args);
		const snapshot = { schema: 1 as const, name: null, baseline: null, calibration };
		return { snapshot: calibration && snapshot, warnings: [...lonely, ...warnings] };
	}
	const file = readBaseline(baseline.path);
	// As it was given: an absolute path is for nobody's eyes.
	const shown = args.baseline ?? path.relative(world.cwd, baseline.path);
	const notCompared = fits(file, shown, plans, judged);
	return {
		snapshot: { schema: 1, name: nameOf(file, baseline.path), baseline: file, calibration },
		warnings: [...notCompared, ...otherMachine(file, machine), ...warnings],
	};
}

// --- internal ---

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
	if (file.machine === null || machine === null)
		return ["the baseline's machine is not known, so the comparison decides nothing"];
	const difference = machineDifference(file.machine, machine);
	return difference === null
		? []
		: [
				`the baseline was made on another machine (${difference}), so the comparison decides nothing`,
			];
}

function calibrationFor(
	plans: readonly Plan[],
	machine: Machine | null,
	args: BaselineArgs,
	world: Pick<World, "cwd" | "env">,
): { calibration: Calibration | null; warnings: string[] } {
	const works = plans.map((plan) => hashOf(workFacts({ load: loadOf(plan) })));
	if (args.calibration === undefined)
		return { calibration: machine && knownCalibration(machine, works, world), warnings: [] };
	const calibration = readCalibration(path.resolve(world.cwd, args.calibration));
	const none = (warning: string) => ({ calibration: null, warnings: [warning] });
	const difference =
		machine === null ? "this one is not known" : machineDifference(calibration.machine, machine);
	if (difference !== null)
		return none(`the calibration is of another machine (${difference}), and is not used`);
	return calibration.noise.some(({ work }) => works.includes(work))
		? { calibration, warnings: [] }
		: none("the calibration is of other work, and is not used");
}

/**
 * Has the baseline runs of what is judged, and the figures that lines compare? Of nothing: it is another scenario's, or an old one's. Of
 * a part, which is given back: a case that is new in the scenario must not keep the others from being judged. Default lines ask for as many runs
 * as written ones.
 */
function fits(
	file: Baseline,
	shown: string,
	plans: readonly Plan[],
	judged: readonly Plan[],
): string[] {
	const places = bySystemAndCase(plans).map(({ all: [plan], ...place }) => {
		const which = `${place.system}, ${place.case}`;
		const runs = at(place, file.runs);
		return { plan: plan as Plan, which, runs, why: whyOther(plan as Plan, which, runs, file) };
	});
	const asked =
		judged.length > 0 ? places.filter(({ plan }) => plan.baselineSla.length > 0) : places;
	const [first] = asked;
	if (first?.why != null && asked.every(({ why }) => why !== null))
		throw failure("baseline-other", { path: shown, why: first.why });
	for (const { plan, which, runs, why } of places)
		if (why === null) refuseLacking(plan.baselineSla, shown, which, runs);
	return places.flatMap(({ which, why }) =>
		why === null ? [] : `not compared is ${which}: ${why}`,
	);
}

/** Lines that could never be decided, however many runs are made now. */
function refuseLacking(
	lines: Plan["baselineSla"],
	shown: string,
	which: string,
	runs: Baseline["runs"],
): void {
	const counting = runs.filter(({ without }) => without === null);
	const facts = { path: shown, which, least: LEAST_REPEATS };
	if (counting.length < LEAST_REPEATS)
		throw failure("baseline-few", {
			...facts,
			runs: counting.length,
			repeat: LEAST_REPEATS + 1,
		});
	for (const { text: sla, figure: written } of lines) {
		const figure = field(written).id;
		const having = counting.filter((run) => run.figures[figure] != null).length;
		if (having < LEAST_REPEATS)
			throw failure("baseline-figure", { ...facts, runs: having, sla, figure });
	}
}

function whyOther(
	plan: Plan,
	which: string,
	runs: Baseline["runs"],
	{ works }: Baseline,
): string | null {
	const [first] = runs;
	if (!first) return `it has no run of ${which}`;
	const run = { load: loadOf(plan) };
	const sla = plan.sla.map(({ text }) => text);
	const facts = plan.search === null ? workFacts(run) : searchFacts(run, sla);
	const work = hashOf(facts);
	if (runs.every((one) => one.work === work)) return null;
	const difference = workDifference(works[first.work], facts);
	return `its runs of ${which} had other work${difference === null ? "" : ` (${difference})`}`;
}
