import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { failure } from "../errors.ts";
import { type Collected, collect } from "../evidence/collect.ts";
import { damageIn, readJson } from "../evidence/json.ts";
import { noLinks, runFolders } from "../given-folder.ts";
import { readSnapshot, SNAPSHOT } from "../model/baseline-snapshot.ts";
import { commandIn } from "../model/command-file.ts";
import { EnvironmentFile } from "../model/environment-file.ts";
import { floorOf } from "../verdict/checks/generator.ts";
import { type Floor, factsOf, UNKNOWN } from "../verdict/facts.ts";
import { judgeRun, type RunVerdict } from "../verdict/run.ts";
import { gatesOf } from "./gates.ts";
import type { Judgeable } from "./outcomes.ts";
import { runOf } from "./run.ts";
import { searchesOf } from "./searches.ts";

export type Judged = ReturnType<typeof judgedRun>;

/**
 * Before it is compared and judged; URLs are not masked yet. From only the files in `folder` (`reports/<run-id>`): the same folder gives
 * the same bytes. `soFar`: for a command that goes on.
 */
export function bareResult(folder: string, soFar?: readonly Judged[]) {
	if (soFar) return bareOf(folder, soFar, environmentOf(folder), readSnapshot(folder));
	const damaged: { readonly file: string; readonly why: string; readonly reason: string }[] = [];
	// One damaged file must not lose the others.
	const whole = <T>(file: string, so: string, read: () => T): T | null => {
		try {
			noLinks(folder, join(folder, file));
			return read();
		} catch (error) {
			const reason = damageIn(error);
			damaged.push({ file, why: `cannot be read (${reason}), so ${so}`, reason });
			return null;
		}
	};
	const each = <T>(below: "runs" | "floors", so: string, read: (path: string) => T) =>
		runFolders(folder, below).flatMap((path) => {
			const file = `${below}/${basename(path)}/plan.json`;
			return whole(file, so, () => [read(path)]) ?? [];
		});
	const environment = whole(ENVIRONMENT, "the machine is not known", () => environmentOf(folder));
	const snapshot = whole(SNAPSHOT, "nothing is compared with the baseline", () =>
		readSnapshot(folder),
	);
	const floors = new Map(each("floors", "the generator's floor is not known", floorIn));
	// One run at a time, because only its histograms are large.
	const runs = each("runs", "this run is left out", (path) =>
		judgedRun(path, environment, snapshot, floors),
	);
	const [first] = damaged;
	if (runs.length === 0 && first !== undefined)
		throw failure("run-file-unreadable", { path: join(folder, first.file), reason: first.reason });
	const bare = bareOf(folder, runs, environment, snapshot);
	if (first === undefined) return bare;
	// The damaged runs might have changed the verdict.
	const errorCause = bare.result.errorCause ?? "environment";
	const files = damaged.map(({ file, why }) => ({ file, why }));
	return { ...bare, result: { ...bare.result, damaged: files, errorCause } };
}

/** For a command that goes on: its floors come last. */
export function judgedSoFar(folder: string, path: string): Judged {
	return judgedRun(path, environmentOf(folder), readSnapshot(folder), new Map());
}

/** For a search, before its next run. */
export function judgeFolder(path: string): RunVerdict {
	return judgeRun(factsOf(collect(path), UNKNOWN));
}

// --- internal ---

const ENVIRONMENT = "environment.json";

type Snapshot = ReturnType<typeof readSnapshot>;

function bareOf(
	folder: string,
	all: readonly Judged[],
	environment: EnvironmentFile | null,
	snapshot: Snapshot,
) {
	const runs = all.toSorted((a, b) => a.collected.plan.index - b.collected.plan.index);
	const first = runs[0]?.collected.plan;
	if (first === undefined) throw failure("not-a-run-folder", { path: folder });
	const result: Judgeable = {
		schema: 2,
		scenario: first.scenario,
		runId: first.runId,
		quick: first.quick,
		errorCause: errorCauseOf(runs),
		interruptedBy: runs.map((r) => r.collected.run?.interruptedBy).find((s) => s) ?? null,
		environment,
		runs: runs.map((r) => r.run),
		// A search is judged by its answer, not by the rates that had to fail.
		gates: gatesOf(runs.filter((r) => r.collected.plan.search === null)),
		searches: searchesOf(runs),
		comparisons: [],
		command: commandIn(folder),
	};
	return { result, runs, snapshot };
}

/** States in which the SLA decides. */
const JUDGED: ReadonlySet<Collected["state"]> = new Set(["complete", "aborted"]);

function judgedRun(
	path: string,
	environment: EnvironmentFile | null,
	snapshot: Snapshot,
	floors: ReadonlyMap<string, Floor>,
) {
	const collected = collect(path);
	const facts = factsOf(collected, {
		clockSource: environment?.clockSource ?? null,
		quotaCores: environment?.cpuQuotaCores ?? null,
		floor: floors.get(collected.plan.case) ?? null,
		compared: collected.plan.baselineSystem !== null || (snapshot?.baseline ?? null) !== null,
	});
	const verdict = judgeRun(facts);
	return { collected, verdict, run: runOf(facts, verdict) };
}

function environmentOf(folder: string): EnvironmentFile | null {
	const path = join(folder, ENVIRONMENT);
	return existsSync(path) ? readJson(path, EnvironmentFile) : null;
}

function floorIn(path: string): readonly [string, Floor] {
	const collected = collect(path);
	return [collected.plan.case, floorOf(factsOf(collected, UNKNOWN))];
}

function errorCauseOf(runs: readonly Judged[]): Judgeable["errorCause"] {
	const errors = runs.filter((r) => r.verdict.verdict === "error");
	if (runs.some((r) => r.verdict.checks.some((c) => c.status === "error"))) return "internal";
	if (errors.length === 0) return null;
	return errors.some((r) => !JUDGED.has(r.collected.state)) ? "environment" : "scenario";
}
