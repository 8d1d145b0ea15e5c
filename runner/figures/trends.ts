import type { Datum, Figure } from "../chart/figure.ts";
import { type KnownMachine, machinesOf } from "../compare/machine.ts";
import { searchFacts, workDifference, workFacts } from "../compare/work.ts";
import { largestOf } from "../extremes.ts";
import { grouped } from "../grouped.ts";
import { commitAt, commitText } from "../result/commit.ts";
import { headlineOf, searchHeadline } from "../result/headline.ts";
import type { Entry, IndexedResult } from "../result/indexed.ts";
import { AXIS, panelOf, seriesOf } from "./facts.ts";

export type Trend = ReturnType<typeof trendsOf>[number];

/**
 * For every scenario and case with a figure in two results. Each run is a point, never averaged. A line joins one system's points with the
 * same work, durability and kind of machine; its name shows the difference. `--quick` is left out; runs without a figure are named gaps.
 */
export function trendsOf(entries: readonly Entry[]) {
	const machines = machinesOf(entries);
	const points = entries.flatMap((entry) => pointsOf(entry, machines.get(entry.folder) ?? null));
	// Oldest first: a system keeps its colour as results are added.
	const systems = entries
		.toReversed()
		.flatMap(({ result }) => result?.runs.map((run) => run.system) ?? []);
	const colors = [...new Set(systems)];
	const groups = grouped(points, (p) => JSON.stringify([p.scenario, p.case, p.headline.name]));
	return [...groups.values()]
		.filter((group) => {
			const valued = group.filter(({ headline }) => headline.value !== null);
			return new Set(valued.map(({ folder }) => folder)).size > 1;
		})
		.map((group, i) => ({
			scenario: group[0]?.scenario ?? "",
			figure: figureOf(`trend-${i + 1}`, group as [Point], colors),
		}));
}

// --- internal ---

type Point = ReturnType<typeof pointsOf>[number];

/** Newest first, like the entries. */
function pointsOf({ folder, href, at, result }: Entry, machine: KnownMachine | null) {
	if (result === null || result.quick) return [];
	return measuredIn(result).flatMap(({ run, of, headline, facts }) => {
		const x = run.startedAt === null ? at : Date.parse(run.startedAt);
		if (x === null || !Number.isFinite(x)) return [];
		const { system, case: name } = of;
		const alike = [...result.runs, ...result.searches].filter(
			(r) => r.system === system && r.case === name,
		);
		const last = largestOf(alike.map(({ repeat }) => repeat));
		const commit = commitAt(result.environment, run.startedAt);
		const texts = [
			headline.text,
			last > 1 ? `repeat ${of.repeat} of ${last}` : "",
			run.versions?.server || run.brokerVersion || "",
			commit === null ? "" : `commit ${commitText(commit)}`,
		];
		const text = texts.filter((part) => part !== "").join(", ");
		const link = href === null ? {} : { href };
		const datum: Datum = { x, y: headline.value, text, look: of.verdict, ...link };
		return [
			{
				scenario: result.scenario,
				case: name,
				system,
				folder,
				headline,
				datum,
				durability: run.load.durability,
				machine,
				facts,
			},
		];
	});
}

function measuredIn({ runs, searches }: IndexedResult) {
	return [
		...runs
			.filter((run) => run.search === null)
			.map((run) => ({ run, of: run, headline: headlineOf(run), facts: workFacts(run) })),
		...searches.flatMap((of) => {
			const run = runs.find(
				({ search, system, repeat }) =>
					search?.of === of.case && system === of.system && repeat === of.repeat,
			);
			const headline = searchHeadline(of);
			return run === undefined ? [] : [{ run, of, headline, facts: searchFacts(run, of.sla) }];
		}),
	];
}

function figureOf(
	id: string,
	group: readonly [Point, ...Point[]],
	colors: readonly string[],
): Figure {
	const [{ scenario, case: name, headline }] = group;
	const lines = grouped(group, (p) =>
		// An unknown machine may be another one each time.
		JSON.stringify([p.system, p.facts, p.durability, p.machine?.letter ?? p.folder]),
	);
	const dashes = new Map<string, number>();
	const series = [...lines.values()].map((line) => {
		const [first] = line as [Point];
		const { system } = first;
		const dash = dashes.get(system) ?? 0;
		dashes.set(system, dash + 1);
		const data = line.map(({ datum }) => datum).sort((a, b) => a.x - b.x);
		return seriesOf(nameOf(first, group), data, { color: colors.indexOf(system), dash });
	});
	return {
		id,
		title: `${scenario}, ${name}: ${headline.name}`,
		facts: factsOf(group),
		x: { ...AXIS, scale: "date", title: "started" },
		panels: [panelOf(headline.unit, series)],
		spans: [],
	};
}

/** With the facts that distinguish this line from the system's newest one. */
function nameOf({ system, machine, durability, facts }: Point, group: readonly Point[]): string {
	const newest = group.find((p) => p.system === system);
	const work = workDifference(facts, newest?.facts);
	const parts = [
		new Set(group.map((p) => p.machine?.letter)).size > 1
			? `machine ${machine?.letter ?? "not known"}`
			: "",
		durability === newest?.durability ? "" : durability,
		work === null ? "" : `other work: ${work}`,
	].filter((part) => part !== "");
	return parts.length === 0 ? system : `${system} (${parts.join("; ")})`;
}

/** "nats: none, nothing is stored; machine A: linux x64, kernel 6.1, 4 cores" */
function factsOf(group: readonly Point[]): string {
	const systems = [...grouped(group, ({ system }) => system)];
	const machines = group.map(({ machine }) =>
		machine === null ? "an unknown machine" : `machine ${machine.letter}: ${machine.text}`,
	);
	return [
		...systems.map(([system, all]) => `${system}: ${all[0]?.durability}`),
		...[...new Set(machines)].sort(),
	].join("; ");
}
