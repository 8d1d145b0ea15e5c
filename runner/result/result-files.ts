import { join } from "node:path";
import { failure } from "../errors.ts";
import { damageIn, readJson } from "../evidence/json.ts";
import { inside } from "../given-folder.ts";
import { byMetric } from "../model/plan.ts";
import {
	DetailsFile,
	type MetricSummary,
	type Result,
	ResultFile,
	type Run,
	type RunInFile,
} from "../model/result.ts";
import { readableJson } from "./json.ts";
import { REPORT_FILES } from "./reporters.ts";

export function detailsPath({ folder }: Pick<Run, "folder">): string {
	return `${folder}/details.json`;
}

/** By path. result.json comes last: everything that it names exists by then. */
export function filesOfResult(result: Result): Map<string, string> {
	const runs = result.runs.map((run) => split(run, result));
	const files = new Map<string, string>();
	for (const { run, details } of runs)
		if (run.details !== null) files.set(run.details, `${JSON.stringify(details)}\n`);
	const file: ResultFile = { ...result, runs: runs.map(({ run }) => run) };
	return files.set(REPORT_FILES.json, `${readableJson(file)}\n`);
}

/** A result whose raw files are gone. Missing details, or another run's, leave `details: null`. Throws without result.json. */
export function readResult(folder: string): Result {
	const path = join(folder, REPORT_FILES.json);
	let result: ResultFile;
	try {
		result = readJson(path, ResultFile);
	} catch (error) {
		throw failure("result-unreadable", { path, reason: damageIn(error) });
	}
	const runs = result.runs.map((run) => whole(run, detailsOf(folder, run, result.runId)));
	return { ...result, runs };
}

// --- internal ---

function split(
	{ series, slowest, omission, brokerLog, ...run }: Run,
	{ runId }: Result,
): { readonly run: RunInFile; readonly details: DetailsFile } {
	const curves: DetailsFile["curves"] = {};
	const metrics = byMetric((name) => {
		if (run.metrics[name] === null) return null;
		const { curve, ...figures } = run.metrics[name];
		curves[name] = curve;
		return figures;
	});
	const { startedAt } = run;
	const details = { series, slowest, omission, curves, ...(brokerLog && { brokerLog }) };
	return { run: { ...run, metrics }, details: { schema: 1, runId, startedAt, ...details } };
}

function whole(run: RunInFile, file: DetailsFile | null): Run {
	const { series, slowest, omission, curves, brokerLog } = file ?? NOTHING;
	const metrics = byMetric((name): MetricSummary | null => {
		const figures = run.metrics[name];
		return figures && { ...figures, curve: curves[name] ?? [] };
	});
	const details = { series, slowest, omission, ...(brokerLog && { brokerLog }) };
	return { ...run, metrics, ...details, details: file && run.details };
}

const NOTHING: Omit<DetailsFile, "schema" | "runId" | "startedAt"> = {
	series: { seconds: [], heat: null, ticks: [], resources: [], hosts: [] },
	slowest: [],
	omission: null,
	curves: {},
};

function detailsOf(folder: string, { details, startedAt }: RunInFile, runId: string) {
	if (details === null) return null;
	try {
		const file = readJson(inside(folder, details), DetailsFile);
		return file.runId === runId && file.startedAt === startedAt ? file : null;
	} catch {
		return null;
	}
}
