import {
	type Comparing,
	MACHINE,
	type Other,
} from "../../compare/comparing.ts";
import type { Comparison } from "../../model/comparison.ts";
import { type Markup, markup } from "../html/markup.ts";
import { figureBlock, renderPage } from "../page/html-page.ts";
import { tableBlock } from "../page/table-block.ts";
import { comparingFigures } from "./figures.ts";
import {
	advisories,
	baselineText,
	explained,
	groupsOf,
	HOW,
	intervalText,
	looksOf,
	machineText,
	marginText,
	outcomeWord,
	ratioOfText,
	sideHead,
	sideText,
	verdictCell,
} from "./words.ts";

/** The comparison as one offline page: curves over each other, every ratio, machines and versions side by side. */
export function comparingPage(comparing: Comparing): string {
	const { a, others, outcome, summary } = comparing;
	const figures = new Map(
		others.map((other) => [other, comparingFigures(comparing, other)]),
	);
	const look =
		outcome === "regressed"
			? "fail"
			: outcome === "same" || outcome === "improved"
				? "pass"
				: "inconclusive";
	return renderPage({
		title: `${a.baseline.scenario} compared: ${outcomeWord(outcome)} - mqbench`,
		header: markup`<div class="head"><h1>${a.baseline.scenario}, compared</h1><span class="badge ${look}">${outcomeWord(outcome)}</span></div>
<p class="lead">${capital(summary)}.</p>
<p class="soft">A, the baseline: ${a.path}: ${baselineText(a.baseline)}; ${machineText(a.baseline)}.</p>
${others
	.filter((other) => other.path !== a.path)
	.map(
		(other) =>
			markup`<p class="soft">${other.letter}: ${other.path}: ${baselineText(other.baseline)}; ${machineText(other.baseline)}.</p>`,
	)}`,
		main: markup`${others.map((other) => section(other, comparing, figures.get(other) ?? []))}
${sideBySide(comparing)}
<section id="how"><div class="head"><h2>How to read this</h2></div><p>${HOW}</p>
<p>A value is larger than written where messages never completed: then only what is certain is said. Curves are those of single runs; they are never averaged.</p></section>`,
		figures: [...figures.values()].flat().map(({ of: _, ...figure }) => figure),
	});
}

// --- internal ---

type Figures = ReturnType<typeof comparingFigures>;

function section(other: Other, comparing: Comparing, figures: Figures): Markup {
	const { letter, comparisons, notCompared } = other;
	const remarks = [
		...advisories(comparisons),
		...notCompared.map((n) => `${n.system}, ${n.case}: ${n.why}`),
	];
	const title =
		comparing.systems === null
			? `${letter} against A`
			: `${comparing.systems[1]} against ${comparing.systems[0]}`;
	return markup`<section id="${letter.toLowerCase()}"><div class="head"><h2>${title}</h2></div>
${remarks.length > 0 && markup`<ul class="warn">${remarks.map((text) => markup`<li>${text}.</li>`)}</ul>`}
${groupsOf(comparisons).map((group) => {
	const figure = figures.find((f) => f.of === group.title);
	const [first] = group.comparisons as [Comparison];
	return markup`<h3>${group.title}</h3>
<div class="wide"><table><thead><tr><th scope="col">figure</th><th scope="col">verdict</th><th scope="col" class="n">${sideHead(first.a)}</th><th scope="col" class="n">${sideHead(first.b)}</th><th scope="col" class="n">ratio</th><th scope="col" class="n">interval</th><th scope="col" class="n">margin</th></tr></thead><tbody>
${group.comparisons.map(row)}</tbody></table></div>
<ul>${explained(group.comparisons).map((text) => markup`<li>${text}.</li>`)}</ul>
${figure !== undefined && figureBlock(figure)}`;
})}</section>`;
}

function row(c: Comparison): Markup {
	const verdict = c.judged
		? markup`<span class="badge ${looksOf(c)}">${verdictCell(c)}</span>`
		: markup`${verdictCell(c)}`;
	return markup`<tr><th scope="row">${c.metric}</th><td>${verdict}</td><td class="n">${sideText(c, c.a)}</td><td class="n">${sideText(c, c.b)}</td><td class="n">${ratioOfText(c)}</td><td class="n">${intervalText(c)}<small>${c.confidence !== null && `${Number((100 * c.confidence).toFixed(1))} %`}</small></td><td class="n">${marginText(c)}<small>${c.marginFrom}</small></td></tr>
`;
}

/** Every machine and version, and what differs of all that was written down. */
function sideBySide(comparing: Comparing): Markup {
	const { a, others } = comparing;
	const folders = [a, ...others.filter((other) => other.path !== a.path)];
	const text = (value: string | number | null | undefined) =>
		value === null || value === undefined ? "not known" : `${value}`;
	const rows = [
		["scenario", ...folders.map((f) => f.baseline.scenario)],
		["run", ...folders.map((f) => f.baseline.runId)],
		["started", ...folders.map((f) => text(f.baseline.startedAt))],
		["mqbench", ...folders.map((f) => text(f.baseline.mqbench))],
		...MACHINE.map(({ name, of }) => [
			name,
			...folders.map((f) => text(f.baseline.machine && of(f.baseline.machine))),
		]),
		...systemsOf(folders).flatMap((system) =>
			["broker", "library", "durability", "target"].map((fact) => [
				`${system}: ${fact}`,
				...folders.map((f) => text(f.baseline.systems[system]?.[fact])),
			]),
		),
	];
	return markup`<section id="machines"><div class="head"><h2>Machines and versions</h2></div>
${tableBlock({ caption: null, head: ["fact", ...folders.map((f) => f.letter)], rows })}
${others.map(
	({ letter, differences }) =>
		markup`<h3>What differs${comparing.systems === null ? ` between A and ${letter}` : `: ${comparing.systems[1]} and ${comparing.systems[0]}`}</h3>
${
	differences.length === 0
		? markup`<p>Nothing that was written down: scenario, machine, versions and settings are the same.</p>`
		: tableBlock({
				caption: null,
				head: [
					"fact",
					comparing.systems?.[0] ?? "A",
					comparing.systems?.[1] ?? letter,
				],
				rows: differences.map((d) => [d.what, d.a, d.b]),
			})
}`,
)}</section>`;
}

function systemsOf(
	folders: readonly { readonly baseline: { readonly systems: object } }[],
): string[] {
	return [...new Set(folders.flatMap((f) => Object.keys(f.baseline.systems)))];
}

function capital(text: string): string {
	return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
