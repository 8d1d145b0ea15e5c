import {
	type Comparing,
	missingOf,
	type Named,
	type Other,
	OUTCOMES,
} from "../compare/comparing.ts";
import { machineText } from "../compare/machine.ts";
import { hasWeak } from "../compare/words.ts";
import { comparedFigures } from "../figures/comparison.ts";
import type { Baseline, Comparison } from "../model/comparison.ts";
import { bySystemAndCase } from "../result/select.ts";
import { formatUtc, plural } from "../units.ts";
import {
	type Block,
	type Document,
	type Fold,
	fold,
	heading,
	list,
	numbers,
	section,
	table,
	text,
} from "./blocks.ts";
import { ratioTable } from "./comparison.ts";
import { WEAK_MEANS } from "./words.ts";

/** What a reader of a comparison is told: for each side what differs, every ratio, and why; and why the figures may differ. */
export function comparingDocument(comparing: Comparing): Document {
	const { a, others, outcome, summary } = comparing;
	return {
		title: `${a.baseline.scenario}, compared`,
		look: OUTCOMES[outcome],
		word: outcome === "nothing" ? "NOT COMPARED" : outcome.toUpperCase(),
		lead: summary,
		head: sides(comparing).map(({ letter, path, baseline }, i) =>
			text(
				`${letter}${i === 0 ? ", the baseline" : ""}: ${path}: ${baselineText(baseline)}; ${machineText(baseline.machine)}`,
				"soft",
			),
		),
		answer: [],
		sections: others.map((other) => against(other, comparing)),
		foot: [text(HOW, undefined, 2)],
		whole: "mqbench compare --html writes all of it.",
		contents: [],
		figures: () => comparedFigures(comparing),
		names: [],
	};
}

// --- internal ---

const HOW =
	"Values are medians over n runs, the ratio is the median of the ratios of every run of B to every run of A, its interval is exact (Mann-Whitney). REGRESSED: the whole interval lies beyond the margin; SAME: inside it; INCONCLUSIVE: on both sides, which more runs narrow. Where messages never completed a value is larger than written. Curves are those of single runs";

function sides({ a, others }: Comparing): (Named & { readonly letter: string })[] {
	return [a, ...others.filter((other) => other.path !== a.path)];
}

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

function namesOf({ systems }: Comparing, { letter }: Other): readonly [string, string] {
	return systems ?? ["A", letter];
}

function against(other: Other, comparing: Comparing): Fold {
	const { letter, comparisons, notCompared } = other;
	const [one, two] = namesOf(comparing, other);
	const id = letter.toLowerCase();
	const missing = missingOf(other);
	const advisories = new Set(comparisons.flatMap((c) => c.advisory ?? []));
	return section(id, `${two} against ${one}`, [
		differing(other, [one, two]),
		...bySystemAndCase(comparisons).flatMap(({ system, case: name, all }, i): Block[] => {
			const title = `${system}, ${name}`;
			const [first] = all as readonly [Comparison];
			const heads = [first.a, first.b].map(({ name, runs }) => `${name} (n=${runs})`);
			const judged = all.filter((c) => c.judged);
			return [
				heading(comparing.others.length > 1 ? `${title}: ${letter} against A` : title),
				{ kind: "figures", ids: [`ratios-${id}-${i + 1}`, `compare-${id}-${i + 1}`], depth: 3 },
				ratioTable(all, (c) => c.metric, numbers(heads)),
				list(
					judged.map(
						(c) =>
							`${c.verdict.toUpperCase()} ${c.metric}: ${c.why}${c.marginFrom === "default" ? "" : `; the margin: ${c.marginFrom}`}`,
					),
				),
			];
		}),
		...[...advisories].map((why) =>
			text(`Shown only, verdicts in brackets do not count: ${why}`, "warn"),
		),
		...notCompared.map((n) =>
			text(
				`${missing.includes(n) ? "not compared" : "left out"}: ${n.system}, ${n.case}: ${n.why}`,
				"warn",
			),
		),
		text(comparisons.some(hasWeak) ? `~ ${WEAK_MEANS}` : null, "small"),
	]);
}

/** What differs of all that was written down of scenario, machines, versions and settings. */
function differing({ differences }: Other, names: readonly string[]): Block {
	return differences.length === 0
		? text("Scenario, machine, versions and settings are the same", undefined, 3)
		: fold(`What differs between ${names.join(" and ")}`, [
				table(
					["fact", ...names],
					differences.map(({ what, a, b }) => [what, a, b]),
				),
			]);
}
