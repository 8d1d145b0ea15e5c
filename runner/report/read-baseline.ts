import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { baselineOf } from "../compare/baseline-of-result.ts";
import { failure } from "../errors.ts";
import { Baseline } from "../model/comparison.ts";
import { Result } from "../model/result.ts";
import { reasonOf } from "../reason.ts";
import { tell } from "../text/tell.ts";
import { buildResult } from "./result.ts";

/**
 * Reads a baseline.json (or a result.json), or that of a run folder. Of a folder that has neither, or one of another version, the
 * result is computed anew from its raw files.
 */
export function readBaseline(path: string): Baseline {
	const stat = statSync(path, { throwIfNoEntry: false });
	const no = (reason: string) =>
		failure("baseline-unreadable", { path, reason });
	if (stat === undefined) throw no(tell("neither-file-nor-folder"));
	if (!stat.isDirectory()) {
		const found = parse(path);
		if (typeof found === "string") throw no(found);
		return found;
	}
	for (const name of ["baseline.json", "result.json"]) {
		const file = join(path, name);
		if (!existsSync(file)) continue;
		const found = parse(file);
		if (typeof found !== "string") return found;
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
function parse(file: string): Baseline | string {
	let value: unknown;
	try {
		value = JSON.parse(readFileSync(file, "utf8"));
	} catch (error) {
		return error instanceof SyntaxError ? "it is not JSON" : reasonOf(error);
	}
	const { schema, gates } = (value ?? {}) as Record<string, unknown>;
	if (typeof schema !== "number") return tell("neither-baseline-nor-result");
	if (schema > 1) return tell("baseline-schema", { schema });
	if (gates !== undefined) {
		const result = Result.safeParse(value);
		return result.success
			? baselineOf(result.data)
			: tell("result-of-other-version");
	}
	const baseline = Baseline.safeParse(value);
	if (baseline.success) return baseline.data;
	const [issue] = baseline.error.issues;
	return `it is no baseline.json of this version: ${issue?.path.join(".") || "it"}: ${issue?.message}`;
}
