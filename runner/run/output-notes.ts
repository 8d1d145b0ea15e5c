import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

/**
 * What outputs of k6 (`--k6-out`) complained of in a run that came to its end: a note, for the figures of the run are whole, and whoever looks at
 * the other end sees only a gap. From k6's own logs, in which secrets are masked already.
 */
export function outputNotes(folder: string, clients: number, outs: readonly string[]): string[] {
	if (outs.length === 0) return [];
	const complaints = Array.from({ length: clients }, (_, index) =>
		path.join(folder, `client-${index}.log`),
	)
		.filter((log) => existsSync(log))
		.flatMap((log) =>
			readFileSync(log, "utf8")
				.split("\n")
				.filter((line) => /\blevel=(warning|error)\b/.test(line)),
		);
	const [first] = complaints;
	return first === undefined
		? []
		: [
				`outputs of k6 (${outs.map((out) => out.split("=")[0] ?? out).join(", ")}) complained ${complaints.length} times, and may lack samples; the figures here are whole: ${wordsOf(first)}`,
			];
}

// --- internal ---

/** `level=error msg="Failed to send" error="connection refused"` -> "Failed to send: connection refused". */
function wordsOf(line: string): string {
	const value = (name: string) =>
		new RegExp(`\\b${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|(\\S+))`)
			.exec(line)
			?.slice(1)
			.find((text) => text !== undefined)
			?.replaceAll('\\"', '"');
	return [value("msg") ?? line.trim(), value("error")]
		.filter((part) => part !== undefined)
		.join(": ");
}
