import { type Comparing, missingOf, OUTCOMES } from "../compare/comparing.ts";
import { machineText } from "../compare/machine.ts";
import { intervalText, looksOf, ratioOfText, verdictCell } from "../compare/words.ts";
import { comparedFigures } from "../figures/comparison.ts";
import type { Baseline, Comparison } from "../model/comparison.ts";
import type { Result } from "../model/result.ts";
import { bySystemAndCase } from "../result/select.ts";
import { percent } from "../text/percent.ts";
import { formatUtc, plural } from "../units.ts";
import * as doc from "./blocks.ts";
import { WEAK_MEANS } from "./words.ts";

export function comparingDocument(comparing: Comparing): doc.Document {
	const { a, b, outcome, summary } = comparing;
	const sides = [
		["A, the baseline", a] as const,
		...(b.path === a.path ? [] : [["B", b] as const]),
	];
	return {
		...doc.NOTHING,
		title: `${a.baseline.scenario}, compared`,
		look: OUTCOMES[outcome],
		word: outcome === "nothing" ? "NOT COMPARED" : outcome.toUpperCase(),
		lead: summary,
		head: sides.map(([name, { path, baseline }]) =>
			doc.text(
				`${name}: ${path}: ${baselineText(baseline)}; ${machineText(baseline.machine)}`,
				"soft",
			),
		),
		sections: [against(comparing)],
		foot: [doc.text(HOW, undefined, 2)],
		whole: "npx mqbench compare --html writes all of it.",
		figures: () => comparedFigures(comparing),
	};
}

export function comparison({ comparisons, gates }: Result): doc.Block[] {
	// The comparison of an SLA line may be in `comparisons` too, or only at its gate.
	const found = [...comparisons, ...gates.flatMap((gate) => gate.comparison ?? [])];
	const all = [
		...new Map(found.map((c) => [JSON.stringify([whereOf(c), c.margin, c.a.name]), c])),
	].map(([, c]) => c);
	if (all.length === 0) return [];
	const changed = all.filter((c) => c.verdict !== "same" || c.advisory !== null);
	const shown = all.length > MOST ? changed : all;
	const more = all.length - shown.length;
	const names = [...new Set(all.map((c) => c.a.name))].join(", ");
	return [
		doc.section("comparison", `Compared with ${names}`, [
			ratioTable(shown, whereOf, doc.numbers(["baseline", "now"], 2)),
			doc.text(more > 0 ? `${plural(more, "comparison")} more: SAME` : null),
			doc.list(
				changed.map(
					(c) =>
						`${c.verdict.toUpperCase()} ${whereOf(c)}: ${c.why}${c.advisory === null ? "" : `; shown only: ${c.advisory}`}`,
				),
			),
			doc.text(
				"Ratio: now / baseline, the median of the ratios of all pairs of runs (Hodges-Lehmann), with its exact interval. 1.1 is 10 % more",
				"small",
				2,
			),
		]),
	];
}

export function ratioTable(
	comparisons: readonly Comparison[],
	name: (c: Comparison) => string,
	sides: readonly doc.Column[],
): doc.Table {
	const columns = ["", ...sides, ...doc.numbers(["ratio", "95 % interval", "margin"]), "verdict"];
	const rows = comparisons.map((c): doc.Inline[] => [
		name(c),
		sideOf(c.a, c.unit),
		sideOf(c.b, c.unit),
		ratioOfText(c),
		intervalText(c),
		[percent(c.margin, 3), doc.aside(c.marginFrom === "default" ? "" : c.marginFrom)],
		c.judged ? doc.badge(looksOf(c), verdictCell(c)) : verdictCell(c),
	]);
	return doc.table(columns, rows);
}

// --- internal ---

const HOW =
	"Values are medians over n runs, the ratio is the median of the ratios of every run of B to every run of A, its interval is exact (Mann-Whitney). REGRESSED: the whole interval lies beyond the margin; SAME: inside it; INCONCLUSIVE: on both sides, which more runs narrow. Where messages never completed a value is larger than written";

/** "quickstart, 2026-11-20 16:29 UTC, 20 runs, mqbench 0.1.0". */
function baselineText({ runs, startedAt, mqbench, scenario, quick }: Baseline): string {
	return [
		scenario,
		startedAt && `${formatUtc(startedAt)} UTC`,
		plural(runs.length, "run"),
		mqbench && `mqbench ${mqbench}`,
		quick && "shortened: no result",
	]
		.filter(Boolean)
		.join(", ");
}

function against(comparing: Comparing): doc.Fold {
	const { comparisons, notCompared } = comparing;
	const [one, two] = comparing.systems ?? ["A", "B"];
	const missing = missingOf(comparing);
	const advisories = new Set(comparisons.flatMap((c) => c.advisory ?? []));
	return doc.section("b", `${two} against ${one}`, [
		differing(comparing, [one, two]),
		...bySystemAndCase(comparisons).flatMap(({ system, case: name, all }, i): doc.Block[] => {
			const [first] = all as readonly [Comparison];
			const heads = [first.a, first.b].map(({ name, runs }) => `${name} (n=${runs})`);
			const judged = all.filter((c) => c.judged);
			const margin = ({ marginFrom: from }: Comparison) =>
				from === "default" ? "" : `; the margin: ${from}`;
			return [
				doc.heading(`${system}, ${name}`),
				{ kind: "figures", ids: [`ratios-b-${i + 1}`], depth: 3 },
				ratioTable(all, (c) => c.metric, doc.numbers(heads)),
				doc.list(judged.map((c) => `${c.verdict.toUpperCase()} ${c.metric}: ${c.why}${margin(c)}`)),
			];
		}),
		...[...advisories].map((why) =>
			doc.text(`Shown only, verdicts in brackets do not count: ${why}`, "warn"),
		),
		...notCompared.map((n) => {
			const what = missing.includes(n) ? "not compared" : "left out";
			return doc.text(`${what}: ${n.system}, ${n.case}: ${n.why}`, "warn");
		}),
		doc.text(comparisons.some(({ a, b }) => a.weak || b.weak) ? `~ ${WEAK_MEANS}` : null, "small"),
	]);
}

function differing({ differences }: Comparing, names: readonly string[]): doc.Block {
	const rows = differences.map(({ what, a, b }) => [what, a, b]);
	return differences.length === 0
		? doc.text("Scenario, machine, versions and settings are the same", undefined, 3)
		: doc.fold(`What differs between ${names.join(" and ")}`, [
				doc.table(["fact", ...names], rows),
			]);
}

/** Above this only changes are listed. */
const MOST = 20;

/** "62.4us", weak "~62.4us"; "62.4us (3 of 5)" if not every run has this value. */
function sideOf(
	{ median: value, weak, values, runs }: Comparison["a"],
	unit: Comparison["unit"],
): doc.Inline {
	const some = value === null || values.length === runs ? "" : ` (${values.length} of ${runs})`;
	return [{ value, unit, weak }, some];
}

function whereOf(c: Comparison): string {
	return `${c.system}, ${c.case}, ${c.metric}`;
}
