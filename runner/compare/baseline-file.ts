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

type Parsed =
	| { readonly baseline: Baseline; readonly why: "" }
	| { readonly baseline: null; readonly why: string };

function parse(file: string, read: (file: string, encoding: "utf8") => string): Parsed {
	const no = (why: string): Parsed => ({ baseline: null, why });
	let value: unknown;
	try {
		value = JSON.parse(read(file, "utf8"));
	} catch (error) {
		return no(error instanceof SyntaxError ? "it is not JSON" : reasonOf(error));
	}
	const { schema, gates } = (value ?? {}) as Record<string, unknown>;
	if (typeof schema !== "number") return no("it is neither a baseline.json nor a result.json");
	const known = gates === undefined ? 1 : 2;
	if (schema !== known)
		return no(
			`its form has number ${schema}, this mqbench knows ${known}: mqbench report on its folder writes it again, or use the version that made it`,
		);
	if (gates !== undefined) {
		const result = ResultFile.safeParse(value).data;
		if (result === undefined) return no(tell("result-of-other-version"));
		return { baseline: baselineOf(result), why: "" };
	}
	const { data, error } = Baseline.safeParse(value);
	if (data !== undefined) return { baseline: data, why: "" };
	const [issue] = error.issues;
	return no(
		`it is no baseline.json of this version: ${issue?.path.join(".") || "it"}: ${issue?.message}`,
	);
}
