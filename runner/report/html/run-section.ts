import type { Result, Run } from "../../model/result.ts";
import { formatCount, plural } from "../../units.ts";
import type { ReportFigures } from "../charts/figures.ts";
import { figureBlock } from "../page/html-page.ts";
import { sentence } from "../sentence.ts";
import {
	closedText,
	drainText,
	factsText,
	loadText,
	maxText,
	networkText,
	offenderTexts,
	percentileName,
	percentileValue,
	runTitle,
	systemText,
	topologyText,
} from "../words.ts";
import { runFacts } from "./facts.ts";
import { clients, failover } from "./failover.ts";
import { type Markup, markup } from "./markup.ts";
import { omission } from "./omission.ts";
import { phases } from "./phases.ts";
import { badge, counters, percentileTable, validityTable } from "./sections.ts";
import { slowest } from "./slowest.ts";

/** Above so many runs each is folded, and has neither slowest messages nor quiet checks: there is no room for 100 of them. */
export const RUNS_WITH_DETAILS = 8;

/** All about one run, in the order of questions: how slow, when, what waited, what was lost, is it to be trusted, with what. */
export function runSection(
	run: Run,
	number: number,
	result: Result,
	figures: ReportFigures,
): Markup {
	const title = runTitle(run, result);
	const content = contentOf(run, result, figures);
	return result.runs.length <= RUNS_WITH_DETAILS
		? markup`<section class="run" id="run-${number}"><div class="head"><h2>${title}</h2>${badge(run.verdict)}</div>
${content}</section>`
		: markup`<details class="run" id="run-${number}"><summary><span class="head"><b>${title}</b>${badge(run.verdict)}<span class="soft">${shortly(run)}</span></span></summary>
${content}</details>`;
}

// --- internal ---

function contentOf(run: Run, result: Result, figures: ReportFigures): Markup {
	const details = result.runs.length <= RUNS_WITH_DETAILS;
	const table = details ? "now" : "later";
	const { percentiles, time, heat, steps } = figures.runs.get(run.index) ?? {
		percentiles: null,
		time: null,
		heat: null,
		steps: null,
	};
	const closed = closedText(run);
	const drained = drainText(run);
	const names = [run.system];
	const topology = topologyText(run);
	const network = networkText(run);
	return markup`<p>${systemText(run)}</p><p class="soft">${sentence(loadText(run))}</p>
${topology !== null && markup`<p class="soft">Topology: ${topology}.</p>`}
${network !== null && markup`<p class="soft">Network: ${network}.</p>`}
${run.why === null ? null : markup`<p class="${run.verdict}">${sentence(run.why, names)}</p>`}
${run.notes.map((note) => markup`<p class="warn">Note: ${note}</p>`)}
${run.state === "never" && clients(run)}
${
	run.state !== "never" &&
	markup`<h3>Latency by percentile${closed !== null && ` (${closed})`}</h3>
${percentiles && figureBlock(percentiles, { table })}
${percentileTable(run, factsText(run, result))}
${phases(run, steps, result)}
${drained !== null && markup`<p>${sentence(drained)}</p>`}
${failover(run, result)}
${omission(run, details)}
${time && markup`<h3>Over time</h3>${figureBlock(time, { table })}`}
${heat && markup`${time === null && markup`<h3>Over time</h3>`}${figureBlock(heat, { table })}`}
${details && slowest(run)}
<h3>Messages of the window</h3>${counters(run)}
${offenderTexts(run).map((text) => markup`<p>${sentence(text)}</p>`)}
${errorsOf(run)}
${clients(run)}
${validityTable(run, !details)}
<details><summary>What it ran with</summary>${runFacts(run, result, details)}</details>`
}`;
}

/** "p50 207us, p99 400ms, max 500ms, 3 lost" */
function shortly(run: Run): string {
	const m = run.metrics[run.main];
	if (m === null) return "nothing was measured";
	const values = [50, 99].flatMap((p) => {
		const found = m.percentiles.find((x) => x.p === p);
		return found ? [`${percentileName(p)} ${percentileValue(found, run)}`] : [];
	});
	const lost = run.lost ? [`${formatCount(run.lost)} lost`] : [];
	return [...values, `max ${maxText(m, run)}`, ...lost].join(", ");
}

function errorsOf(run: Run): Markup | null {
	if (run.errors.length === 0) return null;
	return markup`<h3>Errors</h3><div class="wide"><table><tbody>${run.errors.map(
		(
			e,
		) => markup`<tr><td class="n">${plural(e.count, "time")}</td><td><code>${e.message}</code></td></tr>
`,
	)}</tbody></table></div>`;
}
