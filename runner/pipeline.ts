import path from "node:path";
import { ownSettings } from "../infra/machine-settings.ts";
import { allowCode } from "../infra/programs/pins.ts";
import { buildResult } from "./compare/build.ts";
import type { ExitCode } from "./errors.ts";
import type { BaselineSnapshot } from "./model/baseline-snapshot.ts";
import type { CommandFile } from "./model/command-file.ts";
import type { Plan } from "./model/plan.ts";
import { newRunId } from "./plan/expand.ts";
import { floors } from "./plan/floor.ts";
import { type Delivery, deliver } from "./render/deliver.ts";
import { writeReports } from "./render/write.ts";
import { judgeFolder } from "./result/result.ts";
import { readEnvironment } from "./run/environment.ts";
import { addRun, lockRunFolder, makeRunFolder, runPath, writeCommand } from "./run/folder.ts";
import { gitCommitOf } from "./run/git-commit.ts";
import { measure } from "./run/measure.ts";
import { timestamp } from "./run/one-run.ts";
import type { Progress } from "./run/progress.ts";
import { confirmingIn, goingOn, resumeRunFolder, runIdOf } from "./run/resume.ts";
import type { Scenario } from "./scenario/scenario.ts";
import { answerText } from "./search/answer.ts";
import { firstIndex, outcomeOf, searchRuns } from "./search/runs.ts";
import { maskScenario } from "./secrets.ts";
import { hopeless } from "./verdict/abort.ts";
import { confirmationOf, isConfirming } from "./verdict/confirm.ts";
import type { OnInconclusive } from "./verdict/exit.ts";
import { reasonOf } from "./verdict/run.ts";
import type { Feed } from "./watch/feed.ts";
import type { World } from "./world.ts";

export interface PipelineArgs {
	readonly out?: string | undefined;
	/** Folder of an interrupted command. Its complete runs stay. */
	readonly resume?: string | undefined;
	/** Measure the generator's floor for each case, after the runs. */
	readonly floor?: boolean | undefined;
	readonly confirm?: boolean | undefined;
	/** Do not ask before code of others is run. */
	readonly allowCode?: boolean | undefined;
	/** Do not ask: download a missing Go. */
	readonly yes?: boolean | undefined;
	readonly onInconclusive?: OnInconclusive | undefined;
	/** k6 outputs that also get each run's metrics. */
	readonly k6Out?: readonly string[] | undefined;
}

interface PipelineOptions extends PipelineArgs {
	readonly scenario: Scenario;
	readonly scenarioText: string;
	readonly plans: readonly Plan[];
	readonly snapshot: BaselineSnapshot | null;
	readonly command: CommandFile;
	readonly progress: Progress;
	readonly feed?: Feed | null | undefined;
}

export async function measureAndReport(
	options: PipelineOptions & Pick<Delivery, "reporters" | "quiet">,
	world: World,
): Promise<ExitCode> {
	const made = await runPipeline(options, world);
	const code = deliver({ ...options, ...made }, world);
	if (made.result.openBaselineOnly && options.onInconclusive === undefined)
		options.progress.say(OPEN_BASELINE);
	return code;
}

export function runIdFor(
	{ name }: Scenario,
	resume: string | undefined,
	{ cwd, clock }: Pick<World, "cwd" | "clock">,
): string {
	if (resume !== undefined) return runIdOf(path.resolve(cwd, resume));
	return newRunId(name, clock.nowMs());
}

/** plans -> scripts -> runs -> results -> verdict. */
export async function runPipeline(
	options: PipelineOptions,
	world: World,
): Promise<Pick<Delivery, "folder" | "result">> {
	const { scenario, progress, feed = null, command } = options;
	await allowCode(scenario, options.allowCode ?? false, world);
	// Started early, to run during other work.
	const git = gitCommitOf(path.resolve(world.cwd, command.scenario), world.env);
	const earlier = options.resume === undefined ? null : path.resolve(world.cwd, options.resume);
	const added = earlier ? confirmingIn(earlier) : [];
	const plans = [...options.plans, ...added.filter((plan) => isConfirming(plan, options.plans))];
	const [{ runId } = { runId: "" }] = plans;
	const floorPlans = options.floor
		? floors(plans.filter(isRun), { alone: scenario.clients.kind === "local" })
		: [];
	const folder = earlier ?? path.resolve(world.cwd, options.out ?? path.join("reports", runId));
	const text = maskScenario(
		options.scenarioText,
		scenario.systems.flatMap((system) => system.options.secrets ?? []),
	);
	// Before the build: a folder that is not writable must fail now, not in two minutes.
	if (!earlier) {
		makeRunFolder(folder, text, plans.filter(isRun), floorPlans, options.snapshot);
		const resumable = plans.every(isRun);
		writeCommand(folder, { ...command, ...(resumable ? {} : { resumable }) });
	}
	const lock = await lockRunFolder(folder);
	try {
		let rest = { plans, floors: floorPlans };
		if (earlier) {
			const known = { scenario, settings: await ownSettings() };
			const machine = readEnvironment(timestamp(world), known);
			rest = resumeRunFolder(folder, text, plans, floorPlans, machine, options.snapshot);
			progress.say(
				`${plans.length - rest.plans.length} of ${plans.length} runs are complete and kept.`,
			);
			for (const said of goingOn(rest.plans)) progress.say(said);
		}
		const all = [...plans];
		const loads = (plan: Plan) => [
			plan,
			...all.filter(({ beside }) => beside?.index === plan.index),
		];
		const searched: Plan[] = [];
		function* runs(): Generator<Plan, void> {
			yield* runsOf(rest.plans, searched, folder, progress);
			if (options.confirm && !world.stop.aborted)
				yield* confirmingRuns(all, searched, folder, progress, feed);
		}
		/** Shows each finished run to the feed before the next begins. */
		function* seen(): Generator<Plan, void> {
			for (const plan of runs()) {
				yield plan;
				feed?.made(loads(plan));
			}
		}
		feed?.expect(folder, plans);
		feed?.made(plans.filter(({ index }) => !rest.plans.some((one) => one.index === index)));
		await measure(
			{
				scenario,
				// The confirming runs are planned only after the others.
				get runCount() {
					return all.filter(isMain).length;
				},
				runs: seen(),
				loads,
				yes: options.yes ?? false,
				git,
				resumed: earlier !== null,
				floors: rest.floors,
				hopeless: (plan, tick) => hopeless(plan, tick)?.sla ?? null,
				folder,
				progress,
				k6Outs: options.k6Out ?? [],
			},
			world,
		);
		const result = buildResult(folder);
		writeReports(folder, result, options.onInconclusive);
		return { folder, result };
	} finally {
		await lock.release();
	}
}

export type Measure = typeof measureAndReport;

// --- internal ---

const OPEN_BASELINE =
	"Warning: what compares with the baseline is undecided, and lets the build through all the same (exit code 0); --on-inconclusive fail makes it 6.";

function isRun({ search }: Plan): boolean {
	return search?.role !== "start";
}

/** A run, not a load beside it. */
function isMain({ beside }: Plan): boolean {
	return beside === null;
}

/** Two more repeats of each case that did not pass, all in the folder before the first begins; `all` gets them. */
function* confirmingRuns(
	all: Plan[],
	searched: readonly Plan[],
	folder: string,
	progress: Progress,
	feed: Feed | null,
): Generator<Plan, void> {
	const { plans, reasons } = confirmationOf(buildResult(folder), [...all, ...searched]);
	for (const reason of reasons) progress.say(reason);
	for (const plan of plans) addRun(folder, plan);
	for (const one of plans) all.push(one);
	feed?.expect(folder, plans);
	yield* plans.filter(isMain);
}

/** In order; a search makes each of its runs from the results so far, and adds them to `searched`. */
function* runsOf(
	plans: readonly Plan[],
	searched: Plan[],
	folder: string,
	progress: Progress,
): Generator<Plan, void> {
	let index = firstIndex(plans);
	for (const plan of plans.filter(isMain)) {
		if (isRun(plan)) {
			yield plan;
			continue;
		}
		const judge = (run: Plan) => {
			const judged = judgeFolder(runPath(folder, run));
			const { verdict } = judged;
			const why = reasonOf(judged);
			progress.say(`  ${verdict.toUpperCase()}${why === null ? "" : `: ${why}`}`);
			return outcomeOf(verdict);
		};
		const begin = (run: Plan, text: string) => {
			progress.say(`Search: ${text}.`);
			index = run.index + 1;
			searched.push(run);
			addRun(folder, run);
		};
		const { answer, runs } = yield* searchRuns(plan, index, judge, begin);
		progress.say(`Search: ${plan.system}, ${plan.case}: ${answerText(answer, runs)}.`);
	}
}
