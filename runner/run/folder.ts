import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { type Lock, tryLock } from "../../infra/lock.ts";
import { failure, MqbenchError } from "../errors.ts";
import { readGiven } from "../given-folder.ts";
import { type BaselineSnapshot, SNAPSHOT } from "../model/baseline-snapshot.ts";
import { type CommandFile, commandIn, resumeCommand } from "../model/command-file.ts";
import { EnvironmentFile } from "../model/environment-file.ts";
import { floorFolder, type Plan, runFolder } from "../model/plan.ts";
import type { RunFileInput } from "../model/run-file.ts";
import { reasonOf } from "../reason.ts";
import { compile } from "../script/compile.ts";
import { writeWhole } from "../whole-file.ts";

/** Writes all facts known before the first run, so a run that is planned but never made shows as such. */
export function makeRunFolder(
	folder: string,
	scenarioText: string,
	plans: readonly Plan[],
	floors: readonly Plan[],
	snapshot: BaselineSnapshot | null = null,
): void {
	writing(folder, () => {
		mkdirSync(path.dirname(folder), { recursive: true });
		if (existsSync(folder)) throw failure("output-exists", { path: folder });
		mkdirSync(folder);
		try {
			writeWhole(path.join(folder, "scenario.yaml"), scenarioText);
			for (const plan of floors) fillRun(floorPath(folder, plan), plan);
			for (const plan of plans) fillRun(runPath(folder, plan), plan);
			if (snapshot !== null) writeJson(path.join(folder, SNAPSHOT), snapshot);
		} catch (error) {
			removeRunFolder(folder);
			throw error;
		}
	});
}

/** Adds a run that was not planned from the start, for a search. */
export function addRun(folder: string, plan: Plan): void {
	writing(folder, () => fillRun(runPath(folder, plan), plan));
}

export function fillRun(run: string, plan: Plan): void {
	mkdirSync(run, { recursive: true });
	const { script, planJson } = compile(plan);
	writeWhole(path.join(run, "plan.json"), planJson);
	writeFileSync(path.join(run, "script.js"), script);
}

/** Locks the folder: two commands that resume it would remove each other's runs. Fails with `output-in-use`. */
export async function lockRunFolder(folder: string): Promise<Lock> {
	const got = await tryLock(path.join(folder, LOCK)).catch((error) => {
		throw failure("output-unwritable", { path: folder, reason: reasonOf(error) });
	});
	if ("release" in got) return got;
	const holder = `process ${got.pid}${got.here ? "" : " of another machine or container, alive within the last minute"}`;
	throw failure("output-in-use", { path: folder, holder });
}

export function removeRunFolder(folder: string): void {
	rmSync(folder, { recursive: true, force: true });
}

export function runPath(folder: string, plan: Plan): string {
	return path.join(folder, "runs", runFolder(plan));
}

export function floorPath(folder: string, plan: Plan): string {
	return path.join(folder, "floors", floorFolder(plan));
}

export function writeRunFile(folder: string, plan: Plan, file: RunFileInput): void {
	const resumable = plan.search === null ? folder : undefined;
	writeJson(path.join(runPath(folder, plan), "run.json"), file, resumable);
}

export function writeCommand(folder: string, file: CommandFile): void {
	writeJson(path.join(folder, "command.json"), file);
}

export function writeEnvironment(folder: string, file: EnvironmentFile): void {
	writeJson(path.join(folder, "environment.json"), file);
}

/** Null if the command was killed before it wrote the file. */
export function environmentIn(folder: string): EnvironmentFile | null {
	const file = path.join(folder, "environment.json");
	return existsSync(file) ? EnvironmentFile.parse(JSON.parse(readGiven(file))) : null;
}

// --- internal ---

const LOCK = ".lock";

function writeJson(where: string, value: unknown, measured?: string): void {
	writing(where, () => writeWhole(where, `${JSON.stringify(value, null, "\t")}\n`), measured);
}

/** `measured`: the folder that may contain complete runs, and can be resumed. */
function writing(where: string, action: () => void, measured?: string): void {
	try {
		action();
	} catch (error) {
		// Errors without a system code are ours, or bugs.
		if (error instanceof MqbenchError) throw error;
		if (!(error as NodeJS.ErrnoException).code) throw error;
		const what = { path: where, reason: reasonOf(error) };
		const command = measured === undefined ? null : commandIn(measured);
		throw measured === undefined || command?.resumable === false
			? failure("output-unwritable", what)
			: failure("run-unwritable", { ...what, resume: resumeCommand(command, measured) });
	}
}
