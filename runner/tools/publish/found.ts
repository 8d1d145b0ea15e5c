import type { Result, Run } from "../../model/result.ts";
import { runTitle } from "../../result/words.ts";

/**
 * Searches each run, and reports a finding once for all runs with the same one: "nats, 256B, repeat 1 of 3 and 4 more". `find` gives null
 * for a run without a finding, and `alike` the key that equal findings share.
 */
export function found<Finding>(
	runs: readonly Run[],
	result: Result,
	find: (run: Run) => Finding | null,
	sentence: (runs: string, finding: Finding, run: Run) => string,
	alike: (finding: Finding) => string = () => "",
): string[] {
	const groups = new Map<string, { run: Run; finding: Finding; n: number }>();
	for (const run of runs) {
		const finding = find(run);
		if (finding === null) continue;
		const group = groups.get(alike(finding));
		if (group) group.n++;
		else groups.set(alike(finding), { run, finding, n: 1 });
	}
	return [...groups.values()].map(({ run, finding, n }) => {
		const title = runTitle(run, result);
		const which = n === 1 ? title : `${title} and ${n - 1} more`;
		return sentence(which, finding, run);
	});
}

export function checkOf({ validity }: Run, name: string) {
	return validity.find(({ check }) => check === name);
}
