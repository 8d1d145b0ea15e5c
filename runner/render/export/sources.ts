import path from "node:path";
import { buildResult } from "../../compare/build.ts";
import { failure, MqbenchError } from "../../errors.ts";
import type { Result } from "../../model/result.ts";
import { entryOf, holdsResult, holdsRuns, isRunFolder, runFolders } from "../../result/indexed.ts";
import { readResult } from "../../result/result-files.ts";
import { tell } from "../../text/tell.ts";
import type { World } from "../../world.ts";
import type { Source } from "./points.ts";

interface Sources {
	readonly sources: Source[];
	/** Sentences: which folders gave no result, and why. */
	readonly problems: string[];
}

/**
 * The results of run folders, and of all runs in folders that hold some, as the index finds them. Each run counts once, however often it
 * was copied. Throws for a folder without any run.
 */
export function readSources(folders: readonly string[], { cwd }: Pick<World, "cwd">): Sources {
	const sources: Source[] = [];
	const problems: string[] = [];
	const known = new Map<string, string>();
	for (const given of folders) {
		const where = path.resolve(cwd, given);
		const names = isRunFolder(where) ? ["."] : runFolders(where);
		if (names.length === 0) throw failure("no-runs", { path: given });
		for (const name of names) {
			const folder = path.join(where, name);
			const shown = path.join(given, name);
			const result = resultIn(folder);
			const same = typeof result === "string" ? null : known.get(result.runId);
			if (typeof result === "string") problems.push(`${shown}: left out: ${result}`);
			else if (same != null) problems.push(`${shown}: left out: the same run as ${same}`);
			else {
				known.set(result.runId, shown);
				sources.push({ folder, shown, result });
			}
		}
	}
	return { sources, problems };
}

// --- internal ---

/** Its result.json, or the same from its measured files where it has none of this version; a text says why there is neither. */
function resultIn(folder: string): Result | string {
	try {
		if (holdsResult(folder)) return readResult(folder);
	} catch (error) {
		// The index has a sentence for every way in which it cannot be read.
		if (!(error instanceof MqbenchError)) throw error;
	}
	try {
		if (holdsRuns(folder)) return buildResult(folder);
	} catch (error) {
		if (error instanceof MqbenchError) return error.message;
		throw error;
	}
	const { problem } = entryOf(path.dirname(folder), path.basename(folder));
	return problem ?? tell("result-of-other-version");
}
