import { createHash } from "node:crypto";
import type { MetricSummary, Result, Run, Search } from "../model/result.ts";
import { formatCount, formatDuration, plural } from "../units.ts";
import { breachOf, breachText } from "./breach.ts";
import { clientTable } from "./client-table.ts";
import {
	intervalText as ratioInterval,
	ratioOfText,
} from "./comparison/words.ts";
import {
	type FailoverTable,
	failoverOfAll,
	failoverTable,
} from "./failover-table.ts";
import { caseTables, MANY_RUNS } from "./matrix.ts";
import { behindText, hiddenText } from "./omission.ts";
import { brokenOf } from "./outcomes.ts";
import { phaseTable } from "./phase-table.ts";
import { fitted, rowsWithin, type Section, type Size } from "./sections.ts";
import { sentence } from "./sentence.ts";
import { warningsOf, warningText } from "./warnings.ts";
import {
	closedText,
	countNotes,
	countsOf,
	countText,
	drainText,
	explainText,
	gateInterval,
	gateMargin,
	hostText,
	intervalText,
	loadText,
	maxText,
	measuredText,
	networkText,
	offenderTexts,
	percentileName,
	percentileValue,
	quickText,
	rateTexts,
	requiredSamplesText,
	runTitle,
	sameHostText,
	searchTable,
	searchTitle,
	systemText,
	systemTitle,
	topologiesText,
	topologyText,
	verdictText,
	verdictWord,
	WEAK_MEANS,
	windowTime,
	withoutSearches,
} from "./words.ts";

/** GitHub refuses a comment of 65 536 characters, to which its poster adds a line or two, and a step's summary of 1 MiB. */
export const COMMENT: Size = { most: 64_000, of: "characters" };
export const SUMMARY: Size = { most: 900_000, of: "bytes" };

export interface MarkdownOptions {
	readonly size: Size;
	/** First line is a comment nobody sees, by which a later run finds and replaces what this one wrote. */
	readonly marked: boolean;
}

/**
 * `report.md` and, shorter and marked, `comment.md`: for a pull request, an issue or the summary of a job. Verdict, what broke and the
 * gates first, the rest folded. The whole report is report.html.
 */
export function renderMarkdown(
	whole: Result,
	{ size, marked }: MarkdownOptions = { size: SUMMARY, marked: false },
): string {
	const result = withoutSearches(whole);
	const machine = measuredText(result);
	const shared = sameHostText(result);
	const nodes = topologiesText(result);
	const quick = quickText(result);
	const part = (share: number) => ({ ...size, most: size.most * share });
	const head = [
		...(marked ? [markerOf(result.scenario)] : []),
		`# ${escaped(cut(result.scenario))}: ${verdictWord(result)}`,
		...(quick === null ? [] : [`**${sentence(escaped(quick))}**`]),
		escaped(
			cut(
				sentence(
					verdictText(result),
					result.runs.map((run) => run.system),
				),
				MOST_VERDICT,
			),
		),
		...broken(whole, part(0.15)),
		...warned(result),
	];
	const foot = `Response time counts from the intended send time; service time from the actual one; lag is the generator's own lateness and part of response. \`~\`: ${WEAK_MEANS}. Brackets: 95 % interval. More: \`${explainText(result)}\`.`;
	const measuredOn = [
		...(machine === null ? [] : [`${machine}.`]),
		...(shared === null ? [] : [sentence(shared)]),
		...(nodes === null
			? []
			: [
					sentence(
						nodes,
						result.runs.map((run) => run.system),
					),
				]),
	].join(" ");
	return fitted(
		head.join("\n\n"),
		[
			...result.searches.map(searchSection),
			...(result.searches.length > 0 && result.gates.length === 0
				? []
				: [gatesSection(result, part(0.4))]),
			...comparisonsSection(result, part(0.2)),
			...(measuredOn === ""
				? []
				: [{ title: "where it was measured", text: escaped(measuredOn) }]),
			...matrix(result),
			...(result.runs.length < MANY_RUNS ? [] : failover(result)),
			...result.runs
				.filter(
					(run) => result.runs.length < MANY_RUNS || run.verdict !== "pass",
				)
				.map((run) => runSection(run, result)),
		],
		foot,
		size,
		`Everything is in report.html of the run ${code(cut(result.runId))}.`,
	);
}

/** `<!-- mqbench:quickstart -->`: whatever the scenario is called, it stays one comment, and another name has another one. */
export function markerOf(scenario: string): string {
	// Half an emoji has no percent-encoding.
	const name = encodeURIComponent(
		scenario.replaceAll(/\p{Surrogate}/gu, "\ufffd"),
	).replaceAll(/(?<=-)-/g, "%2D");
	return `<!-- mqbench:${name.length <= MOST_MARKER ? name : createHash("sha256").update(scenario).digest("hex")} -->`;
}

// --- internal ---

/** What the numbers have been through: a reader of the pull request sees no run. */
function warned(result: Result): string[] {
	const lines = warningsOf(result).map(
		(one) => `- ${escaped(cut(warningText(one), MOST_CELL))}`,
	);
	return lines.length === 0 ? [] : [`Warnings:\n\n${lines.join("\n")}`];
}

/** Longest name in a marker; of a longer one its hash. */
const MOST_MARKER = 3800;
/** Longest name and longest text of a cell, a list and a sentence; far above what people write, low enough that a hundred fit. */
const MOST_NAME = 300;
const MOST_CELL = 1000;
const MOST_VERDICT = 4000;
/** So many are explained one by one; the table has all. */
const MOST_BROKEN = 10;
/** From so many gates on those that did not pass stand first. */
const MANY_GATES = 30;

function cut(text: string, most = MOST_NAME): string {
	return text.length <= most
		? text
		: `${text.slice(0, most).replace(/\p{Surrogate}$/u, "")}...`;
}

/** What broke by how much, where, and what to do. */
function broken(result: Result, size: Size): string[] {
	const all = brokenOf(result);
	const lines = all.slice(0, MOST_BROKEN).map((outcome) => {
		const text = breachText(breachOf(outcome, result));
		return `- **${outcome.verdict.toUpperCase()}** ${escaped(cut(text, MOST_CELL))}`;
	});
	const { kept } = rowsWithin(lines, size);
	const more = all.length - kept.length;
	const rest =
		more === 0 ? [] : [`- and ${more} more: see the table, or report.html`];
	return all.length === 0 ? [] : [[...kept, ...rest].join("\n")];
}

function searchSection(search: Search): Section {
	const { head, rows } = searchTable(search);
	const title = `Highest rate of ${searchTitle(search)}`;
	return {
		title,
		text: [
			`## ${escaped(cut(title))}`,
			escaped(cut(sentence(search.answer, [search.system]), MOST_CELL)),
			table(
				[...head],
				rows.map((row) => [...row]),
			),
		].join("\n\n"),
	};
}

function gatesSection({ gates }: Result, size: Size): Section {
	const title = "SLA";
	if (gates.length === 0) return { title, text: "No SLA: nothing was judged." };
	const worstFirst = [
		...gates.filter((g) => g.verdict !== "pass"),
		...gates.filter((g) => g.verdict === "pass"),
	];
	const sorted = gates.length > MANY_GATES ? worstFirst : gates;
	const [head = "", border = "", ...rows] = table(
		["SLA", "system", "case", "verdict", "measured", "margin", "why"],
		sorted.map((g) => [
			new Raw(code(cut(g.sla))),
			g.system,
			g.case,
			new Raw(`**${g.verdict.toUpperCase()}**`),
			g.measured + gateInterval(g),
			gateMargin(g),
			g.why,
		]),
	).split("\n");
	const { kept, more } = rowsWithin(rows, size);
	const passed = sorted
		.slice(kept.length)
		.filter((g) => g.verdict === "pass").length;
	return {
		title,
		text: [
			[head, border, ...kept].join("\n"),
			...(more === 0
				? []
				: [
						`And ${more} more gates, ${passed} of them PASS: report.html has all.`,
					]),
		].join("\n\n"),
	};
}

function comparisonsSection({ comparisons }: Result, size: Size): Section[] {
	if (comparisons.length === 0) return [];
	const value = (
		side: Result["comparisons"][number]["a"],
		unit: "ns" | "messages/s",
	) =>
		side.median === null
			? "n/a"
			: `${unit === "ns" ? formatDuration(side.median) : `${formatCount(side.median)}/s`} (${plural(side.runs, "run")})`;
	const [head = "", border = "", ...rows] = table(
		["", "system", "case", "verdict", "A", "B", "B/A", "interval", "why"],
		comparisons.map((c) => [
			c.metric,
			c.system,
			c.case,
			new Raw(
				`**${c.verdict.toUpperCase()}**${c.judged ? "" : " (shown only)"}`,
			),
			`${cut(c.a.name)}: ${value(c.a, c.unit)}`,
			`${cut(c.b.name)}: ${value(c.b, c.unit)}`,
			ratioOfText(c),
			ratioInterval(c),
			c.advisory === null ? c.why : `${c.why}; ${c.advisory}`,
		]),
	).split("\n");
	const { kept, more } = rowsWithin(rows, size);
	return [
		{
			title: "comparison with the baseline",
			text: [
				"## Against the baseline",
				[head, border, ...kept].join("\n"),
				...(more === 0 ? [] : [`And ${more} more: report.html has all.`]),
			].join("\n\n"),
		},
	];
}

/** Many runs side by side, case by case; one by one then only those that did not pass. */
function matrix(result: Result): Section[] {
	if (result.runs.length < MANY_RUNS) return [];
	const systems = new Map(result.runs.map((run) => [systemTitle(run), run]));
	const list = [...systems.values()].map(
		(run) =>
			`- ${escaped(cut(`${run.system}: ${systemText(run)}`, MOST_CELL))}`,
	);
	const tables = caseTables(result).map((one) => {
		const host = hostText(one.rows[0]?.run as Run, result);
		return {
			title: one.case,
			text: [
				`## ${escaped(cut(one.case))}`,
				escaped(
					`${sentence(one.of)}${host === null ? "" : ` ${sentence(host)}`}`,
				),
				table(
					["system", "durability", ...one.head, "verdict"],
					one.rows.map(({ run, name, cells }) => [
						name,
						run.load.durability,
						...cells,
						run.verdict.toUpperCase(),
					]),
				),
			].join("\n\n"),
		};
	});
	return [{ title: "systems", text: list.join("\n") }, ...tables];
}

/** Of many runs, of which most have no section of their own. */
function failover(result: Result): Section[] {
	const found = failoverOfAll(result);
	return found === null
		? []
		: [
				{
					title: "failover",
					text: [`## ${escaped(found.title)}`, ...tableWithNotes(found)].join(
						"\n\n",
					),
				},
			];
}

function tableWithNotes({
	head,
	rows,
	notes,
	meaning,
}: FailoverTable): string[] {
	return [
		table(
			[...head],
			rows.map((row) => [...row]),
		),
		[...notes, ...meaning].map((note) => escaped(sentence(note))).join(" "),
	].filter((text) => text !== "");
}

/** With its title, where there is one. */
function titled(found: FailoverTable | null): string[] {
	return found === null
		? []
		: [escaped(sentence(found.title)), ...tableWithNotes(found)];
}

function phases(run: Run): string[] {
	const found = phaseTable(run);
	return found === null
		? []
		: [
				`${sentence(found.title)}`,
				table([...found.head], [...found.rows.map((row) => [...row])]),
			];
}

function runSection(run: Run, result: Result): Section {
	const title = `${cut(runTitle(run, result))}: ${run.verdict.toUpperCase()}`;
	const parts = [
		`<details>\n<summary><b>${inHtml(title)}</b></summary>`,
		escaped(`${systemText(run)}. ${sentence(loadText(run))}`),
	];
	const topology = topologyText(run);
	if (topology !== null) parts.push(escaped(sentence(`topology: ${topology}`)));
	const network = networkText(run);
	if (network !== null) parts.push(escaped(sentence(`network: ${network}`)));
	if (run.why !== null) parts.push(escaped(sentence(run.why, [run.system])));
	if (run.state !== "never")
		parts.push(
			...[closedText(run)].flatMap((text) =>
				text === null ? [] : [escaped(sentence(text))],
			),
			percentileTable(run),
			...phases(run),
			...titled(failoverTable(run)),
			table(
				countsOf(run).map(([name]) => name),
				[countsOf(run).map(([, n]) => countText(n))],
			),
		);
	const notes = [...countNotes(run), ...rateTexts(run), drainText(run)].filter(
		(text) => text !== null,
	);
	if (notes.length > 0 && run.state !== "never")
		parts.push(notes.map((text) => escaped(sentence(text))).join(" "));
	parts.push(...titled(clientTable(run)));
	const hidden = [hiddenText(run), behindText(run)].filter(
		(text) => text !== null,
	);
	if (hidden.length > 0)
		parts.push(hidden.map((text) => escaped(sentence(text))).join(" "));
	const unknown = run.validity.filter((c) => c.status === "unknown");
	const remarks = [
		...offenderTexts(run).map((text) => `- ${escaped(text)}`),
		...run.validity
			.filter((c) => c.status !== "ok" && c.status !== "unknown")
			.map(
				(c) =>
					`- ${c.status}, ${c.check}: ${escaped(c.detail)}${c.remedy === null ? "" : `. What to do: ${escaped(c.remedy)}`}`,
			),
		...(unknown.length === 0
			? []
			: [`- not known: ${unknown.map((c) => c.check).join(", ")}`]),
		...run.notes.map((note) => `- note: ${escaped(note)}`),
		...run.errors.map(
			(e) => `- ${plural(e.count, "time")}: ${code(e.message)}`,
		),
	];
	if (remarks.length > 0) parts.push(remarks.join("\n"));
	// Of many runs only where there is something to explain.
	const explained = result.runs.length === 1 || run.verdict !== "pass";
	if (explained && run.slowest.length > 0) parts.push(slowestTable(run));
	return { title, text: [...parts, "</details>"].join("\n\n") };
}

function percentileTable(run: Run): string {
	const metrics = (["response", "service", "lag", "ack", "last"] as const)
		.map((name) => [name, run.metrics[name]] as const)
		.filter((m): m is [(typeof m)[0], MetricSummary] => m[1] !== null);
	const [first] = metrics;
	if (first === undefined) return "Nothing was measured.";
	// Deeper ones that nothing carries are left out; the first of them says what it needs.
	const names = first[1].percentiles
		.filter(
			(p, i, all) => p.support !== "none" || all[i - 1]?.support !== "none",
		)
		.map((p) => p.p);
	const rows = names.map((p) => [
		percentileName(p),
		...metrics.map(([name, m]) => {
			const found = m.percentiles.find((x) => x.p === p);
			if (found === undefined) return "";
			return found.support === "none"
				? `n/a (${requiredSamplesText(found, run, name)})`
				: `${percentileValue(found, run)} ${intervalText(found)}`;
		}),
	]);
	return table(
		["", ...metrics.map(([name]) => name)],
		[...rows, ["max", ...metrics.map(([, m]) => maxText(m, run))]],
	);
}

const MOST_SLOW = 5;

function slowestTable(run: Run): string {
	return table(
		["slowest", "response", "queued", "lag", "service", "due"],
		run.slowest
			.slice(0, MOST_SLOW)
			.map((m) => [
				`producer ${m.producer}, sequence ${m.sequence}`,
				...[m.responseNs, m.queuedNs, m.lagNs, m.serviceNs].map(formatDuration),
				windowTime(m.intendedNs, run),
			]),
	);
}

/** Markdown already. By its own type: a text from outside may begin like markdown too. */
class Raw {
	readonly text: string;
	constructor(text: string) {
		this.text = text;
	}
}

function table(head: string[], rows: (string | Raw)[][]): string {
	const line = (cells: (string | Raw)[]) =>
		`| ${cells.map((c) => (c instanceof Raw ? c.text : escaped(cut(c, MOST_CELL)))).join(" | ")} |`;
	return [
		line(head),
		`| ${head.map(() => "---").join(" | ")} |`,
		...rows.map(line),
	].join("\n");
}

/** Nothing from outside can open a tag, a link, a table cell or emphasis, or call a person. */
export function escaped(text: string): string {
	return unlinked(
		text
			.replaceAll(/\s+/g, " ")
			.replaceAll(/[\\`*_[\]|~<>&#]/g, (c) => ENTITIES[c] ?? `\\${c}`),
	);
}

/** The same in a line of HTML; some readers take markdown in it all the same. */
function inHtml(text: string): string {
	return unlinked(
		text
			.replaceAll(/\s+/g, " ")
			.replaceAll(/[\\`*_[\]|~<>&#]/g, (c) => `&#${c.charCodeAt(0)};`),
	);
}

/**
 * GitHub makes links of what only looks like one, and of entities too, as it looks at the text that they stand for: @name, #12, GH-12,
 * www.example.org, https://example.org. An invisible blank within keeps it from it, and the text reads as before.
 */
function unlinked(markdown: string): string {
	return markdown
		.replaceAll(/(\\#|&#35;)(?=\w)/g, "$1&#8203;")
		.replaceAll(
			/(@|GH-|www|(?:https?|ftp):)(?=(?<=@)\w|(?<=-)\d|(?<=w)\.|(?<=:)\/\/)/gi,
			"$1&#8203;",
		);
}

const ENTITIES: Readonly<Record<string, string>> = {
	"<": "&lt;",
	">": "&gt;",
	"&": "&amp;",
};

/** Code spans show everything as it is, but a backtick ends them and a bar ends the cell, even behind a backslash of its own. */
function code(text: string): string {
	return `\`${text
		.replaceAll(/\s+/g, " ")
		.replaceAll("`", "'")
		.replaceAll(/\\(?=\|)/g, "\\ ")
		.replaceAll("|", "\\|")}\``;
}
