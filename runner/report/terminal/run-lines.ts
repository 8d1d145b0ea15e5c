import type { Result, Run } from "../../model/result.ts";
import { displayWidth } from "../../terminal/columns.ts";
import { sparkline } from "../../terminal/sparkline.ts";
import { formatDuration, plural } from "../../units.ts";
import { clientTable } from "../client-table.ts";
import { failoverTable } from "../failover-table.ts";
import { behindText, hiddenText } from "../omission.ts";
import { phaseTable } from "../phase-table.ts";
import {
	countNotes,
	countsOf,
	countText,
	drainText,
	errorTexts,
	loadText,
	networkText,
	offenderTexts,
	percentileValue,
	rateTexts,
	runTitle,
	systemText,
	topologyText,
} from "../words.ts";
import { blockLines } from "./block-lines.ts";
import { percentileLines } from "./percentile-lines.ts";
import { grid, listed, type Page } from "./text-page.ts";

/** One run: what was run, its percentiles, counts, and what checks found. */
export function runLines(run: Run, result: Result, page: Page): string[] {
	const lines = [
		...titleLines(run, result, page),
		...page.fold(systemText(run), "  "),
		...page.fold(loadText(run), "  "),
		...[topologyText(run)].flatMap((text) =>
			text === null ? [] : page.fold(`topology: ${text}`, "  "),
		),
		...[networkText(run)].flatMap((text) =>
			text === null ? [] : page.fold(`network: ${text}`, "  "),
		),
	];
	if (run.why !== null) lines.push(...page.fold(run.why, "  "));
	if (run.state === "never") return [...lines, ...clientLines(run, page)];
	return [
		...lines,
		"",
		...percentileLines(run, page),
		...sparkLines(run, page),
		...phaseLines(run, page),
		...blockLines(failoverTable(run), page),
		...clientLines(run, page),
		"",
		...countLines(run, page),
		...[
			...countNotes(run),
			...rateTexts(run),
			drainText(run),
			lagText(run),
			hiddenText(run),
			behindText(run),
			...offenderTexts(run),
			...checkTexts(run),
			...run.notes.map((note) => `note: ${note}`),
			...errorTexts(run, 3),
		].flatMap((text) => (text === null ? [] : page.fold(text, "  "))),
	];
}

// --- internal ---

/** The verdict stands at the right edge, or below a title that leaves no room for it. */
function titleLines(run: Run, result: Result, page: Page): string[] {
	const title = runTitle(run, result);
	const gap = page.width - displayWidth(title) - run.verdict.length;
	return gap > 0
		? [
				`${page.style("bold", title)}${" ".repeat(gap)}${page.badge(run.verdict)}`,
			]
		: [
				...page.fold(title).map((line) => page.style("bold", line)),
				`  ${page.badge(run.verdict)}`,
			];
}

/** p99 by second of the window: a stall, or a slope, at a glance. */
function sparkLines(run: Run, page: Page): string[] {
	const seconds = run.series.seconds.filter(({ second }) => second >= 0);
	const values = seconds.map(({ p99 }) => p99);
	// A second without a p99 because messages never came is no quiet one.
	const never = seconds.filter((s) => s.p99 === null && (s.missing ?? 0) > 0);
	const known = values.filter((v) => v !== null);
	if (!page.unicode || known.length < 3) return [];
	const [low, high] = [Math.min(...known), Math.max(...known)];
	const scale = `${formatDuration(low)} to ${formatDuration(high)}`;
	const name = "p99 by second";
	const room = page.width - name.length - scale.length - 6;
	return [
		"",
		`  ${name}  ${sparkline(values, room)}  ${scale}`,
		...(never.length === 0
			? []
			: page.fold(
					`and ${plural(never.length, "second")} in which messages never completed: gaps`,
					"  ",
				)),
	];
}

/** Breaks between the counts only. */
function countLines(run: Run, page: Page): string[] {
	const lines: string[] = [];
	let line = "";
	for (const [name, n] of countsOf(run)) {
		if (n === null) continue;
		const text = `${name} ${countText(n)}`;
		const longer = line === "" ? `  ${text}` : `${line}  ${text}`;
		if (line !== "" && longer.length > page.width) {
			lines.push(line);
			line = `  ${text}`;
		} else line = longer;
	}
	return [...lines, line];
}

function lagText(run: Run): string | null {
	const { lag } = run.metrics;
	if (lag === null || lag.max === null) return null;
	const value = (p: number) => {
		const found = lag.percentiles.find((x) => x.p === p);
		return found ? percentileValue(found, run) : "n/a";
	};
	return `generator's lag: p50 ${value(50)}, p99 ${value(99)}, max ${formatDuration(lag.max)} (part of ${run.main})`;
}

/** What was found, each with its remedy; what could not be checked by name only. */
function checkTexts(run: Run): string[] {
	const unknown = run.validity.filter((c) => c.status === "unknown");
	return [
		...run.validity
			.filter((c) => !["ok", "unknown"].includes(c.status))
			.filter((c) => c.detail !== run.why)
			.map(
				(c) =>
					`${c.status}: ${c.check}: ${c.detail}${c.remedy === null ? "" : `. What to do: ${c.remedy}`}`,
			),
		...(unknown.length === 0
			? []
			: [`not known: ${unknown.map((c) => c.check).join(", ")}`]),
	];
}

/** Who made the load, when there are several. */
function clientLines(run: Run, page: Page): string[] {
	return blockLines(clientTable(run), page);
}

/** Each part of the window. */
function phaseLines(run: Run, page: Page): string[] {
	const table = phaseTable(run);
	if (table === null) return [];
	const all = [table.head, ...table.rows];
	return [
		"",
		...page.fold(table.title, "  "),
		...(grid(all, page) ?? listed(all, page)),
	];
}
