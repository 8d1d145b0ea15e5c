import type { Result, Run } from "../model/result.ts";
import { fateText } from "../result/fate.ts";
import { MANY_RUNS } from "../result/matrix.ts";
import {
	factsText,
	loadText,
	maxText,
	networkText,
	percentileName,
	percentileValue,
	runTitle,
	systemText,
	topologyText,
} from "../result/words.ts";
import { tell } from "../text/tell.ts";
import { formatCount } from "../units.ts";
import { type Block, type Chart, FILES, PAGE, type Section } from "./blocks.ts";
import { breakdown } from "./breakdown.ts";
import { brokerLog } from "./broker-log.ts";
import { checks, errors } from "./checks.ts";
import { counts } from "./counts.ts";
import { held } from "./held.ts";
import { charts, details, heading, list, paragraph, sentences, wordTable } from "./make.ts";
import { percentiles } from "./percentiles.ts";
import { runFacts } from "./run-facts.ts";
import { omission, slowest } from "./slowest.ts";
import { clientTable, failoverTable, phaseTable, type WordTable } from "./tables.ts";
import { drainText, offenderTexts } from "./words.ts";

/** Above so many runs each is folded, and has its three slowest messages and no quiet checks: there is no room for all of 100 runs. */
export const RUNS_WITH_DETAILS = 8;

/** All about one run, in the order of questions: how slow, when, what waited, what was lost, is it to be trusted, with what. */
export function runSection(run: Run, number: number, result: Result): Section {
	const many = result.runs.length >= MANY_RUNS;
	const full = result.runs.length <= RUNS_WITH_DETAILS;
	const title = runTitle(run, result);
	return {
		id: `run-${number}`,
		title,
		verdict: run.verdict,
		...(full ? { contents: title } : {}),
		run: { folded: full ? null : shortly(run), system: run.system, case: run.case },
		media: !many ? undefined : run.verdict === "pass" ? PAGE : FILES,
		blocks: [
			paragraph(systemText(run)),
			paragraph(loadText(run), "soft"),
			sentences([named("topology", topologyText(run)), named("network", networkText(run))], "soft"),
			paragraph(run.why, run.verdict),
			paragraph(fateText(run), run.verdict),
			...run.notes.map((note) => paragraph(`note: ${note}`, "warn")),
			...(run.state === "never"
				? titled(clientTable(run), { texts: 2 })
				: measured(run, result, full)),
		],
	};
}

/** A table of words with its title above and its sentences below; null: none. */
function titled(
	table: WordTable | null,
	{ texts = 1, caption }: { texts?: number; caption?: string } = {},
): Block[] {
	if (table === null) return [];
	const { title, head, rows, notes, meaning } = table;
	return [heading(title), ...words({ head, rows, notes, meaning }, texts, caption)];
}

/** The same without its title. */
export function words(
	{ head, rows, notes, meaning }: Omit<WordTable, "title">,
	texts: number,
	caption?: string,
): Block[] {
	return [
		wordTable(head, rows, { texts, caption }),
		sentences(notes, "small"),
		sentences(meaning, "small", FILES),
	];
}

// --- internal ---

function measured(run: Run, result: Result, full: boolean): Block[] {
	const facts = factsText(run, result);
	const table = full ? "now" : "later";
	const chart = (of: Extract<Chart, { run: number }>["of"]): Chart => ({ of, run: run.index });
	const shown = (of: readonly Chart[], title: string | null = null) => charts(of, title, table);
	// Of many runs only where there is something to explain.
	const explained = result.runs.length === 1 || run.verdict !== "pass";
	const media = explained ? FILES : PAGE;
	return [
		heading("Latency by percentile", { media: PAGE }),
		shown([chart("percentiles")]),
		...percentiles(run, facts),
		...breakdown(run, full ? media : []),
		...spark(run),
		...held(run),
		...phases(run, shown([chart("steps")]), facts),
		paragraph(drainText(run)),
		...titled(failoverTable([run]), { caption: facts }),
		...omission(run, full),
		shown([chart("time"), chart("heat")], "Over time"),
		...counts(run),
		list(offenderTexts(run)),
		...errors(run),
		...titled(clientTable(run), { texts: 2 }),
		...slowest(run, media, full),
		...brokerLog(run, full),
		...checks(run, !full),
		details("What it ran with", [runFacts(run, result, full)], PAGE),
	];
}

function named(name: string, text: string | null): string | null {
	return text === null ? null : `${name}: ${text}`;
}

/** Parts of the window; of steps latency over rate. */
function phases(run: Run, chart: Block, caption: string): Block[] {
	const table = phaseTable(run);
	return table === null
		? []
		: [heading(table.title), chart, wordTable(table.head, table.rows, { caption })];
}

/** p99 by second of the window. */
function spark(run: Run): Block[] {
	const seconds = run.series.seconds.filter(({ second }) => second >= 0);
	// A second without a p99 because messages never came is no quiet one.
	const never = seconds.filter((s) => s.p99 === null && (s.missing ?? 0) > 0);
	return [
		{
			kind: "spark",
			name: "p99 by second",
			unit: "ns",
			values: seconds.map(({ p99 }) => p99),
			notes: never.length === 0 ? [] : [tell("seconds-never-completed", { seconds: never.length })],
		},
	];
}

/** "p50 207us, p99 400ms, max 500ms, 3 lost" */
function shortly(run: Run): string {
	const m = run.metrics[run.main];
	if (m === null) return "nothing was measured";
	const values = [50, 99].flatMap((p) => {
		const percentile = m.percentiles.find((x) => x.p === p);
		return percentile ? [`${percentileName(p)} ${percentileValue(percentile, run)}`] : [];
	});
	const lost = run.lost ? [`${formatCount(run.lost)} lost`] : [];
	const speaking = run.validity.filter(({ status }) => status === "warn" || status === "invalid");
	const doubts = speaking.map(({ check }) => check).join(", ");
	return [
		...values,
		`max ${maxText(m, run)}`,
		...lost,
		...(doubts === "" ? [] : [tell("checks-warn", { doubts })]),
	].join(", ");
}
