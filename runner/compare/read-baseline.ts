import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { failure } from "../errors.ts";
import { readGiven } from "../given-folder.ts";
import { Baseline } from "../model/comparison.ts";
import { ResultFile } from "../model/result-file.ts";
import { reasonOf } from "../reason.ts";
import { tell } from "../text/tell.ts";
import { baselineOf } from "./baseline-of-result.ts";
import { buildResult } from "./build.ts";

/**
 * Reads a baseline.json (or a result.json), or that of a run folder. Of a folder that has neither, or one of another version, the result is computed anew from its raw files.
 */
export function readBaseline(path: string): Baseline {
	const stat = statSync(path, { throwIfNoEntry: false });
	const no = (reason: string) => failure("baseline-unreadable", { path, reason });
	if (stat === undefined) throw no(tell("neither-file-nor-folder"));
	if (!stat.isDirectory()) {
		const baseline = parse(path, readFileSync);
		if (typeof baseline === "string") throw no(baseline);
		return baseline;
	}
	for (const name of ["baseline.json", "result.json"]) {
		const file = join(path, name);
		if (!existsSync(file)) continue;
		const baseline = parse(file);
		if (typeof baseline !== "string") return baseline;
	}
	if (!existsSync(join(path, "runs")))
		throw no(
			existsSync(join(path, "baseline.json"))
				? `its baseline.json: ${parse(join(path, "baseline.json"))}`
				: "there is neither baseline.json nor result.json nor runs/ in it",
		);
	return baselineOf(buildResult(path));
}

// --- internal ---

/** A sentence says why it is none. */
function parse(file: string, how: Read = readGiven): Baseline | string {
	const value = read(file, how);
	if (value instanceof Error)
		return value instanceof SyntaxError ? tell("not-json") : reasonOf(value);
	const { schema, gates } = (value ?? {}) as Record<string, unknown>;
	if (typeof schema !== "number") return tell("neither-baseline-nor-result");
	const known = gates === undefined ? 1 : 2;
	if (schema !== known) return tell("baseline-schema", { schema, known });
	if (gates !== undefined) {
		const result = ResultFile.safeParse(value).data;
		return result === undefined ? tell("result-of-other-version") : baselineOf(result);
	}
	const baseline = Baseline.safeParse(value);
	if (baseline.success) return baseline.data;
	const [issue] = baseline.error.issues;
	return `it is no baseline.json of this version: ${issue?.path.join(".") || "it"}: ${issue?.message}`;
}

/** A file that was named may be a link or a pipe; one of a folder may not. */
type Read = (file: string, encoding: "utf8") => string;

/** The value of a JSON file, or why there is none. */
function read(file: string, how: Read = readGiven): unknown {
	try {
		return JSON.parse(how(file, "utf8"));
	} catch (error) {
		return error;
	}
}
