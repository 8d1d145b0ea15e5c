import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { outputNotes } from "./output-notes.ts";

function folder(...logs: string[]): string {
	const made = mkdtempSync(path.join(tmpdir(), "mqbench-outputs-"));
	onTestFinished(() => rmSync(made, { recursive: true }));
	for (const [i, text] of logs.entries()) writeFileSync(path.join(made, `client-${i}.log`), text);
	return made;
}

const SENDING =
	'time="2026-11-26T15:00:00Z" level=error msg="Failed to send the time series data to the endpoint" error="HTTP POST request failed: Post \\"http://127.0.0.1:9/api/v1/write\\": connect: connection refused" output="Prometheus remote write"\n';

test("an output that cannot be reached is a note with the first of its complaints", () => {
	expect(
		outputNotes(folder(SENDING.repeat(2), SENDING), 2, [
			"experimental-prometheus-rw",
			"json=samples.json",
		]),
	).toEqual([
		'outputs of k6 (experimental-prometheus-rw, json) complained 3 times, and may lack samples; the figures here are whole: Failed to send the time series data to the endpoint: HTTP POST request failed: Post "http://127.0.0.1:9/api/v1/write": connect: connection refused',
	]);
});

test("nothing is said of outputs that work, nor without any", () => {
	const quiet = 'level=info msg="started"\n';
	expect(outputNotes(folder(quiet), 1, ["json"])).toEqual([]);
	expect(outputNotes(folder(SENDING), 1, [])).toEqual([]);
	expect(outputNotes(folder(), 3, ["json"])).toEqual([]);
});
