import path from "node:path";
import { didYouMean } from "../suggest.ts";
import { quoted } from "./place.ts";
import { type Problem, refuse } from "./problem.ts";
import type { Scenario } from "./scenario.ts";

/**
 * What `baseline` of a scenario names: a system of it, else a file or folder, which counts from the scenario's `folder`. `keys`:
 * of all systems. Whether there is such a file is asked when it is read: a scenario is also checked where it is not.
 */
export function resolveBaseline(
	written: string | undefined,
	keys: readonly string[],
	folder: string,
): { baseline: Scenario["baseline"]; problems: Problem[] } {
	const none = (problem: Problem) => ({ baseline: null, problems: [problem] });
	if (written === undefined) return { baseline: null, problems: [] };
	if (keys.includes(written))
		return keys.length > 1
			? { baseline: { system: written, path: null }, problems: [] }
			: none(refuse(["baseline"], "baseline-alone"));
	const [word, meant] = [quoted(written), didYouMean(written, keys)];
	if (!/[/\\]|\.json$/.test(written))
		return none(
			meant.endsWith("?")
				? refuse(["baseline"], "unknown-baseline", { word, meant })
				: refuse(["baseline"], "baseline-or-file", { word, written }),
		);
	return { baseline: { system: null, path: path.resolve(folder, written) }, problems: [] };
}
