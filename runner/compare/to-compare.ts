import path from "node:path";
import { failure } from "../errors.ts";
import type { BaselineSnapshot } from "../model/baseline-snapshot.ts";
import type { Baseline } from "../model/comparison.ts";
import type { MachineSettings } from "../model/machine-settings.ts";
import { isBaseline, type Plan } from "../model/plan.ts";
import { field } from "../result/fields.ts";
import { loadOf } from "../result/run.ts";
import { at, bySystemAndCase } from "../result/select.ts";
import { readEnvironment } from "../run/environment.ts";
import { LEAST_REPEATS, needsRepeats } from "../scenario/rules/sla.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { formatUtc } from "../units.ts";
import type { World } from "../world.ts";
import { readBaseline } from "./baseline-file.ts";
import { calibrationFor } from "./calibrate/file.ts";
import { otherMachine, otherWork } from "./compare.ts";
import { hashOf, machineOf } from "./machine.ts";
import { searchFacts, workFacts } from "./work.ts";

export interface BaselineArgs {
	/** Path of the scenario file, for messages. */
	readonly path: string;
	/** `--baseline`: a file or folder; "none" leaves out the lines that compare. */
	readonly baseline?: string | undefined;
	/** `--calibration`: a file, or the folder of `mqbench calibrate`. */
	readonly calibration?: string | undefined;
}

export function againstBaseline(
	scenario: Scenario,
	{ baseline }: BaselineArgs,
	{ cwd }: Pick<World, "cwd">,
): Scenario {
	if (scenario.quick || baseline === undefined) return scenario;
	// The lines stay: if these runs become a baseline, it needs their figures.
	if (baseline === "none") return { ...scenario, baseline: null };
	return { ...scenario, baseline: { system: null, path: path.resolve(cwd, baseline) } };
}

/**
 * Before anything runs: the baseline and this machine's noise. Throws if a line that compares could not be judged at all; warns if it could
 * only in part, or on another machine. `settings` are this machine's; undefined if nothing is compared. `snapshot` is null without an
 * external baseline and without a calibration.
 */
export function baselineToCompare(
	scenario: Scenario,
	plans: readonly Plan[],
	args: BaselineArgs & { readonly settings: MachineSettings | undefined },
	world: Pick<World, "cwd" | "env" | "clock">,
): { readonly snapshot: BaselineSnapshot | null; readonly warnings: readonly string[] } {
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
	const { settings } = args;
	const known = { scenario, ...(settings === undefined ? {} : { settings }) };
	const machine = machineOf(readEnvironment(now, known));
	const works = plans.map((plan) => hashOf(workFacts({ load: loadOf(plan) })));
	const calibration = calibrationFor(args.calibration, machine, works, world);
	const warnings =
		calibration === null && args.calibration !== undefined
			? ["the calibration is of another machine or of other work, and is not used"]
			: [];
	if (baseline.system !== null) {
		const snapshot = { schema: 1 as const, name: null, baseline: null, calibration };
		return { snapshot: calibration && snapshot, warnings };
	}
	const file = readBaseline(baseline.path);
	// As given: an absolute path is not for reports.
	const shown = args.baseline ?? path.relative(world.cwd, baseline.path);
	const notCompared = fits(file, shown, plans, judged);
	const difference = otherMachine(file, { machine });
	const other = difference && `the comparison decides nothing: ${difference}`;
	return {
		snapshot: { schema: 1, name: nameOf(file, baseline.path), baseline: file, calibration },
		warnings: [...notCompared, ...(other === null ? [] : [other]), ...warnings],
	};
}

// --- internal ---

/** "the baseline of 2026-11-20 (main.json)" */
function nameOf({ startedAt }: Baseline, where: string): string {
	const day = startedAt === null ? "" : ` of ${formatUtc(startedAt, "day")}`;
	return `the baseline${day} (${path.basename(where)})`;
}

/** Warns of cases that the baseline lacks, such as new ones. Throws if it lacks all of them, or figures that lines compare. */
function fits(file: Baseline, shown: string, plans: readonly Plan[], judged: readonly Plan[]) {
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
	for (const { plan, which, runs, why } of places) {
		// Lines that could never be decided, however many runs are made now; without lines, the figures judged by default.
		for (const line of plan.baselineSla.length > 0 ? plan.baselineSla : [null]) {
			const figure = line && field(line.figure).id;
			const having = runs.filter(
				({ without, figures }) => without === null && (figure === null || figures[figure] != null),
			).length;
			if (why !== null || having >= LEAST_REPEATS) continue;
			const needed = { least: LEAST_REPEATS, repeat: LEAST_REPEATS + 1 };
			const found = { path: shown, which, figure: figure ?? "figures", runs: having };
			throw failure("baseline-few", { ...found, ...needed });
		}
	}
	return places.flatMap(({ which, why }) =>
		why === null ? [] : `not compared is ${which}: ${why}`,
	);
}

function whyOther(plan: Plan, which: string, runs: Baseline["runs"], file: Baseline) {
	if (runs.length === 0) return `it has no run of ${which}`;
	const run = { load: loadOf(plan) };
	const sla = plan.sla.map(({ text }) => text);
	const facts = plan.search === null ? workFacts(run) : searchFacts(run, sla);
	const work = hashOf(facts);
	const now = { of: { works: { [work]: facts } }, all: [{ work }] };
	return otherWork({ of: file, all: runs }, now);
}
