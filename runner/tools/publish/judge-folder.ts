import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { buildResult } from "../../compare/build.ts";
import { readJson } from "../../evidence/json.ts";
import { Plan } from "../../model/plan.ts";
import type { Result } from "../../model/result.ts";
import { RunFile } from "../../model/run-file.ts";
import { type Made, publishable, unranked } from "./publishable.ts";

/** Why a run folder is not to be published (none: it may be), and which systems and cases of it are published without ranking. */
export function judgeFolder(
	folder: string,
	result: Result = buildResult(folder),
): { readonly reasons: string[]; readonly unranked: string[] } {
	return { reasons: publishable(result, madeIn(folder)), unranked: unranked(result) };
}

// --- internal ---

/** Runs that have ended; of the others the result says that they have not. */
function madeIn(folder: string): Made[] {
	const runs = path.join(folder, "runs");
	return readdirSync(runs).flatMap((name) => {
		const of = path.join(runs, name);
		if (!existsSync(path.join(of, "run.json"))) return [];
		const { index, runId } = readJson(path.join(of, "plan.json"), Plan);
		const { startedAt, endedAt } = readJson(path.join(of, "run.json"), RunFile);
		return [{ index, runId, startedAt, endedAt }];
	});
}
