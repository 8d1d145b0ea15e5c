import type { MetricSummary, Result, Run } from "./summary.ts";
import {
	countsOf,
	countText,
	intervalText,
	loadText,
	machineText,
	maxText,
	neededText,
	percentileName,
	percentileValue,
	runTitle,
	systemText,
	VERDICT_MEANS,
} from "./words.ts";

/** `report.md`: short, for a pull request or an issue. The whole report is report.html. */
export function renderMarkdown(result: Result): string {
	const machine = machineText(result);
	return `${[
		`# ${escaped(result.scenario)}: ${result.verdict.toUpperCase()}`,
		`${sentence(VERDICT_MEANS[result.verdict])}`,
		...(machine === null ? [] : [escaped(`Measured on ${machine}.`)]),
		...gatesTable(result),
		...result.runs.map((run) => runSection(run, result)),
		"Response time counts from the intended send time; service time from the actual one; lag is the generator's own lateness and part of response. `~`: few samples, or few stalls, stand behind it. Brackets: 95 % interval.",
	].join("\n\n")}\n`;
}

// --- internal ---

function gatesTable({ gates }: Result): string[] {
	if (gates.length === 0) return ["No SLA was given."];
	return [
		table(
			["SLA", "system", "case", "verdict", "measured", "why"],
			gates.map((g) => [
				new Raw(code(g.sla)),
				g.system,
				g.case,
				new Raw(`**${g.verdict.toUpperCase()}**`),
				g.measured,
				g.why,
			]),
		),
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
			percentileTable(run),
			table(
				countsOf(run).map(([name]) => name),
				[countsOf(run).map(([, n]) => countText(n))],
			),
		);
	const remarks = [
		...run.validity
			.filter((c) => c.status !== "ok")
			.map((c) => `- ${c.status}, ${c.check}: ${escaped(c.detail)}`),
		...run.notes.map((note) => `- note: ${escaped(note)}`),
		...run.errors.map(
			(e) => `- ${countText(e.count)} times: ${code(e.message)}`,
		),
	];
	if (remarks.length > 0) parts.push(remarks.join("\n"));
	return parts.join("\n\n");
}

function percentileTable(run: Run): string {
	const metrics = (["response", "service", "lag", "ack"] as const)
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
		...metrics.map(([, m]) => {
			const found = m.percentiles.find((x) => x.p === p);
			if (found === undefined) return "";
			return found.support === "none"
				? `n/a (${neededText(found, run)})`
				: `${percentileValue(found, run)} ${intervalText(found)}`;
		}),
	]);
	return table(
		["", ...metrics.map(([name]) => name)],
		[...rows, ["max", ...metrics.map(([, m]) => maxText(m, run))]],
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
