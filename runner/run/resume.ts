import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { failure } from "../errors.ts";
import {
	type BaselineSnapshot,
	readSnapshot,
} from "../model/baseline-snapshot.ts";
import {
	EnvironmentFile,
	type RigMachines,
} from "../model/environment-file.ts";
import { Plan } from "../model/plan.ts";
import { compile } from "../script/compile.ts";
import { tell } from "../text/tell.ts";
import { readClient } from "./client-read.ts";
import { collect } from "./collect.ts";
import { fillRun, floorPath, runPath } from "./folder.ts";

/** What is left to do in the folder of a command that was interrupted, or crashed. */
export interface Rest {
	readonly plans: readonly Plan[];
	readonly floors: readonly Plan[];
}

/** The run id of the command whose folder it is: with it the same scenario gives the same plans. */
export function runIdOf(folder: string): string {
	const [first] = runsIn(folder);
	if (first === undefined) throw failure("not-a-run-folder", { path: folder });
	let runId: string;
	try {
		runId = Plan.parse(JSON.parse(readFileSync(first, "utf8"))).runId;
	} catch {
		throw failure("resume-other", { path: folder, why: OTHER_PLANS });
	}
	return runId;
}

/**
 * Makes the folder ready for going on: runs that are complete (or were stopped for an SLA) are kept, of all others what they
 * left is removed. Refuses a folder that is not of exactly these runs, before it touches anything.
 */
export function resumeRunFolder(
	folder: string,
	scenarioText: string,
	plans: readonly Plan[],
	floors: readonly Plan[],
	machine: EnvironmentFile,
	snapshot: BaselineSnapshot | null = null,
): Rest {
	const refuse = (why: string) =>
		failure("resume-other", { path: folder, why });
	if (plans.some(({ search }) => search !== null))
		throw refuse(tell("resume-search"));
	const other = otherMachine(path.join(folder, "environment.json"), machine);
	if (other !== null) throw refuse(other);
	if (readText(path.join(folder, "scenario.yaml")) !== scenarioText)
		throw refuse(tell("resume-other-text"));
	if (!sameBaseline(readSnapshot(folder), snapshot))
		throw refuse(tell("resume-other-baseline"));
	const planFiles = plans.map((plan) => path.join(runPath(folder, plan), PLAN));
	const same =
		planFiles.length === runsIn(folder).length &&
		plans.every(
			(plan, i) => readText(planFiles[i] ?? "") === compile(plan).planJson,
		);
	if (!same) throw refuse(OTHER_PLANS);

	const rest = {
		plans: plans.filter((plan) => !isDone(runPath(folder, plan))),
		floors: floors.filter(
			(plan) => readClient(floorPath(folder, plan), 0).state !== "complete",
		),
	};
	for (const plan of rest.plans) empty(runPath(folder, plan));
	for (const plan of rest.floors) {
		fillRun(floorPath(folder, plan), plan);
		empty(floorPath(folder, plan));
	}
	return rest;
}

/** Plans that `--confirm` has added to those of the scenario, in their order. */
export function confirmingIn(folder: string): Plan[] {
	return runsIn(folder)
		.flatMap((file): Plan[] => {
			try {
				const plan: unknown = JSON.parse(readFileSync(file, "utf8"));
				// Not what the schema makes of it: its text has to be the same as before, to the order of fields.
				return Plan.safeParse(plan).success ? [plan as Plan] : [];
			} catch {
				return [];
			}
		})
		.filter((plan) => plan.confirms)
		.sort((a, b) => a.index - b.index);
}

// --- internal ---

const PLAN = "plan.json";
const SCRIPT = "script.js";
const OTHER_PLANS = tell("resume-other-runs");

/** What makes numbers another machine's, and so no repeats of each other. */
const MACHINE = [
	"mqbench",
	"os",
	"kernel",
	"cpu",
	"cores",
	"memoryBytes",
	"clockSource",
	"governor",
	"cpuQuotaCores",
] as const;

/** Why runs made now do not belong to those of the folder; null: they do. */
function otherMachine(file: string, now: EnvironmentFile): string | null {
	const text = readText(file);
	// Killed before it was written: there is no run yet that would be another's.
	if (text === null) return null;
	const before = EnvironmentFile.safeParse(JSON.parse(text)).data;
	const [theirs, ours] = [before?.rig ?? null, now.rig ?? null];
	if (!isDeepStrictEqual(identityOf(theirs), identityOf(ours))) {
		const [one, other] = [rigText(theirs), rigText(ours)];
		return tell("resume-other-place", {
			before: one,
			now: one === other ? tell("resume-machines-of-name") : other,
		});
	}
	const differs = MACHINE.find((fact) => before?.[fact] !== now[fact]);
	return differs === undefined
		? null
		: tell("resume-other-machine", {
				what: differs,
				before: `${before?.[differs]}`,
				now: `${now[differs]}`,
			});
}

/** What makes machines of a rig others. Hosts of yours stay what they are whatever their rig is called. */
function identityOf(rig: RigMachines | null) {
	if (rig === null) return null;
	const { id, createdAt, cloud, machines, brokers, clients, here } = rig;
	const cloudPart = cloud === null ? {} : { id, createdAt };
	return { ...cloudPart, machines, brokers, clients, here };
}

/** "the rented machines of the rig a-1", "the machine of mqbench alone" */
function rigText(rig: RigMachines | null): string {
	if (rig === null) return tell("machine-of-mqbench");
	if (rig.cloud === null) return rig.machines;
	const { id, createdAt } = rig;
	return tell("machines-of-rig", {
		rig: `${id}`,
		since: createdAt === null ? "" : ` of ${createdAt}`,
	});
}

/** A calibration that has come or gone since the start is none: that of the folder stays. */
function sameBaseline(
	before: BaselineSnapshot | null,
	now: BaselineSnapshot | null,
): boolean {
	const of = (snapshot: BaselineSnapshot | null) =>
		JSON.stringify(snapshot?.baseline);
	return (
		(before?.baseline ?? null) === (now?.baseline ?? null) ||
		of(before) === of(now)
	);
}

/** The plan.json of each run. */
function runsIn(folder: string): string[] {
	const runs = path.join(folder, "runs");
	if (!existsSync(runs)) return [];
	return readdirSync(runs)
		.sort()
		.map((name) => path.join(runs, name, PLAN))
		.filter((file) => existsSync(file));
}

function readText(file: string): string | null {
	return existsSync(file) ? readFileSync(file, "utf8") : null;
}

/** A run that nobody would gain from making again. What cannot be read was not finished. */
function isDone(run: string): boolean {
	try {
		const { state, run: file } = collect(run);
		return (
			(state === "complete" || state === "aborted") && file?.error === null
		);
	} catch {
		return false;
	}
}

/** Leaves what a run begins with. */
function empty(run: string): void {
	for (const name of readdirSync(run))
		if (name !== PLAN && name !== SCRIPT)
			rmSync(path.join(run, name), { recursive: true, force: true });
}
