import { runId } from "../figures/facts.ts";
import type { Result, Run } from "../model/result.ts";
import { fateText, loadText, offenderText, runTitle } from "../result/words.ts";
import { type Block, type Figures, type Fold, fold, heading, list, text } from "./blocks.ts";
import { breakdown } from "./breakdown.ts";
import { brokerLog } from "./broker-log.ts";
import { MANY_RUNS } from "./cases.ts";
import { checks, errors } from "./checks.ts";
import { counts } from "./counts.ts";
import { held, overTime } from "./over-time.ts";
import { percentiles } from "./percentiles.ts";
import { runFacts } from "./run-facts.ts";
import { omission, slowest } from "./slowest.ts";
import { clients, phases } from "./tables.ts";
import { drainText, networkText, systemFacts } from "./words.ts";

/** Above so many runs each is folded, and has its three slowest messages and no quiet checks: there is no room for all of 100 runs. */
export const RUNS_WITH_DETAILS = 8;

/** All about one run, in the order of questions: how slow, when, what waited, what was lost, is it to be trusted, with what. */
export function runSection(run: Run, number: number, result: Result): Fold {
	const many = result.runs.length >= MANY_RUNS;
	const full = result.runs.length <= RUNS_WITH_DETAILS;
	const network = networkText(run);
	return fold(
		runTitle(run, result),
		[
			text(systemFacts(run)),
			text(loadText(run), "soft"),
			text(network === null ? null : `network: ${network}`, "soft"),
			text(run.why, run.verdict),
			text(fateText(run), run.verdict),
			...run.notes.map((note) => text(`note: ${note}`, "warn")),
			...(run.state === "never" ? clients(run) : measured(run, result, full)),
		],
		{
			id: `run-${number}`,
			badge: run.verdict,
			depth: !many ? 1 : run.verdict === "pass" ? 3 : 2,
			open: full ? 3 : undefined,
		},
	);
}

// --- internal ---

function measured(run: Run, result: Result, full: boolean): Block[] {
	const figures = (kinds: readonly string[], title?: string): Figures => ({
		kind: "figures",
		ids: kinds.map((kind) => `${runId(run)}-${kind}`),
		title,
	});
	// Of many runs only where there is something to explain.
	const explained = result.runs.length === 1 || run.verdict !== "pass";
	return [
		...phases(run, figures(["steps"])),
		heading("Latency by percentile", 3),
		figures(["percentiles"]),
		...percentiles(run),
		...breakdown(run, full ? (explained ? 2 : 3) : null),
		...overTime(run),
		...held(run),
		text(drainText(run)),
		...omission(run),
		figures(["time", "heat"], "Over time"),
		...counts(run),
		list(Object.keys(run.offenders).flatMap((kind) => offenderText(kind, run) ?? [])),
		...errors(run),
		...clients(run),
		...slowest(run, explained ? 2 : 3),
		...brokerLog(run),
		...checks(run, !full),
		fold("What it ran with", [runFacts(run)], { depth: 3 }),
	];
}
