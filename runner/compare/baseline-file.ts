import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { failure } from "../errors.ts";
import { readGiven } from "../given-folder.ts";
import { Baseline } from "../model/comparison.ts";
import { ResultFile } from "../model/result.ts";
import { reasonOf } from "../reason.ts";
import { baselineOf } from "./baseline-of-result.ts";
import { buildResult } from "./build.ts";

/** Reads baseline.json, result.json or a run folder; without a readable file, a folder's result is computed from its raw files. */
export function readBaseline(path: string): Baseline {
	const stat = statSync(path, { throwIfNoEntry: false });
	const no = (reason: string) => failure("baseline-unreadable", { path, reason });
	if (stat === undefined) throw no("there is no such file or folder");
	const isFolder = stat.isDirectory();
	// A named file may be a link or a pipe; a file in a folder may not.
	const read = (file: string) => (isFolder ? readGiven(file) : readFileSync(file, "utf8"));
	const names = ["baseline.json", "result.json"].filter((name) => existsSync(join(path, name)));
	let why: string | null = null;
	for (const name of isFolder ? names : [""]) {
		const found = parse(() => read(join(path, name)));
		if (typeof found !== "string") return found;
		why ??= isFolder ? `its ${name}: ${found}` : found;
	}
	if (isFolder && existsSync(join(path, "runs"))) return baselineOf(buildResult(path));
	throw no(why ?? "there is neither baseline.json nor result.json nor runs/ in it");
}

// --- internal ---

/** Returns the reason as a string if it is not one. */
function parse(read: () => string): Baseline | string {
	let value: { readonly gates?: unknown } | null;
	try {
		value = JSON.parse(read());
	} catch (error) {
		return error instanceof SyntaxError ? "it is not JSON" : reasonOf(error);
	}
	const result = value?.gates === undefined ? null : ResultFile.safeParse(value);
	if (result?.success) return baselineOf(result.data);
	const { data, error } = Baseline.safeParse(value);
	if (data !== undefined) return data;
	const [issue] = (result ?? { error }).error.issues;
	return `it is neither a baseline.json nor a result.json of this version (${issue?.path.join(".") || "it"}: ${issue?.message}); npx mqbench report on its folder writes it again`;
}
