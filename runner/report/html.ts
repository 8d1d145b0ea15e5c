import { formatCount, formatDuration } from "../units.ts";
import { environment, runFacts } from "./html/facts.ts";
import { type Markup, markup, Markup as Raw } from "./html/markup.ts";
import { matrix } from "./html/matrix.ts";
import { omission } from "./html/omission.ts";
import { NAMES, percentileChart } from "./html/percentile-chart.ts";
import { phases } from "./html/phases.ts";
import {
	resourceChart,
	resourceRows,
	resourceTable,
} from "./html/resource-chart.ts";
import { searches } from "./html/searches.ts";
import {
	badge,
	counters,
	gatesTable,
	percentileTable,
	validityTable,
} from "./html/sections.ts";
import { slowest } from "./html/slowest.ts";
import { STYLE } from "./html/style.ts";
import { timeChart, timeRows, width } from "./html/time-chart.ts";
import { mostHidden } from "./omission.ts";
import type { Gate, Result, Run } from "./summary.ts";
import {
	closedText,
	drainText,
	factsText,
	loadText,
	machineText,
	offenderTexts,
	quickText,
	runTitle,
	sameHostText,
	systemText,
	verdictText,
	verdictWord,
	WEAK_MEANS,
	withoutSearches,
} from "./words.ts";

/** `report.html`: one file that needs neither network nor script. */
export function renderHtml(whole: Result): string {
	const result = withoutSearches(whole);
	const machine = machineText(result);
	const quick = quickText(result);
	return markup`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${result.scenario}: ${verdictWord(result)} - mqbench</title><style>${new Raw(STYLE)}</style></head><body>
<header><div class="head"><h1>${result.scenario}</h1>${badge(result.verdict, verdictWord(result))}</div>
${quick && markup`<p class="warn">${sentence(quick)}</p>`}
<p class="lead">${sentence(verdictText(result))}</p>
${machine === null ? null : markup`<p class="soft">Measured on ${machine}, ${startedAt(result)}.</p>`}
${noteOf(sameHostText(result))}</header>
<main>${searches(whole)}
${result.gates.length === 0 && whole.searches.length > 0 ? null : gatesTable(result.gates)}
${matrix(result)}
${result.runs.map((run, i) => runSection(run, i + 1, result))}
${howToRead()}
<section><div class="head"><h2>Environment</h2></div>${environment(result)}</section></main>
</body></html>
`.text;
}

// --- internal ---

/** What keeps the file below 500 kB: above so many runs they have no resources, slowest messages and quiet checks ... */
const RUNS_WITH_DETAILS = 8;
/**
 * ... and above so many, repeats after the first have no charts, runs that passed none over time, and none has its own curve that is
 * in the chart of its case.
 */
const RUNS_WITH_ALL_CHARTS = 24;
/** Points of all charts over time together: of longer runs the worst second of each stretch is shown. */
const MOST_POINTS = 600;

function runSection(run: Run, number: number, result: Result): Markup {
	const title = runTitle(run, result);
	const crowded = result.runs.length > RUNS_WITH_ALL_CHARTS;
	const short = crowded && run.repeat > 1;
	const compared = result.runs.some(
		(o) => o.case === run.case && o.system !== run.system,
	);
	const details = result.runs.length <= RUNS_WITH_DETAILS;
	const charts = short ? null : chartsOf(run, number, title, result);
	const facts = factsText(run, result);
	const closed = closedText(run);
	const drained = drainText(run);
	return markup`<section id="run-${number}"><div class="head"><h2>${title}</h2>${badge(run.verdict)}</div>
<p>${systemText(run)}</p><p class="soft">${sentence(loadText(run))}</p>
${run.why === null ? null : markup`<p class="${run.verdict}">${sentence(run.why)}</p>`}
${run.notes.map((note) => markup`<p class="warn">Note: ${note}</p>`)}
${
	run.state === "never"
		? null
		: markup`<h3>Latency by percentile${closed !== null && ` (${closed})`}</h3>
${crowded && compared ? null : (charts?.percentiles ?? null)}${percentileTable(run, facts)}
${phases(run, number, result)}
${drained !== null && markup`<p>${sentence(drained)}</p>`}
${omission(run)}
${crowded && run.verdict === "pass" ? null : (charts?.time ?? null)}
${details && slowest(run)}
<h3>Messages of the window</h3>${counters(run)}
${offenderTexts(run).map((text) => markup`<p>${sentence(text)}</p>`)}
${errorsOf(run)}
${validityTable(run, !details)}
${short ? null : markup`<details><summary>What it ran with</summary>${runFacts(run)}</details>`}`
}</section>`;
}

function noteOf(text: string | null): Markup | null {
	return text === null ? null : markup`<p class="soft">${sentence(text)}</p>`;
}

function chartsOf(
	run: Run,
	number: number,
	title: string,
	result: Result,
): { percentiles: Markup; time: Markup } {
	const gates = result.gates.filter(
		(g) => g.system === run.system && g.case === run.case,
	);
	const facts = `${factsText(run, result)}; ${run.case}`;
	const curve = percentileChart(
		`p${number}`,
		{ title: `Latency by percentile: ${title}`, facts },
		run,
		gates,
	);
	const runs = result.runs.length;
	const most = Math.min(300, Math.max(30, Math.floor(MOST_POINTS / runs)));
	const time = timeChart(
		`t${number}`,
		{
			title: `${sentence(run.main).slice(0, -1)} and rate over time: ${title}`,
			facts,
		},
		run,
		most,
	);
	const resources =
		runs > RUNS_WITH_DETAILS
			? null
			: resourceChart(
					`r${number}`,
					{ title: `CPU, memory and disk over time: ${title}`, facts },
					run,
					most,
				);
	const nothing = markup`<p>Nothing was measured.</p>`;
	return {
		percentiles:
			curve === null ? nothing : figure(curve, percentileKeys(run, gates)),
		time: markup`<h3>Over time</h3>
${time === null ? nothing : figure(time, timeKeys(run))}
${runs > RUNS_WITH_ALL_CHARTS ? null : timeTable(run, most)}
${resources && markup`${figure(resources, resourceKeys(run))}${resourceTable(run, most)}`}`,
	};
}

function figure(chart: Markup, keys: readonly [string, string][]): Markup {
	return markup`<figure><div class="wide">${chart}</div><figcaption>${keys.map(
		([name, text]) =>
			markup`<span class="key"><svg viewBox="0 0 26 8" aria-hidden="true"><g class="${name}"><path class="${name === "limit" || name === "beyond" ? name : "curve"}" d="M0 4H26"/></g></svg>${text}</span>`,
	)}</figcaption></figure>`;
}

function percentileKeys(run: Run, gates: readonly Gate[]): [string, string][] {
	const closed = run.load.schedule.kind === "closed";
	const texts = {
		response: "response: from the intended send time",
		service: "service: from the actual send",
		ack: closed
			? "ack: acknowledged, from the actual send"
			: "ack: acknowledged, from the intended send time",
		last: "last: until the last subscriber has its copy",
	};
	const keys = NAMES.filter((n) => (run.metrics[n]?.curve.length ?? 0) > 0).map(
		(n): [string, string] => [n, texts[n]],
	);
	keys.push([
		`${run.main} beyond`,
		"dotted: beyond what the samples carry, to the maximum",
	]);
	if (mostHidden(run) !== null)
		keys.push(["hidden", "what counting from the actual send would hide"]);
	if (gates.some((g) => g.limitNs !== null))
		keys.push(["limit", "SLA: the curve has to be below the mark"]);
	return keys;
}

function timeKeys(run: Run): [string, string][] {
	const keys: [string, string][] = [
		["max-line", "max"],
		["response", "p99"],
		["median", "p50"],
		["achieved", "send calls per second"],
	];
	if (run.load.pattern !== "publish")
		keys.push([
			"received",
			`${run.load.pattern === "fan-out" ? "copies " : ""}received per second`,
		]);
	if (run.load.schedule.kind !== "closed")
		keys.push(["limit", "scheduled rate"]);
	return keys;
}

function resourceKeys(run: Run): [string, string][] {
	const broker = resourceRows(run, 300).some((r) => r.brokerCores !== null);
	const keys: [string, string][] = [["achieved", "generator"]];
	return broker ? [...keys, ["broker", "broker"]] : keys;
}

function timeTable(run: Run, most: number): Markup | null {
	const rows = timeRows(run, most);
	const seconds = width(run, most);
	if (rows.length === 0) return null;
	const ns = (v: number | null) => (v === null ? "n/a" : formatDuration(v));
	return markup`<details><summary>The chart as a table${seconds > 1 && `: the worst second of each ${seconds}`}</summary><div class="wide"><table><thead><tr><th class="n">second</th><th class="n">p50</th><th class="n">p99</th><th class="n">max</th></tr></thead><tbody>
${rows.map(
	(
		r,
	) => markup`<tr><td class="n">${r.second}</td><td class="n">${ns(r.p50)}</td><td class="n">${ns(r.p99)}</td><td class="n">${ns(r.max)}</td></tr>
`,
)}</tbody></table></div></details>`;
}

function errorsOf(run: Run): Markup | null {
	if (run.errors.length === 0) return null;
	return markup`<h3>Errors</h3><div class="wide"><table><tbody>${run.errors.map(
		(
			e,
		) => markup`<tr><td class="n">${formatCount(e.count)} times</td><td><code>${e.message}</code></td></tr>
`,
	)}</tbody></table></div>`;
}

function howToRead(): Markup {
	return markup`<section><div class="head"><h2>How to read this</h2></div>
<p><b>Response</b> counts from the time at which the schedule meant a message to be sent, so a stall also delays those that had to wait for it. <b>Service</b> counts from the actual send. <b>Lag</b> is the generator's own lateness, <b>queued</b> what earlier blocking explains: response = queued + lag + service.</p>
<p>A message that failed, was lost or never offered counts as slower than every limit. <b>~</b> before a value: ${WEAK_MEANS}. <b>n/a</b>: too few samples for this percentile. In brackets: the interval that holds the true percentile with 95 % confidence.</p>
<p><b>INCONCLUSIVE</b>: the samples decide neither way. <b>INVALID</b>: the generator or the machine decided the result, not the system. Formulas: reports/README.md; <code>mqbench explain response</code>, <code>support</code> or <code>invalid</code>.</p></section>`;
}

/** "2026-01-01 00:00 UTC" */
function startedAt({ environment: e }: Result): string {
	return e === null ? "" : `${e.startedAt.slice(0, 16).replace("T", " ")} UTC`;
}

function sentence(text: string): string {
	return `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith(".") ? "" : "."}`;
}
