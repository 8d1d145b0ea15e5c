import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { failure } from "../errors.ts";
import { readClient } from "../evidence/client-read.ts";
import { collect } from "../evidence/collect.ts";
import { parsed, readJson } from "../evidence/json.ts";
import { nextSegment, resumesAt } from "../evidence/segments.ts";
import { noLinks, readGiven, runFolders } from "../given-folder.ts";
import { type BaselineSnapshot, readSnapshot } from "../model/baseline-snapshot.ts";
import { EnvironmentFile, type RigMachines } from "../model/environment-file.ts";
import { mainOf, Plan, runFolder } from "../model/plan.ts";
import { reasonOf } from "../reason.ts";
import { compile } from "../script/compile.ts";
import { formatDuration } from "../units.ts";
import { fillRun, floorPath, runPath } from "./folder.ts";

/** The run ID of the folder's command: with it the same scenario expands to the same plans. */
export function runIdOf(folder: string): string {
	const [run] = runFolders(folder, "runs");
	if (run === undefined) throw failure("not-a-run-folder", { path: folder });
	return readJson(path.join(run, PLAN), Plan).runId;
}

/** Keeps runs that are complete or were stopped for an SLA, and resets the others. Before that, refuses a folder of other runs. */
export function resumeRunFolder(
	folder: string,
	scenarioText: string,
	plans: readonly Plan[],
	floors: readonly Plan[],
	machine: EnvironmentFile,
	snapshot: BaselineSnapshot | null = null,
) {
	const refuse = (why: string) => failure("resume-other", { path: folder, why });
	if (plans.some(({ search }) => search !== null))
		throw refuse(
			"a search (find: max-rate) cannot be resumed, because each of its runs follows from those before",
		);
	const other = otherMachine(path.join(folder, "environment.json"), machine);
	if (other !== null) throw refuse(other);
	if (readText(path.join(folder, "scenario.yaml")) !== scenarioText)
		throw refuse("its scenario.yaml is not the text of this scenario");
	// A calibration that appeared or disappeared since the start does not matter: the folder's own stays.
	const baselineIn = (of: BaselineSnapshot | null) => JSON.stringify(of?.baseline ?? null);
	if (baselineIn(readSnapshot(folder)) !== baselineIn(snapshot))
		throw refuse("its runs are compared with another baseline; name the one that they began with");
	const runs = runFolders(folder, "runs");
	try {
		for (const run of runs) noLinks(folder, run);
		for (const plan of floors) noLinks(folder, floorPath(folder, plan));
	} catch (error) {
		throw refuse(reasonOf(error));
	}
	const isSame = (plan: Plan) =>
		fromStart(planIn(runPath(folder, plan))) === fromStart(compile(plan).planJson);
	if (!plans.every(isSame) || runs.length !== plans.length) throw refuse(OTHER_PLANS);
	// A run is done if all its loads are.
	const open = new Set(plans.filter((plan) => !isDone(runPath(folder, plan))).map(mainOf));
	const rest = {
		plans: plans.filter((plan) => open.has(mainOf(plan))),
		floors: floors.filter((plan) => readClient(floorPath(folder, plan), 0).state !== "complete"),
	};
	// Files in the folder are never run: it may come from someone else.
	const begin = (run: string, plan: Plan) => {
		rmSync(run, { recursive: true, force: true });
		fillRun(run, plan);
		return plan;
	};
	const goOn = (plan: Plan) => {
		const run = runPath(folder, plan);
		const resumeNs = resumesAt(run, readJson(path.join(run, PLAN), Plan)) ?? 0;
		const next = plan.segments ? { ...plan, segments: { ...plan.segments, resumeNs } } : plan;
		if (resumeNs === 0) return begin(run, next);
		setAside(run);
		fillRun(run, next);
		return next;
	};
	for (const plan of rest.floors) begin(floorPath(folder, plan), plan);
	return { ...rest, plans: rest.plans.map(goOn) };
}

/** Where each of these runs goes on, for those that do not begin again: "01-nats-... goes on from 35h 59min". */
export function goingOn(plans: readonly Plan[]): string[] {
	return plans.flatMap(({ segments, ...plan }) =>
		segments && segments.resumeNs > 0
			? `${runFolder(plan)} goes on from ${formatDuration(segments.resumeNs)} of its schedule.`
			: [],
	);
}

/** Plans that `--confirm` has added to the scenario's, in order. */
export function confirmingIn(folder: string): Plan[] {
	return runFolders(folder, "runs")
		.flatMap((run): Plan[] => {
			const plan = parsed(planIn(run) ?? "");
			// Returned unparsed: its text must stay the same, down to the order of fields.
			return Plan.safeParse(plan).success ? [plan as Plan] : [];
		})
		.filter((plan) => plan.confirms)
		.sort((a, b) => a.index - b.index);
}

// --- internal ---

const PLAN = "plan.json";
const OTHER_PLANS =
	"its runs are others: it was made with other options (--set, --only, --quick, --target), or by another version of mqbench";

/** Facts that must match: other numbers would belong to another machine and not be repeats. */
const MACHINE = "mqbench os kernel cpu cores memoryBytes clockSource governor cpuQuotaCores";

/** A resumed run's plan differs only in where it goes on. */
function fromStart(planJson: string | null): string | null {
	return planJson?.replace(/("resumeNs": )\d+/, "$10") ?? null;
}

/** Keeps the files of the segment that was cut. Its plan stays until the next one's is written. */
function setAside(run: string): void {
	const into = nextSegment(run);
	const files = readdirSync(run, { withFileTypes: true }).filter((entry) => entry.isFile());
	mkdirSync(into);
	copyFileSync(path.join(run, PLAN), path.join(into, PLAN));
	for (const { name } of files)
		if (name !== PLAN) renameSync(path.join(run, name), path.join(into, name));
}

function otherMachine(file: string, now: EnvironmentFile): string | null {
	const text = readText(file);
	// Without the file the command was killed before its first run.
	if (text === null) return null;
	const before = EnvironmentFile.safeParse(parsed(text)).data;
	if (before === undefined)
		return "its environment.json cannot be read, so it is not known on which machine its runs were made";
	const [rigBefore, rigNow] = [before.rig ?? null, now.rig ?? null];
	if (!isDeepStrictEqual(identityOf(rigBefore), identityOf(rigNow)))
		return `its runs were made on other machines (${placeOf(rigBefore)}, now ${placeOf(rigNow)})`;
	const facts = MACHINE.split(" ") as (keyof EnvironmentFile)[];
	const differs = facts.find((fact) => before[fact] !== now[fact]);
	return differs === undefined
		? null
		: `its runs were made on another machine, or another state of this one (${differs}: ${before[differs]}, now ${now[differs]})`;
}

/** Identity of a rig's machines. Your own hosts are the same ones under any name of their rig. */
function identityOf(rig: RigMachines | null) {
	const own = rig?.cloud === null ? { id: null, createdAt: null } : {};
	return rig && { ...rig, ...own, facts: null };
}

function placeOf(rig: RigMachines | null): string {
	if (rig === null) return "the machine of mqbench alone";
	if (rig.cloud === null) return rig.machines;
	return `rig ${rig.id}${rig.createdAt === null ? "" : ` of ${rig.createdAt}`}`;
}

function planIn(run: string): string | null {
	return readText(path.join(run, PLAN));
}

function readText(file: string): string | null {
	return existsSync(file) ? readGiven(file) : null;
}

/** Is the run done? An unreadable one was not finished. */
function isDone(run: string): boolean {
	try {
		const { state, run: file } = collect(run);
		return (state === "complete" || state === "aborted") && file?.error === null;
	} catch {
		return false;
	}
}
