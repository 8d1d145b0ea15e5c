import type { Gate, MetricSummary, Run } from "../../model/result.ts";
import { formatCount, formatDuration } from "../../units.ts";
import {
	countNotes,
	countsOf,
	countText,
	gateInterval,
	gateMargin,
	intervalText,
	maxText,
	percentileName,
	percentileValue,
	rateTexts,
	requiredSamplesText,
} from "../words.ts";
import { type Markup, markup } from "./markup.ts";

/** The tables of the report. */

export function badge(verdict: string, text = verdict.toUpperCase()): Markup {
	return markup`<span class="badge ${verdict}">${text}</span>`;
}

/** `anchor` is where in the page the runs of a gate are. */
export function gatesTable(
	gates: readonly Gate[],
	anchor: (system: string, name: string) => string | null,
): Markup {
	if (gates.length === 0)
		return markup`<p>No SLA: nothing was judged. The verdict says whether the measurement is to be trusted.</p>`;
	const several = new Set(gates.map((g) => `${g.system}, ${g.case}`)).size > 1;
	const table = (some: readonly Gate[]) => gateRows(some, several, anchor);
	const passed = gates.filter((g) => g.verdict === "pass");
	if (gates.length <= MOST_GATES || passed.length === 0) return table(gates);
	const others = gates.filter((g) => g.verdict !== "pass");
	return markup`${others.length > 0 && table(others)}<details><summary>${passed.length === gates.length ? `All ${gates.length}` : `${passed.length} of ${gates.length}`} SLA lines are met: which</summary>${table(passed)}</details>`;
}

/** From more on, those that pass are folded. */
const MOST_GATES = 8;

function gateRows(
	gates: readonly Gate[],
	several: boolean,
	anchor: (system: string, name: string) => string | null,
): Markup {
	return markup`<div class="wide gates"><table><thead><tr><th>SLA</th>${several && markup`<th>system, case</th>`}<th>verdict</th><th>measured</th><th>limit</th><th>margin</th><th>why</th></tr></thead><tbody>
${gates.map(
	(g) =>
		markup`<tr><th scope="row"><code>${g.sla}</code>${g.line !== null && markup`<small>scenario.yaml:${g.line}</small>`}</th>${several && markup`<td>${linked(`${g.system}, ${g.case}`, anchor(g.system, g.case))}</td>`}<td>${badge(g.verdict)}</td><td data-l="measured">${g.measured}<small>${gateInterval(g)}</small></td><td data-l="limit">${g.limit}</td><td>${gateMargin(g).replace(" the limit", "")}</td><td>${g.why}</td></tr>
`,
)}</tbody></table></div>`;
}

function linked(text: string, to: string | null): Markup {
	return to === null ? markup`${text}` : markup`<a href="${to}">${text}</a>`;
}

/** The window's percentiles of every metric; `facts` says of which system, and where. */
export function percentileTable(run: Run, facts: string): Markup {
	const metrics = (
		["response", "service", "lag", "queued", "ack", "last"] as const
	)
		.map((name) => [name, run.metrics[name]] as const)
		.filter((m): m is [(typeof m)[0], MetricSummary] => m[1] !== null);
	// Of those that nothing carries the first one says what it needs.
	const percentiles = (metrics[0]?.[1].percentiles ?? [])
		.filter(
			(p, i, all) => p.support !== "none" || all[i - 1]?.support !== "none",
		)
		.map((p) => p.p);
	const cell = (m: MetricSummary, p: number) => {
		const found = m.percentiles.find((x) => x.p === p);
		if (found === undefined) return markup`<td></td>`;
		return found.support === "none"
			? markup`<td class="soft">n/a</td>`
			: markup`<td>${percentileValue(found, run)} <small>${intervalText(found)}</small></td>`;
	};
	const required = (p: number) => {
		const found = metrics[0]?.[1].percentiles.find((x) => x.p === p);
		return found?.support === "none"
			? markup` <small>${requiredSamplesText(found, run, metrics[0]?.[0])}</small>`
			: null;
	};
	const plain = (ns: number | null) =>
		markup`<td>${ns === null ? "n/a" : formatDuration(ns)}</td>`;
	const [first] = metrics;
	if (first === undefined) return markup`<p>Nothing was measured.</p>`;
	return markup`<div class="wide"><table class="p"><caption>${facts}</caption><thead><tr><th scope="col">percentile</th>${metrics.map(([name]) => markup`<th scope="col">${name}</th>`)}</tr></thead><tbody>
${percentiles.map(
	(p) =>
		markup`<tr><th scope="row">${percentileName(p)}${required(p)}</th>${metrics.map(([, m]) => cell(m, p))}</tr>
`,
)}<tr><th scope="row">min</th>${metrics.map(([, m]) => plain(m.min))}</tr>
<tr><th scope="row">mean</th>${metrics.map(([, m]) => plain(m.mean))}</tr>
<tr><th scope="row">max</th>${metrics.map(([, m]) => markup`<td>${maxText(m, run)}${m.censored > 0 && m.max !== null && markup` <small>${formatDuration(m.max)} of those that completed</small>`}</td>`)}</tr>
<tr><th scope="row">samples</th>${metrics.map(([, m]) => markup`<td>${formatCount(m.n)}${m.censored > 0 && markup` <small>${formatCount(m.censored)} never completed</small>`}</td>`)}</tr>
</tbody></table></div>`;
}

export function counters(run: Run): Markup {
	const bad = new Set([
		"lost",
		"copies lost",
		"failed",
		"unknown",
		"duplicated",
		"reordered",
		"redelivered",
		"corrupted",
		"not offered",
		"late",
	]);
	const item = ([name, n]: [string, number | null]) =>
		markup`<div${bad.has(name) && n !== null && n > 0 && markup` class="alert"`}><dt>${name}</dt><dd>${countText(n)}</dd></div>`;
	const rate = (name: string, n: number | null) =>
		markup`<div><dt>${name}</dt><dd>${n === null ? "n/a" : `${formatCount(n)}/s`}</dd></div>`;
	const warmup = countsOf(run, run.warmup)
		.filter(([, n]) => n !== null)
		.map(([name, n]) => `${name} ${countText(n)}`);
	return markup`<dl class="counts">${countsOf(run).map(item)}${rates(run).map(([name, n]) => rate(name, n))}</dl>
${rateTexts(run).map((text) => markup`<p class="soft"><small>${text}.</small></p>`)}
<p class="soft"><small>Warm-up: ${warmup.join(", ")}.${run.acked === null && run.load.pattern !== "publish" && " This system acknowledges nothing: lost is lost of sent."}${countNotes(run).map((text) => ` ${text.charAt(0).toUpperCase()}${text.slice(1)}.`)}</small></p>`;
}

/** Those that a load of this kind has. */
function rates(run: Run): [string, number | null][] {
	const { sent, received, achieved } = run.throughput;
	const all: [string, number | null][] =
		run.load.schedule.kind === "closed"
			? [["sent rate", sent]]
			: [["achieved rate", achieved]];
	const copies =
		run.load.pattern === "fan-out" ? "copies received rate" : "received rate";
	return run.load.pattern === "publish" ? all : [...all, [copies, received]];
}

/** What was found stands open; what is well, or not known, is folded. `short`: only what was found. */
export function validityTable(run: Run, short: boolean): Markup | null {
	if (run.validity.length === 0) return null;
	const found = run.validity.filter((c) => !QUIET.has(c.status));
	const quiet = run.validity.filter((c) => QUIET.has(c.status));
	const unknown = quiet.filter((c) => c.status === "unknown").length;
	const summary = `${quiet.length - unknown} checks found nothing${unknown > 0 ? `, ${unknown} could not be made` : ""}`;
	return markup`<h3>Is the measurement to be trusted?</h3>${found.length > 0 && checks(found)}
${short ? markup`<p class="soft">${summary}.</p>` : markup`<details><summary>${summary}</summary>${checks(quiet)}</details>`}`;
}

const QUIET: ReadonlySet<string> = new Set(["ok", "unknown"]);

function checks(list: Run["validity"]): Markup {
	return markup`<div class="wide"><table class="checks"><tbody>
${list.map(
	(c) =>
		markup`<tr><th scope="row">${c.check}</th><td class="${c.status}">${c.status}</td><td>${c.detail}${c.remedy !== null && markup`<small>What to do: ${c.remedy}.</small>`}</td><td class="n">${c.figure}${c.limit !== null && markup`<small>limit ${c.limit}</small>`}</td></tr>
`,
)}</tbody></table></div>`;
}

/** What else was written down: machine, versions, options. */
export function factsTable(
	rows: readonly [string, string | Markup | null][],
): Markup {
	return markup`<div class="wide"><table class="facts"><tbody>${rows
		.filter(([, value]) => value !== null && value !== "")
		.map(
			([
				name,
				value,
			]) => markup`<tr><th scope="row">${name}</th><td>${value}</td></tr>
`,
		)}</tbody></table></div>`;
}
