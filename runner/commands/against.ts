import path from "node:path";
import {
	knownCalibration,
	readCalibration,
} from "../compare/calibrate/file.ts";
import { figureName } from "../compare/figures.ts";
import { hashOf, machineDifference, machineOf } from "../compare/machine.ts";
import { searchFacts, workDifference, workFacts } from "../compare/work.ts";
import { failure } from "../errors.ts";
import type { Against } from "../model/against-file.ts";
import { isBaseline } from "../model/baseline-sla.ts";
import type { Baseline, Calibration, Machine } from "../model/comparison.ts";
import type { Plan } from "../model/plan.ts";
import { expand } from "../plan/expand.ts";
import { loadOf } from "../report/load.ts";
import { readBaseline } from "../report/read-baseline.ts";
import { readEnvironment } from "../run/environment.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { LEAST_REPEATS } from "../scenario/sla-lines.ts";
import type { World } from "../world.ts";

export interface BaselineArgs {
	/** Path of the scenario file, for messages. */
	readonly path: string;
	readonly only?: string | undefined;
	/** `--baseline`: a file or folder; "none": leave out what compares. */
	readonly baseline?: string | undefined;
	/** `--calibration`: a file, or the folder of `mqbench calibrate`. */
	readonly calibration?: string | undefined;
}

export interface Prepared {
	/** With the baseline that the command line names. */
	readonly scenario: Scenario;
	/** null: nothing from outside is compared with. */
	readonly against: Against | null;
	/** What a person is to know before anything runs. */
	readonly warnings: readonly string[];
}

/**
 * Gets what a scenario is compared with, before anything runs: the file or folder that the command line or the scenario names, and what
 * is known of this machine's noise. Throws where a line that compares could not be judged at all: no baseline, one of other work, too few
 * runs, or runs without its figure. What could be judged in part, or on another machine, is a warning.
 */
export function prepare(
	scenario: Scenario,
	args: BaselineArgs,
	world: Pick<World, "cwd" | "env" | "clock">,
): Prepared {
	if (scenario.quick) return { scenario, against: null, warnings: [] };
	if (args.baseline === "none") return withoutBaseline(scenario);
	const named =
		args.baseline === undefined
			? scenario
			: {
					...scenario,
					baseline: {
						system: null,
						path: path.resolve(world.cwd, args.baseline),
					},
				};
	const plans = expand(named, { runId: "prepare", only: args.only });
	const compared = plans.filter(
		(plan) => plan.baselineSla.length > 0 && !isBaseline(plan),
	);
	const { baseline } = named;
	if (baseline === null) {
		const [line] = compared.flatMap((plan) => plan.baselineSla);
		if (line)
			throw failure("baseline-missing", { path: args.path, sla: line.text });
		return { scenario: named, against: null, warnings: [] };
	}
	const environment = readEnvironment(
		new Date(world.clock.nowMs()).toISOString(),
		{ k6: "unknown", go: null },
		scenario,
	);
	const machine = machineOf(environment);
	const found = calibration(args, plans, machine, world);
	if (baseline.system !== null) {
		const lonely = withoutOther(baseline.system, plans, args);
		return {
			scenario: named,
			against: found.calibration && {
				schema: 1,
				name: null,
				baseline: null,
				calibration: found.calibration,
			},
			warnings: [...lonely, ...found.warnings],
		};
	}
	// As it was given: an absolute path is for nobody's eyes.
	const shown = args.baseline ?? path.relative(world.cwd, baseline.path);
	const file = readBaseline(baseline.path);
	return {
		scenario: named,
		against: {
			schema: 1,
			name: nameOf(file, baseline.path),
			baseline: file,
			calibration: found.calibration,
		},
		warnings: [
			...fits(file, shown, plans, compared),
			...otherMachine(file, machine),
			...found.warnings,
		],
	};
}

// --- internal ---

function withoutBaseline(scenario: Scenario): Prepared {
	const lines = [
		...new Set(scenario.baselineSla.map(({ expect }) => expect.text)),
	];
	return {
		// The lines stay: their figures have to be in the baseline that these runs are to become.
		scenario: { ...scenario, baseline: null },
		against: null,
		warnings:
			lines.length === 0
				? []
				: [`--baseline none: not judged are ${lines.join(", ")}`],
	};
}

/** "the baseline of 2026-11-20 (main.json)" */
function nameOf({ startedAt }: Baseline, where: string): string {
	const day = startedAt === null ? "" : ` of ${startedAt.slice(0, 10)}`;
	return `the baseline${day} (${path.basename(where)})`;
}

/** Whose other side `--only` leaves out: nothing to do for a line that compares, and a warning where none does. */
function withoutOther(
	system: string,
	plans: readonly Plan[],
	{ only }: BaselineArgs,
): string[] {
	const all = plans.filter(
		(plan) =>
			!isBaseline(plan) &&
			!plans.some((one) => isBaseline(one) && one.case === plan.case),
	);
	const lonely = all.find((plan) => plan.baselineSla.length > 0);
	if (lonely)
		throw failure("usage", {
			message: `--only '${only}' leaves out ${system}, ${lonely.case}, which ${lonely.system} is compared with. Choose both, e.g. --only '*/${lonely.case}', or add --baseline none`,
		});
	const which = new Set(all.map((plan) => `${plan.system}, ${plan.case}`));
	return [...which].map(
		(one) => `not compared is ${one}: --only leaves out ${system}`,
	);
}

/**
 * Has the baseline runs of what is judged, and the figures that lines compare? Of nothing: it is another scenario's, or an old one's. Of
 * a part: a case that is new in the scenario must not keep the others from being judged. What no line asks for is judged as well,
 * by default, and may turn out undecided.
 */
function fits(
	file: Baseline,
	shown: string,
	plans: readonly Plan[],
	judged: readonly Plan[],
): string[] {
	const pairs = [
		...new Map(
			plans.map((plan) => [JSON.stringify([plan.system, plan.case]), plan]),
		).values(),
	].map((plan) => {
		const which = `${plan.system}, ${plan.case}`;
		const runs = file.runs.filter(
			(run) => run.system === plan.system && run.case === plan.case,
		);
		return { plan, which, runs, why: whyOther(plan, which, runs, file) };
	});
	const other = pairs.filter(({ why }) => why !== null);
	const asked = judged.length > 0 ? pairs.filter(hasLines) : pairs;
	const [first] = asked;
	if (first && asked.every(({ why }) => why !== null))
		throw failure("baseline-other", { path: shown, why: first.why ?? "" });
	for (const { plan, which, runs, why } of pairs)
		if (why === null) refuseLacking(plan.baselineSla, { shown, which, runs });
	return other.map(({ which, why }) => `not compared is ${which}: ${why}`);
}

function hasLines({ plan }: { readonly plan: Plan }): boolean {
	return plan.baselineSla.length > 0;
}

/** Lines that could never be decided, however many runs are made now. */
function refuseLacking(
	lines: Plan["baselineSla"],
	of: {
		readonly shown: string;
		readonly which: string;
		readonly runs: Baseline["runs"];
	},
): void {
	const { shown, which, runs } = of;
	const counting = runs.filter(({ without }) => without === null);
	const facts = { path: shown, which, least: LEAST_REPEATS };
	if (lines.length > 0 && counting.length < LEAST_REPEATS)
		throw failure("baseline-few", { ...facts, runs: counting.length });
	for (const { text, figure } of lines) {
		const name = figureName(figure);
		const having = counting.filter((run) => run.figures[name] != null).length;
		if (having < LEAST_REPEATS)
			throw failure("baseline-figure", {
				...{ ...facts, runs: having },
				...{ sla: text, figure: name },
			});
	}
}

function whyOther(
	plan: Plan,
	which: string,
	runs: Baseline["runs"],
	file: Baseline,
): string | null {
	const [first] = runs;
	if (!first) return `it has no run of ${which}`;
	const run = { load: loadOf(plan) };
	const facts =
		plan.search === null
			? workFacts(run)
			: searchFacts(
					run,
					plan.sla.map(({ text }) => text),
				);
	const work = hashOf(facts);
	if (runs.every((one) => one.work === work)) return null;
	const difference = workDifference(file.works[first.work], facts);
	return `its runs of ${which} had other work${difference === null ? "" : ` (${difference})`}`;
}

function otherMachine(file: Baseline, machine: Machine | null): string[] {
	if (file.machine === null || machine === null)
		return [
			"nobody wrote down on which machine the baseline was made: it is compared with, and decides nothing",
		];
	const difference = machineDifference(file.machine, machine);
	return difference === null
		? []
		: [
				`the baseline was made on another machine (${difference}): it is compared with, and decides nothing`,
			];
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
			calibration:
				machine === null ? null : knownCalibration(machine, works, world),
			warnings: [],
		};
	const found = readCalibration(path.resolve(world.cwd, args.calibration));
	const difference =
		machine === null
			? "this one is not known"
			: machineDifference(found.machine, machine);
	const fitting = found.noise.some(({ work }) => works.includes(work));
	const warnings =
		difference !== null
			? [
					`the calibration is of another machine (${difference}), and is not used`,
				]
			: fitting
				? []
				: ["the calibration is of other work, and is not used"];
	return { calibration: warnings.length > 0 ? null : found, warnings };
}
