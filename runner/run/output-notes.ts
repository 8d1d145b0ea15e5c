import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { logged } from "./k6.ts";

/**
 * What outputs of k6 (`--k6-out`) complained of in a run that came to its end: a note, for the figures of the run are whole, and whoever looks at
 * the other end sees only a gap. From k6's own logs, in which secrets are masked already.
 */
export function outputNotes(folder: string, clients: number, outs: readonly string[]): string[] {
	if (outs.length === 0) return [];
	const logs = Array.from({ length: clients }, (_, index) => `client-${index}.log`)
		.map((name) => path.join(folder, name))
		.filter((log) => existsSync(log));
	const complaints = logs.flatMap(
		(log) => readFileSync(log, "utf8").match(/^.*\blevel=(?:warning|error)\b.*$/gm) ?? [],
	);
	const [first] = complaints;
	return first === undefined
		? []
		: [
				`outputs of k6 (${outs.map((out) => out.split("=")[0] ?? out).join(", ")}) complained ${complaints.length} times, and may lack samples; the figures here are whole: ${logged(first)}`,
			];
}
