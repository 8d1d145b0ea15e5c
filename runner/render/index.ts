import { dateText } from "../chart/units.ts";
import { type KnownMachine, machinesOf } from "../compare/machine.ts";
import { type Trend, trendsOf } from "../figures/trends.ts";
import { figureBlock, renderPage } from "../page/html-page.ts";
import { type Markup, markup } from "../page/markup.ts";
import { commitsOf, commitText } from "../result/commit.ts";
import { systemTexts } from "../result/headline.ts";
import type { Entry } from "../result/indexed.ts";
import { verdictWord } from "../result/words.ts";
import { tell } from "../text/tell.ts";
import { plural } from "../units.ts";

/**
 * `index.html` of a folder of runs: all of them, the newest first, and their figures over time. Links are relative to it: the folder
 * can be published as it is. `page/client/filter.ts` makes the filter work; without JavaScript the table is there with all its links.
 */
export function renderIndex(entries: readonly Entry[]): string {
	const machines = machinesOf(entries);
	const trends = trendsOf(entries);
	const points = trends
		.flatMap(({ figure }) => figure.panels.flatMap(({ series }) => series))
		.reduce((sum, { data }) => sum + data.length, 0);
	return renderPage({
		title: `${plural(entries.length, "result")} - mqbench`,
		header: markup`<div class="head"><h1>${plural(entries.length, "result")}</h1></div><p class="lead">${summary(entries)}</p>
<nav class="toc" aria-label="On this page"><ul><li><a href="#results">Results</a></li><li><a href="#over-time">Over time</a></li><li><a href="#machines">Machines</a></li></ul></nav>`,
		main: markup`<section id="results"><div class="head"><h2>Newest first</h2></div>${filter(entries)}${table(entries, machines)}</section>
${overTime(trends, points > MOST_ROWS ? "later" : "now")}
${machineList(machines)}`,
		figures: trends.map(({ figure }) => figure),
	});
}

// --- internal ---

/** Of more points the tables of charts are made in the browser: all of them also stand in the reports. */
const MOST_ROWS = 5000;

const NO_RESULT = "no result";

function verdictOf({ verdict }: Entry): string {
	return verdict ?? NO_RESULT;
}

function summary(entries: readonly Entry[]): string {
	const verdicts = [...counted(entries.map(verdictOf))].map(([verdict, n]) => `${n} ${verdict}`);
	const scenarios = new Set(entries.flatMap(({ scenario }) => scenario ?? []));
	const [newest] = entries.filter(({ at }) => at !== null);
	return [
		`Of ${plural(scenarios.size, "scenario")}: ${verdicts.join(", ")}.`,
		newest?.at == null ? "" : `The newest is of ${dateText(newest.at)}.`,
	]
		.filter((part) => part !== "")
		.join(" ");
}

/** Hidden until the script has made it work. */
function filter(entries: readonly Entry[]): Markup {
	const all = (of: (entry: Entry) => readonly string[]) =>
		[...new Set(entries.flatMap(of))].sort((a, b) => a.localeCompare(b, "en"));
	const choice = (name: string, label: string, values: readonly string[]) =>
		markup`<label>${label} <select data-filter="${name}"><option value="">all</option>${values.map((value) => markup`<option value="${value}">${value}</option>`)}</select></label>`;
	return markup`<div class="tools filter" role="search" aria-label="Results" hidden>
<label>Text <input type="search" data-filter="text" autocomplete="off"></label>
${choice(
	"scenario",
	"Scenario",
	all(({ scenario }) => (scenario === null ? [] : [scenario])),
)}
${choice(
	"system",
	"System",
	all(({ systems }) => systems),
)}
${choice(
	"verdict",
	"Verdict",
	all((entry) => [verdictOf(entry)]),
)}
<button type="button" data-filter="clear">All results</button> <output aria-live="polite"></output>
</div>`;
}

function table(entries: readonly Entry[], machines: ReadonlyMap<string, KnownMachine>): Markup {
	return markup`<div class="wide"><table class="results"><thead><tr><th scope="col">Verdict</th><th scope="col">Scenario and folder</th><th scope="col">Started</th><th scope="col">Systems and their figures</th><th scope="col">Machine</th><th scope="col">Commit</th></tr></thead><tbody>
${entries.map((entry) => row(entry, machines.get(entry.folder) ?? null))}</tbody></table></div>
<p class="soft">${tell("index-figures")}</p>`;
}

function row(entry: Entry, machine: KnownMachine | null): Markup {
	const { folder, href, at, result, problem, scenario, systems } = entry;
	const name = scenario ?? folder;
	const verdict = verdictOf(entry);
	const word = result === null ? verdict.toUpperCase() : verdictWord(result);
	return markup`<tr data-scenario="${scenario ?? ""}" data-systems="${JSON.stringify(systems)}" data-verdict="${verdict}"><td><span class="badge ${entry.verdict ?? "unknown"}">${word}</span></td><th scope="row">${href === null ? name : markup`<a href="${href}">${name}</a>`} <small>${folder}</small></th><td>${at === null ? "not known" : markup`<time datetime="${new Date(at).toISOString()}">${dateText(at)}</time>`}</td><td>${
		result === null
			? `${problem}.`
			: systemTexts(result).map(({ system, text }) => markup`<div><b>${system}</b> ${text}</div>`)
	}</td><td>${machine === null ? "not known" : `machine ${machine.letter}`}</td><td>${commits(result)}</td></tr>
`;
}

/** Of the scenario's repository; of a result of several commands all. */
function commits(result: Entry["result"]): string {
	const known = commitsOf(result?.environment ?? null).map(commitText);
	return known.length === 0 ? "not known" : known.join("; ");
}

function overTime(trends: readonly Trend[], tables: "now" | "later"): Markup {
	return markup`<section id="over-time"><div class="head"><h2>Over time</h2></div>
${
	trends.length === 0
		? markup`<p>${tell("index-no-trend")}</p>`
		: markup`<p class="soft">${tell("index-trends")}</p>`
}${trends.map(
	({ scenario, systems, figure }) =>
		markup`<div data-scenario="${scenario}" data-systems="${JSON.stringify(systems)}">${figureBlock(figure, { table: tables })}</div>
`,
)}</section>`;
}

function machineList(machines: ReadonlyMap<string, KnownMachine>): Markup {
	const known = [...new Set(machines.values())].sort(
		(a, b) => a.letter.length - b.letter.length || (a.letter < b.letter ? -1 : 1),
	);
	return markup`<section id="machines"><div class="head"><h2>Machines</h2></div>${
		known.length === 0
			? markup`<p>${tell("index-no-machines")}</p>`
			: markup`<table class="facts"><tbody>${known.map(({ letter, text }) => markup`<tr><th scope="row">${letter}</th><td>${text}</td></tr>`)}</tbody></table><p class="soft">${tell("index-machines")}</p>`
	}</section>`;
}

function counted(values: readonly string[]): Map<string, number> {
	const counts = new Map<string, number>();
	for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
	return counts;
}
