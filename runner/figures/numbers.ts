import type { Result, Run } from "../model/result.ts";

/** Position of each system among all of the report: its colour. */
export function systemNumbers(result: Result): ReadonlyMap<string, number> {
	return numbered(result.runs.map((run) => run.system));
}

/** "run-01-nats-256B-1": the names of a run's pictures begin so, as its folder is called. */
export function runId({ folder }: Run): string {
	const name = folder.split("/").at(-1) ?? folder;
	return `run-${name.replaceAll(/[^A-Za-z0-9]+/g, "-")}`;
}

// --- internal ---

function numbered(names: readonly string[]): Map<string, number> {
	return new Map([...new Set(names)].map((name, i) => [name, i]));
}
