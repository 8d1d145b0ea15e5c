import { type Comparing, missingOf, type Named, type Other } from "../compare/comparing.ts";
import { known } from "../compare/difference.ts";
import { MACHINE, machineText } from "../compare/machine.ts";
import { groupsOf, hasWeak } from "../compare/words.ts";
import type { Baseline, Comparison } from "../model/comparison.ts";
import { percentText } from "../text/comparisons.ts";
import { tell } from "../text/tell.ts";
import { formatUtc, plural } from "../units.ts";
import {
	details,
	heading,
	list,
	numbers,
	paragraph,
	section,
	sentences,
	wordTable,
} from "./make.ts";
import { type Block, FILES, PAGE, type Section, type Table, TERMINAL } from "./old-blocks.ts";
import { ratioTable } from "./ratio-table.ts";
import { WEAK_MEANS } from "./words.ts";

/** What a reader of a comparison is told: for each side what differs, every ratio, and why; on a page machines and versions too. */
export function comparingSections(comparing: Comparing): Section[] {
	const { others } = comparing;
	return [
		...others.map((other) => sectionOf(other, comparing)),
		sideBySide(comparing),
		section("how", "How to read this", [paragraph(tell("comparison-means")), CURVES], {
			media: FILES,
		}),
	];
}

/** "A, the baseline: a.json: quickstart, 20 runs, ...; 2 cores, ...": each folder that is compared. */
export function sidesOf({ a, others }: Comparing): string[] {
	const text = ({ path, baseline }: Named) =>
		`${path}: ${baselineText(baseline)}; ${machineText(baseline.machine)}`;
	return [
		`A, the baseline: ${text(a)}`,
		...others
			.filter((other) => other.path !== a.path)
			.map((other) => `${other.letter}: ${text(other)}`),
	];
}

/** "REGRESSED", "NOT COMPARED". */
export function outcomeWord(outcome: Comparing["outcome"]): string {
	return outcome === "nothing" ? "NOT COMPARED" : outcome.toUpperCase();
}

// --- internal ---

const CURVES = paragraph(tell("comparison-reading"), "plain", PAGE);

/** On a terminal. */
const MOST_DIFFERENCES = 8;

function namesOf({ systems }: Comparing, { letter }: Other): readonly [string, string] {
	return [systems?.[0] ?? "A", systems?.[1] ?? letter];
}

function sectionOf(other: Other, comparing: Comparing): Section {
	const { letter, comparisons, notCompared } = other;
	const [one, two] = namesOf(comparing, other);
	const missing = new Set(missingOf(other));
	const several = comparing.others.length > 1;
	const id = letter.toLowerCase();
	return {
		id,
		title: `${two} against ${one}`,
		blocks: [
			...differing(other, comparing),
			...groupsOf(comparisons).flatMap(({ title, comparisons: all }, i): Block[] => {
				const [first] = all as [Comparison];
				const heads = [first.a, first.b].map(({ name, runs }) => `${name} (n=${runs})`);
				return [
					heading(several ? `${title}: ${letter} against A` : title),
					{ kind: "figures", ids: ["ratios", "compare"].map((of) => `${of}-${id}-${i + 1}`) },
					ratioTable(all, (c) => c.metric, numbers(heads)),
					list([...explained(all), ...marginNotes(all)]),
				];
			}),
			sentences(
				[
					...advisories(comparisons),
					...notCompared.map(
						(n) =>
							`${missing.has(n) ? "not compared" : "left out"}: ${n.system}, ${n.case}: ${n.why}`,
					),
				],
				"warn",
			),
			sentences([comparisons.some(hasWeak) ? `~ ${WEAK_MEANS}` : null], "small"),
		],
	};
}

/** Sentences for those that decide, or would on this machine: every verdict with its reason. */
function explained(comparisons: readonly Comparison[]): string[] {
	return comparisons
		.filter((c) => c.judged)
		.map((c) => `${c.verdict.toUpperCase()} ${c.metric}: ${c.why}`);
}

/** Margins that are not the usual ones, each with where it comes from. */
function marginNotes(comparisons: readonly Comparison[]): string[] {
	const unusual = comparisons.filter((c) => c.judged && c.marginFrom !== "default");
	return [...new Set(unusual.map((c) => c.marginFrom))].map((from) => {
		const of = unusual
			.filter((c) => c.marginFrom === from)
			.map((c) => `${c.metric} ${percentText(c.margin)}`);
		return `margin of ${of.join(", ")}: ${from}`;
	});
}

/** Why nothing here decides, each reason once. */
function advisories(comparisons: readonly Comparison[]): string[] {
	const reasons = new Set(comparisons.flatMap((c) => c.advisory ?? []));
	return [...reasons].map((why) => tell("gate-shown-only", { why }));
}

/** "quickstart, 2026-11-20 16:29 UTC, 20 runs, mqbench 0.1.0". */
function baselineText({ runs, startedAt, mqbench, scenario, quick }: Baseline): string {
	return [
		scenario,
		...(startedAt === null ? [] : [`${formatUtc(startedAt)} UTC`]),
		plural(runs.length, "run"),
		...(mqbench === null ? [] : [`mqbench ${mqbench}`]),
		...(quick ? ["shortened: no result"] : []),
	].join(", ");
}

/** Of a page it stands with the machines. */
function differing(other: Other, comparing: Comparing): Block[] {
	const { differences } = other;
	const [one, two] = namesOf(comparing, other);
	if (differences.length === 0) return [];
	const more = differences.length - MOST_DIFFERENCES;
	return [
		sentences(
			[
				`${two} is not like ${one} in:`,
				...differences
					.slice(0, MOST_DIFFERENCES)
					.map(({ what, a, b }) => `${what}: ${b}, was ${a}`),
				more > 0 ? `and ${more} more: see --html or --json` : null,
			],
			"plain",
			TERMINAL,
		),
		details(
			`What differs between ${one} and ${two}`,
			[differenceTable(other, comparing)],
			["markdown"],
		),
	];
}

function differenceTable(other: Other, comparing: Comparing): Table {
	return wordTable(
		["fact", ...namesOf(comparing, other)],
		other.differences.map((d) => [d.what, d.a, d.b]),
		{ texts: 3 },
	);
}

/** Every machine and version, and what differs of all that was written down. */
function sideBySide(comparing: Comparing): Section {
	const { a, others } = comparing;
	const folders = [a, ...others.filter((other) => other.path !== a.path)];
	const row = (name: string, of: (baseline: Baseline) => unknown) => [
		name,
		...folders.map(({ baseline }) => known(of(baseline))),
	];
	const systems = [...new Set(folders.flatMap((f) => Object.keys(f.baseline.systems)))];
	const rows = [
		row("scenario", (b) => b.scenario),
		row("run", (b) => b.runId),
		row("started", (b) => b.startedAt),
		row("mqbench", (b) => b.mqbench),
		...MACHINE.map(([name, of]) => row(name, (b) => b.machine && of(b.machine))),
		...systems.flatMap((system) =>
			["broker", "library", "durability", "target"].map((fact) =>
				row(`${system}: ${fact}`, (b) => b.systems[system]?.[fact]),
			),
		),
	];
	const heads = ["fact", ...folders.map((f) => f.letter)];
	const differences = others.flatMap((other): Block[] => [
		heading(`What differs between ${namesOf(comparing, other).join(" and ")}`),
		other.differences.length === 0
			? paragraph(tell("no-differences"))
			: differenceTable(other, comparing),
	]);
	const blocks = [wordTable(heads, rows, { texts: heads.length }), ...differences];
	return section("machines", "Machines and versions", blocks, { media: PAGE });
}
