import type { Failover, Result, Run } from "../model/result.ts";
import { faultZeroNs } from "../run/faults.ts";
import { tell } from "../text/tell.ts";
import { formatDuration } from "../units.ts";
import { faultName } from "../verdict/checks/run.ts";
import { BIN_NS } from "../verdict/failover.ts";
import { countText, runTitle, windowTime } from "./words.ts";

/** What each fault did to a run, or to several, as words: the same in every report. */
export interface FailoverTable {
	/** "Failover: what each fault did". */
	readonly title: string;
	readonly head: readonly string[];
	readonly rows: readonly (readonly string[])[];
	/** What became of messages, what went wrong: sentences without their full stop. */
	readonly notes: readonly string[];
	/** What the columns mean; a terminal has no room for it. */
	readonly meaning: readonly string[];
}

/** The faults of one run; null: nothing was done to its broker. */
export function failoverTable(run: Run): FailoverTable | null {
	if (run.failover.length === 0) return null;
	const again = againName([run]);
	return {
		title: TITLE,
		head: ["fault", ...headOf([run], again)],
		rows: run.failover.map((f, i) => [faultName(f), ...cellsOf(f, run, i)]),
		notes: [countsText(run), ...problemsOf(run)],
		meaning: [meaningOf([run], again)],
	};
}

/** The faults of all runs below each other; null: fewer than two runs have any. */
export function failoverOfAll(result: Result): FailoverTable | null {
	const runs = result.runs.filter((run) => run.failover.length > 0);
	if (runs.length < 2) return null;
	const again = againName(runs);
	return {
		title: TITLE,
		head: ["run", "fault", ...headOf(runs, again), ...COUNTS],
		rows: runs.flatMap((run) =>
			run.failover.map((f, i) => [
				runTitle(run, result),
				faultName(f),
				...cellsOf(f, run, i),
				...COUNTS.map((name) => countText(run[name])),
			]),
		),
		notes: [tell("failover-counts-window")],
		meaning: [meaningOf(runs, again)],
	};
}

/**
 * "kill of node 2 (the leader) 4s after the window opened, for 2s: without acknowledgements for 1.2s, 0.1s after it began; back under p99 < 20ms after
 * 1.3s; drained after 1.4s": for each fault of a run.
 */
export function failoverTexts(run: Run): string[] {
	return run.failover.map((f, i) => {
		const [, lasted, without, again, drained] = cellsOf(f, run, i);
		const texts = [
			`without ${completions([run])}: ${without}`,
			...(f.sla === null ? [] : [`back under ${f.sla}: ${again}`]),
			`drained: ${drained}`,
		];
		return `${faultName(f)} ${windowTime(faultZeroNs(f), run)}, for ${lasted}: ${f.error === null ? texts.join("; ") : `not as planned: ${f.error}`}`;
	});
}

/** "4.004s": when it was, from the opening of the window. */
export function faultAt(fault: Failover, { window }: Pick<Run, "window">): string {
	return `${Number(((faultZeroNs(fault) - window.startNs) / 1e9).toFixed(3))}s`;
}

// --- internal ---

const TITLE = "Failover: what each fault did";

const COUNTS = ["failed", "unknown", "lost", "duplicated", "reordered"] as const;

/** "acknowledgements" or "receipts": what was counted every 10 ms. */
function completions(runs: readonly Run[]): string {
	const kinds = new Set(runs.map((run) => (run.load.acks ? "acknowledgements" : "receipts")));
	return [...kinds].join(" or ");
}

/** "back under p99 < 20ms"; where runs have several such lines "back under the limit". */
function againName(runs: readonly Run[]): string {
	const lines = new Set(runs.flatMap((run) => run.failover.map(({ sla }) => sla)));
	const [only] = lines;
	return lines.size === 1 && only != null ? `back under ${only}` : "back under the limit";
}

function headOf(runs: readonly Run[], again: string): string[] {
	return ["at", "for", `without ${completions(runs)}`, again, "drained"];
}

function cellsOf(f: Failover, run: Run, index: number): [string, string, string, string, string] {
	const next = run.failover[index + 1] !== undefined;
	const never = next ? tell("not-before-next-fault") : "not in this run";
	const known = f.error === null && run.state === "complete";
	const after = (ns: number | null, has = true) => {
		if (!known || !has) return "n/a";
		if (ns === null) return never;
		return ns === 0 ? "at once" : `after ${formatDuration(ns)}`;
	};
	return [
		faultAt(f, run),
		f.endedNs === null ? "ever" : formatDuration(Math.max(0, f.endedNs - f.beganNs)),
		unavailableText(f, run),
		after(f.recoveredNs, f.sla !== null),
		after(f.drainedNs, f.drainedNs !== null || f.drainedStill),
	];
}

/** "1.24s from 4.21s on", "at least 6s from 4s on", "none", "n/a" */
function unavailableText(f: Failover, run: Run): string {
	if (f.unavailableNs === null) return "n/a";
	if (f.unavailableNs === 0 || f.unavailableFromNs === null) return "none";
	const from = Number(((f.unavailableFromNs - run.window.startNs) / 1e9).toFixed(3));
	return `${f.unavailableStill ? "at least " : ""}${formatDuration(f.unavailableNs)} from ${from}s on`;
}

function countsText(run: Run): string {
	return tell("window-counts", { counts: COUNTS.map((name) => `${name} ${countText(run[name])}`) });
}

function problemsOf(run: Run): string[] {
	return run.failover.flatMap((f) =>
		f.error === null
			? []
			: [tell("fault-not-as-planned", { fault: faultName(f), reason: f.error })],
	);
}

function meaningOf(runs: readonly Run[], again: string): string {
	return tell("failover-means", {
		completions: completions(runs),
		piece: formatDuration(BIN_NS),
		again,
	});
}
