import { formatDuration } from "../units.ts";
import { caseTables, MANY_RUNS } from "./matrix.ts";
import { behindText, hiddenText } from "./omission.ts";
import { phaseTable } from "./phase-table.ts";
import type { MetricSummary, Result, Run, Search } from "./summary.ts";
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
	machineText,
	maxText,
	neededText,
	offenderTexts,
	percentileName,
	percentileValue,
	quickText,
	rateTexts,
	runTitle,
	sameHostText,
	searchTable,
	searchTitle,
	systemText,
	systemTitle,
	verdictText,
	verdictWord,
	WEAK_MEANS,
	windowTime,
	withoutSearches,
} from "./words.ts";

/** `report.md`: short, for a pull request or an issue. The whole report is report.html. */
export function renderMarkdown(whole: Result): string {
	const result = withoutSearches(whole);
	const machine = machineText(result);
	const shared = sameHostText(result);
	const quick = quickText(result);
	return `${[
		`# ${escaped(result.scenario)}: ${verdictWord(result)}`,
		...(quick === null ? [] : [`**${sentence(escaped(quick))}**`]),
		`${sentence(verdictText(result))}`,
		...(machine === null ? [] : [escaped(`Measured on ${machine}.`)]),
		...(shared === null ? [] : [sentence(shared)]),
		...result.searches.flatMap(searchSection),
		...(result.searches.length > 0 && result.gates.length === 0
			? []
			: gatesTable(result)),
		...matrix(result),
		...result.runs
			.filter((run) => result.runs.length < MANY_RUNS || run.verdict !== "pass")
			.map((run) => runSection(run, result)),
		`Response time counts from the intended send time; service time from the actual one; lag is the generator's own lateness and part of response. \`~\`: ${WEAK_MEANS}. Brackets: 95 % interval. More: \`${explainText(result)}\`.`,
	].join("\n\n")}\n`;
}

// --- internal ---

function searchSection(search: Search): string[] {
	const { head, rows } = searchTable(search);
	return [
		`## ${escaped(`Highest rate of ${searchTitle(search)}`)}`,
		sentence(escaped(search.answer)),
		table(
			[...head],
			rows.map((row) => [...row]),
		),
	];
}

function gatesTable({ gates }: Result): string[] {
	if (gates.length === 0) return ["No SLA: nothing was judged."];
	return [
		table(
			["SLA", "system", "case", "verdict", "measured", "margin", "why"],
			gates.map((g) => [
				new Raw(code(g.sla)),
				g.system,
				g.case,
				new Raw(`**${g.verdict.toUpperCase()}**`),
				g.measured + gateInterval(g),
				gateMargin(g),
				g.why,
			]),
		),
	];
}

/** Many runs side by side, case by case; one by one then only those that did not pass. */
function matrix(result: Result): string[] {
	if (result.runs.length < MANY_RUNS) return [];
	const systems = new Map(result.runs.map((run) => [systemTitle(run), run]));
	const list = [...systems.values()].map(
		(run) => `- ${escaped(`${run.system}: ${systemText(run)}`)}`,
	);
	const tables = caseTables(result).flatMap((one) => {
		const host = hostText(one.rows[0]?.run as Run, result);
		return [
			`## ${escaped(one.case)}`,
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
		];
	});
	return [list.join("\n"), ...tables];
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

function runSection(run: Run, result: Result): string {
	const parts = [
		`## ${escaped(runTitle(run, result))}: ${run.verdict.toUpperCase()}`,
		escaped(`${systemText(run)}. ${sentence(loadText(run))}`),
	];
	if (run.why !== null) parts.push(escaped(sentence(run.why)));
	if (run.state !== "never")
		parts.push(
			...[closedText(run)].flatMap((text) =>
				text === null ? [] : [escaped(sentence(text))],
			),
			percentileTable(run),
			...phases(run),
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
			(e) => `- ${countText(e.count)} times: ${code(e.message)}`,
		),
	];
	if (remarks.length > 0) parts.push(remarks.join("\n"));
	// Of many runs only where there is something to explain.
	const explained = result.runs.length === 1 || run.verdict !== "pass";
	if (explained && run.slowest.length > 0) parts.push(slowestTable(run));
	return parts.join("\n\n");
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
				? `n/a (${neededText(found, run, name)})`
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
		`| ${cells.map((c) => (c instanceof Raw ? c.text : escaped(c))).join(" | ")} |`;
	return [
		line(head),
		`| ${head.map(() => "---").join(" | ")} |`,
		...rows.map(line),
	].join("\n");
}

/** Nothing from outside can open a tag, a link, a table cell or emphasis. */
function escaped(text: string): string {
	return text
		.replaceAll(/\s+/g, " ")
		.replaceAll(/[\\`*_[\]|~<>&#]/g, (c) =>
			c === "<" ? "&lt;" : c === ">" ? "&gt;" : c === "&" ? "&amp;" : `\\${c}`,
		);
}

/** Code spans show everything as it is, but a backtick ends them and a bar ends the cell. */
function code(text: string): string {
	return `\`${text.replaceAll(/\s+/g, " ").replaceAll("`", "'").replaceAll("|", "\\|")}\``;
}

function sentence(text: string): string {
	return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
