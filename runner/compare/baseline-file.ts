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
	if (!stat.isDirectory()) {
		// A file that was named may be a link or a pipe; one of a folder may not.
		const { baseline, why } = parse(path, readFileSync);
		if (baseline === null) throw no(why);
		return baseline;
	}
	const files = ["baseline.json", "result.json"].filter((name) => existsSync(join(path, name)));
	const parsed = files.map((name) => ({ name, ...parse(join(path, name), readGiven) }));
	const whole = parsed.find(({ baseline }) => baseline !== null)?.baseline;
	if (whole) return whole;
	if (existsSync(join(path, "runs"))) return baselineOf(buildResult(path));
	const [first] = parsed;
	throw no(
		first === undefined
			? "there is neither baseline.json nor result.json nor runs/ in it"
			: `its ${first.name}: ${first.why}`,
	);
}

// --- internal ---

interface Parsed {
	readonly baseline: Baseline | null;
	/** Why there is none. */
	readonly why: string;
}

function parse(file: string, read: (file: string, encoding: "utf8") => string): Parsed {
	const no = (why: string) => ({ baseline: null, why });
	let value: { readonly gates?: unknown } | null;
	try {
		value = JSON.parse(read(file, "utf8"));
	} catch (error) {
		return no(error instanceof SyntaxError ? "it is not JSON" : reasonOf(error));
	}
	const result = value?.gates === undefined ? null : ResultFile.safeParse(value);
	if (result?.success) return { baseline: baselineOf(result.data), why: "" };
	const { data, error } = Baseline.safeParse(value);
	if (data !== undefined) return { baseline: data, why: "" };
	const [issue] = (result ?? { error }).error.issues;
	return no(
		`it is neither a baseline.json nor a result.json of this version (${issue?.path.join(".") || "it"}: ${issue?.message}); mqbench report on its folder writes it again`,
	);
}
