import { depthOf } from "../chart/axes.ts";
import { largestOf, smallestOf } from "../extremes.ts";
import { secondsOf } from "../model/line-seconds.ts";
import type { Result, Run } from "../model/result.ts";
import { countLabel } from "../result/fields.ts";
import { type Outcome, outcomesOf, verdictAt } from "../result/outcomes.ts";
import { carried, maximum } from "../result/select.ts";
import { amount, show, showInterval } from "../result/show.ts";
import { isClosed } from "../result/words.ts";
import { tell } from "../text/tell.ts";
import { formatCount, formatDuration } from "../units.ts";
import {
	alert,
	aside,
	type Block,
	badge,
	type Inline,
	link,
	type Table,
	table,
	text,
} from "./blocks.ts";
import { lowestOf, ratioText, type Standing, standingOf } from "./standing.ts";

/** What the first screen of a page says in figures: all systems and cases side by side; of a run alone where it stalled. */
export function answer(result: Result): Block[] {
	const [run, ...others] = result.runs;
	if (run === undefined) return [];
	return [
		others.length === 0
			? text(stallText(run), undefined, 3)
			: text(
					"Large: p99; of several repeats the middle one; in brackets its 95 % interval, widened to those of the other repeats (∞: no upper end is known; ~: few of the slow messages came independently). Then how many times the lowest p99 of its case it is; overlaps: the intervals do, so the difference may be chance. The curve: latency up to p99.99, all with the same axes. Click a figure to open its run.",
					"small",
					3,
				),
		matrix(result),
	];
}

/**
 * Of the stretches in which a second was at least ten times as slow as most, or in which messages never completed, the worst: the one that
 * lost most, else the slowest. null: there is none.
 */
export function stallText(run: Run): string | null {
	const seconds = run.series.seconds.filter(({ second }) => second >= 0);
	if (seconds.length < FEWEST_SECONDS) return null;
	const known = seconds.flatMap(({ p99 }) => p99 ?? []).sort((a, b) => a - b);
	const middle = known[Math.floor((known.length - 1) / 2)] ?? null;
	const slow = seconds.filter(
		({ p99, missing }) => (middle !== null && (p99 ?? 0) >= STALL * middle) || (missing ?? 0) > 0,
	);
	const stretches: (typeof slow)[] = [];
	for (const second of slow) {
		const last = stretches.at(-1);
		const before = last?.at(-1);
		if (before && before.second + secondsOf(before) === second.second) last?.push(second);
		else stretches.push([second]);
	}
	const [worst] = stretches
		.map((stretch) => ({
			from: stretch[0]?.second ?? 0,
			to: (stretch.at(-1)?.second ?? 0) + secondsOf(stretch.at(-1) ?? {}),
			missing: stretch.reduce((n, s) => n + (s.missing ?? 0), 0),
			max: largestOf(stretch.map((s) => s.max ?? 0)),
		}))
		.toSorted((a, b) => b.missing - a.missing || b.max - a.max);
	if (worst === undefined) return null;
	const { from, to, missing, max } = worst;
	const where = { stretches: stretches.length, from, to };
	const usual = middle === null ? "" : `; p99 of a second usually is ${formatDuration(middle)}`;
	return missing === 0
		? tell("stall", { ...where, slowest: formatDuration(max), usual })
		: tell("stall-missing", { ...where, messages: missing, usual });
}

// --- internal ---

/** How many times the median second's p99 a second's p99 is where it is told as a stall. */
const STALL = 10;
/** Of fewer seconds none is usual. */
const FEWEST_SECONDS = 5;

/** More cases stand below each other. */
const MOST_COLUMNS = 6;
/** Small curves; of more cells there is no room for them. */
const MOST_DRAWN = 120;

/** Systems by case, or cases by system where those are many. Of repeats the one that decides is shown. */
function matrix(result: Result): Table {
	const { runs } = result;
	const systems = [...new Set(runs.map((run) => run.system))];
	const cases = [...new Set(runs.map((run) => run.case))].map((name) => {
		const standings = systems.map((system) =>
			standingOf(runs.filter((r) => r.case === name && r.system === system)),
		);
		return { name, standings, lowest: lowestOf(known(standings)) };
	});
	const all = known(cases.flatMap(({ standings }) => standings));
	const shown: Shown = {
		result,
		outcomes: outcomesOf(result),
		range: all.length > MOST_DRAWN ? null : rangeOf(all),
		uneven: new Set(all.map(({ repeats }) => repeats.length)).size > 1,
		alone: runs.length === 1,
	};
	const bySystem = systems.map((system, color): Inline => {
		const durability = runs.find((run) => run.system === system)?.load.durability ?? "";
		return [{ as: "dot", color }, system, aside(`durability: ${durability}`)];
	});
	const byCase = cases.map(({ name, standings, lowest }): Inline => {
		const why = systems.length < 2 ? null : unranked(known(standings), lowest);
		return why === null ? name : [name, aside(why)];
	});
	const cells = cases.map(({ standings, lowest }) =>
		standings.map((one, color) => (one ? cellOf(one, lowest, color, shown) : "not run")),
	);
	const turned = cases.length > MOST_COLUMNS;
	const heads = turned ? bySystem : byCase;
	const rows = turned
		? cells.map((row, i) => [byCase[i] ?? "", ...row])
		: systems.map((_, i) => [bySystem[i] ?? "", ...cells.map((column) => column[i] ?? "")]);
	const columns = ["", ...heads.map((name) => ({ name }))];
	return table(columns, rows, { look: "cards", depth: 3 });
}

function known(standings: readonly (Standing | null)[]): Standing[] {
	return standings.filter((one) => one !== null);
}

/** Who is not ranked in a case, and why; null: all are. */
function unranked(all: readonly Standing[], lowest: Standing | null): string | null {
	const full = all.filter(({ saturated }) => saturated);
	if (all.some(({ run }) => isClosed(run)))
		return "closed loop: messages a second that it carried; not ranked";
	if (full.length > 0)
		return `${full.map(({ run }) => run.system).join(", ")} not ranked: machine or generator at its limit`;
	return lowest === null ? tell("not-compared") : null;
}

/** Of repeats the lowest and the highest; "" where those are one. */
function carriedRange(repeats: readonly Run[]): string {
	const all = repeats.flatMap((one) => carried(one) ?? []);
	const ends = [...new Set([smallestOf(all), largestOf(all)])];
	return ends.length < 2 ? "" : ends.map((end) => show(amount(end, "messages/s"))).join(" to ");
}

/** What cells of a matrix have in common. */
interface Shown {
	readonly result: Result;
	readonly outcomes: readonly Outcome[];
	/** Of the small curves; null: there is no room for them. */
	readonly range: readonly [low: number, high: number] | null;
	/** Not all cells have as many repeats. */
	readonly uneven: boolean;
	/** There is one run. */
	readonly alone: boolean;
}

/** p99, of a closed loop what it carried; below it what to know of it. It leads to its run. */
function cellOf(
	one: Standing,
	lowest: Standing | null,
	color: number,
	{ result, outcomes, range, uneven, alone }: Shown,
): Inline {
	const { run, repeats, p50, p99 } = one;
	const ratio = lowest === null ? null : ratioText(one, lowest);
	const of = run.main === "response" ? "p99" : `p99 of ${run.main}`;
	const closed = isClosed(run);
	const large = closed ? amount(carried(run), "messages/s") : p99;
	const max = maximum(run.metrics[run.main], run);
	return [
		link(show(large), `#run-${result.runs.indexOf(run) + 1}`),
		...(ratio === null ? [] : [` ${ratio}`]),
		aside(closed ? carriedRange(repeats) : ""),
		aside(`${of}${closed ? ` ${show(p99)}` : ""} ${showInterval(p99)}`),
		aside(one.saturated ? "machine or generator at its limit" : ""),
		aside(`p50 ${show(p50)} ${showInterval(p50)}`),
		aside(alone ? `max ${show(max)}` : ""),
		aside(uneven ? `of ${repeats.length} ${repeats.length === 1 ? "run" : "repeats"}` : ""),
		...(run.lost ? [alert(`${formatCount(run.lost)} ${countLabel(run, "lost")}`)] : []),
		...(range === null ? [] : [{ as: "line", values: curveOf(run), range, color } as const]),
		badge(verdictAt(run, outcomes)),
	];
}

/** Steps of a small curve, and where it ends: p99.99. */
const STEPS = 42;
const DEEPEST = 4;

/** Latency by percentile, at even distances of nines; null beyond what is known. */
function curveOf(run: Run): (number | null)[] {
	const curve = run.metrics[run.main]?.curve ?? [];
	return Array.from({ length: STEPS + 1 }, (_, i) => {
		const depth = (i * DEEPEST) / STEPS;
		return curve.find(({ p }) => depthOf(p) >= depth - 1e-9)?.value ?? null;
	});
}

/** Of all cells, that their curves can be compared. */
function rangeOf(all: readonly Standing[]): readonly [number, number] {
	const values = all.flatMap(({ run }) =>
		(run.metrics[run.main]?.curve ?? []).flatMap(({ value }) => (value > 0 ? [value] : [])),
	);
	return values.length === 0 ? [1, 10] : [smallestOf(values), largestOf(values)];
}
