import type { TrendFigure } from "../chart/old-figure.ts";
import { hashOf, type KnownMachine, machinesOf } from "../compare/machine.ts";
import { searchFacts, workDifference, workFacts } from "../compare/work.ts";
import { largestOf } from "../extremes.ts";
import { commitAt, commitText } from "../result/commit.ts";
import { type Headline, headlineOf, searchHeadline } from "../result/headline.ts";
import type { Entry, IndexedRun } from "../result/indexed.ts";
import { tell } from "../text/tell.ts";
import { formatUtc } from "../units.ts";

/** A figure with what the page's filter goes by. */
export interface Trend {
	readonly scenario: string;
	readonly systems: readonly string[];
	readonly figure: TrendFigure;
}

/**
 * One figure over time for every scenario and case of which at least two results have a figure. Each run is a point of its own: repeats are
 * shown, never averaged. A line joins points only of one system that did the same work, with the same durability, on the same kind of
 * machine; what differs stands in the line's name. Shortened runs (`--quick`) are left out. Runs without a figure (invalid,
 * interrupted, error) are a gap with a name.
 */
export function trendsOf(entries: readonly Entry[]): Trend[] {
	const machines = machinesOf(entries);
	const points = entries.flatMap((entry) => pointsOf(entry, machines));
	const colours = coloursOf(entries);
	const groups = new Map<string, Point[]>();
	for (const point of points) {
		const key = JSON.stringify([point.scenario, point.case, point.headline.name]);
		const group = groups.get(key) ?? [];
		group.push(point);
		groups.set(key, group);
	}
	return [...groups.values()]
		.filter((group) => {
			const valued = group.filter(({ headline }) => headline.value !== null);
			return new Set(valued.map(({ folder }) => folder)).size > 1;
		})
		.map((group, i) => {
			const [first] = group as [Point];
			return {
				scenario: first.scenario,
				systems: [...new Set(group.map((p) => p.system))],
				figure: figureOf(`trend-${i + 1}`, group, colours),
			};
		});
}

// --- internal ---

/** The newest first, as the entries are. */
interface Point {
	readonly scenario: string;
	readonly case: string;
	readonly system: string;
	readonly folder: string;
	readonly headline: Headline;
	readonly at: number;
	readonly verdict: string;
	readonly href: string | null;
	/** Repeat, broker and commit. */
	readonly more: readonly string[];
	readonly durability: string;
	readonly machine: KnownMachine | null;
	readonly work: string;
	readonly facts: Readonly<Record<string, string>>;
}

function pointsOf(
	{ folder, href, at, result }: Entry,
	machines: ReadonlyMap<string, KnownMachine>,
): Point[] {
	if (result === null || result.quick) return [];
	const machine = machines.get(folder) ?? null;
	const point = (
		run: IndexedRun,
		of: Pick<Point, "system" | "case" | "headline" | "verdict" | "work" | "facts"> & {
			readonly repeat: number;
		},
	): Point[] => {
		const started = run.startedAt === null ? at : Date.parse(run.startedAt);
		if (started === null || !Number.isFinite(started)) return [];
		const commit = commitAt(result.environment, run.startedAt);
		const last = largestOf(
			[...result.runs, ...result.searches]
				.filter((r) => r.system === of.system && r.case === of.case)
				.map((r) => r.repeat),
		);
		const { system, headline, verdict, work, facts } = of;
		return [
			{
				scenario: result.scenario,
				case: of.case,
				system,
				folder,
				headline,
				at: started,
				verdict,
				href,
				more: [
					last > 1 ? `repeat ${of.repeat} of ${last}` : "",
					run.versions?.server || run.brokerVersion || "",
					commit === null ? "" : tell("at-commit", { commit: commitText(commit) }),
				].filter((text) => text !== ""),
				durability: run.load.durability,
				machine,
				work,
				facts,
			},
		];
	};
	return [
		...result.runs
			.filter((run) => run.search === null)
			.flatMap((run) => {
				const facts = workFacts(run);
				const headline = headlineOf(run);
				return point(run, { ...run, headline, facts, work: hashOf(facts) });
			}),
		...result.searches.flatMap((search) => {
			const run = result.runs.find(
				(r) =>
					r.search?.of === search.case && r.system === search.system && r.repeat === search.repeat,
			);
			if (run === undefined) return [];
			const facts = searchFacts(run, search.sla);
			const headline = searchHeadline(search);
			return point(run, { ...search, headline, facts, work: hashOf(facts) });
		}),
	];
}

/** The oldest result's systems first, so that a system keeps its colour as results are added. */
function coloursOf(entries: readonly Entry[]): Map<string, number> {
	const systems = [...entries]
		.reverse()
		.flatMap(({ result }) => result?.runs.map((run) => run.system) ?? []);
	return new Map([...new Set(systems)].map((system, i) => [system, i]));
}

function figureOf(
	id: string,
	group: readonly Point[],
	colours: ReadonlyMap<string, number>,
): TrendFigure {
	const [newest] = group as [Point];
	const lines = new Map<string, Point[]>();
	for (const point of group) {
		const key = JSON.stringify([
			point.system,
			point.work,
			point.durability,
			// What nobody knows may be another machine each time.
			point.machine?.letter ?? point.folder,
		]);
		const line = lines.get(key) ?? [];
		line.push(point);
		lines.set(key, line);
	}
	const named = [...lines.values()].map((line) => {
		const [first] = line as [Point];
		const own = group.filter((p) => p.system === first.system);
		return { first, line, name: nameOf(first, own, group) };
	});
	const dashes = new Map<string, number>();
	return {
		kind: "trend",
		id,
		title: `${newest.scenario}, ${newest.case}: ${newest.headline.name}`,
		facts: factsOf(group),
		description: descriptionOf(named, group),
		unit: newest.headline.unit,
		lines: named.map(({ first, line, name }, i) => {
			const dash = dashes.get(first.system) ?? 0;
			dashes.set(first.system, dash + 1);
			return {
				key: `line-${i + 1}`,
				name,
				group: name,
				colour: colours.get(first.system) ?? 0,
				dash,
				hidden: false,
				points: line
					.map(({ at, headline, more, verdict, href }) => ({
						at,
						value: headline.value,
						text: [headline.text, ...more].join(", "),
						verdict,
						href,
					}))
					.sort((a, b) => a.at - b.at),
			};
		}),
	};
}

/** The system, and what sets this line apart from its newest one. */
function nameOf(first: Point, own: readonly Point[], group: readonly Point[]): string {
	const [newest] = own as [Point];
	const differs = (of: (p: Point) => string | undefined) => new Set(group.map(of)).size > 1;
	const parts = [
		differs((p) => p.machine?.letter) ? `machine ${first.machine?.letter ?? "not known"}` : "",
		first.durability === newest.durability ? "" : first.durability,
		first.work === newest.work
			? ""
			: `other work: ${workDifference(first.facts, newest.facts) ?? "unknown"}`,
	].filter((part) => part !== "");
	return parts.length === 0 ? first.system : `${first.system} (${parts.join("; ")})`;
}

/** "nats: none, nothing is stored; machine A: linux x64, kernel 6.1, 4 cores" */
function factsOf(group: readonly Point[]): string {
	const systems = new Map<string, string>();
	for (const { system, durability } of group)
		if (!systems.has(system)) systems.set(system, durability);
	const machines = new Set(
		group.map(({ machine }) =>
			machine === null ? tell("machine-unknown") : `machine ${machine.letter}: ${machine.text}`,
		),
	);
	return [
		...[...systems].map(([system, durability]) => `${system}: ${durability}`),
		...[...machines].sort(),
	].join("; ");
}

function descriptionOf(
	lines: readonly { readonly first: Point; readonly name: string }[],
	group: readonly Point[],
): string {
	const day = (at: number) => formatUtc(at, "day");
	const times = group.map(({ at }) => at).sort((a, b) => a - b);
	const results = new Set(group.map(({ folder }) => folder)).size;
	const last = lines.map(({ first, name }) => `${name} ${first.headline.text}`).join("; ");
	return tell("trend-alt", { results, from: day(times[0] ?? 0), to: day(times.at(-1) ?? 0), last });
}
