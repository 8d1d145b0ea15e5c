import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { failure } from "../errors.ts";
import { readGiven } from "../given-folder.ts";
import { Baseline } from "../model/comparison.ts";
import { ResultFile } from "../model/result-file.ts";
import { reasonOf } from "../reason.ts";
import { baselineOf } from "./baseline-of-result.ts";
import { buildResult } from "./build.ts";

/**
 * Reads a baseline.json (or a result.json), or that of a run folder. Of a folder that has neither, or one of another version, the result is computed anew from its raw files.
 */
export function readBaseline(path: string): Baseline {
	const stat = statSync(path, { throwIfNoEntry: false });
	const no = (reason: string) => failure("baseline-unreadable", { path, reason });
	if (stat === undefined) throw no("there is no such file or folder");
	const isFolder = stat.isDirectory();
	// A file that was named may be a link or a pipe; one of a folder may not.
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

/** A text says why it is none. */
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
	return `it is neither a baseline.json nor a result.json of this version (${issue?.path.join(".") || "it"}: ${issue?.message}); mqbench report on its folder writes it again`;
}
