import { depthOf } from "../chart/axes.ts";
import { largestOf, smallestOf } from "../extremes.ts";
import { secondsOf } from "../model/line-seconds.ts";
import type { Result, Run } from "../model/result.ts";
import { type Outcome, outcomesOf, verdictAt } from "../result/outcomes.ts";
import {
	countText,
	intervalText,
	isClosed,
	maxText,
	ofCopies,
	percentileName,
	percentileValue,
	perSecondText,
} from "../result/words.ts";
import { sum } from "../stats/sum.ts";
import { percent } from "../text/percent.ts";
import { tell } from "../text/tell.ts";
import { formatCount, formatDuration, formatUtc, plural } from "../units.ts";
import {
	aside,
	type Block,
	badge,
	type Fold,
	fold,
	type Inline,
	type Look,
	link,
	numbers,
	type Piece,
	type Table,
	table,
	text,
} from "./blocks.ts";
import { lowestOf, ratioText, type Standing, standingOf } from "./standing.ts";

/** What the first screen of a page says in figures: of several runs all side by side, of one what matters most. */
export function answer(result: Result): Block[] {
	const [run, ...others] = result.runs;
	if (run === undefined) return [];
	return others.length === 0
		? [figures(run), text(stallText(run), undefined, 3)]
		: [text(tell("matrix-means"), "small", 3), matrix(result)];
}

/** When each run was made and what to hold against it: seen before any figure is believed. */
export function provenance(result: Result): Fold[] {
	const { runs, environment } = result;
	if (runs.length === 0) return [];
	const idle = runs.map((run) => idleShare(run, environment?.cores ?? null));
	const items = runs.map((run, i) => ({
		badge: trustOf(run),
		text: [link(placeOf(run, result), `#run-${i + 1}`), ...saidOf(run, result, idle[i] ?? null)],
	}));
	const starts = runs.flatMap(({ startedAt }) => startedAt ?? []).toSorted();
	const [first] = starts;
	const last = starts.at(-1);
	const sittings = 1 + (environment?.resumed?.length ?? 0);
	const repeated = runs.filter(({ confirms }) => confirms).length;
	const doubted = items.filter((item) => item.badge !== "ok").length;
	const title = [
		first === undefined || last === undefined
			? plural(runs.length, "run")
			: `${plural(runs.length, "run")} begun ${formatUtc(first)}${last === first ? "" : ` to ${formatUtc(last)}`} UTC`,
		sittings === 1 ? "in one sitting" : `in ${sittings} sittings, resumed`,
		...(runs.length > 1
			? [
					runs.every(({ repeat }) => repeat === 1)
						? tell("each-once")
						: `up to ${largestOf(runs.map(({ repeat }) => repeat))} repeats`,
				]
			: []),
		...(repeated > 0 ? [`${repeated} repeated to confirm`] : []),
		...idleTexts(idle.filter((share) => share !== null)),
		doubted === 0 ? tell("no-check-speaks") : `checks speak against ${doubted} of them`,
	].join(", ");
	return [fold(title, [{ kind: "list", items }], { depth: 3 })];
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
	const usual = middle === null ? "" : tell("stall-usual", { p99: formatDuration(middle) });
	return missing === 0
		? tell("stall", { ...where, slowest: formatDuration(max), usual })
		: tell("stall-missing", { ...where, messages: missing, usual });
}

// --- internal ---

/** How many times the median second's p99 a second's p99 is where it is told as a stall. */
const STALL = 10;
/** Of fewer seconds none is usual. */
const FEWEST_SECONDS = 5;

function figures(run: Run): Table {
	const metric = run.metrics[run.main];
	const of = (p: number): [string, Inline] => {
		const known = metric?.percentiles.find((x) => x.p === p);
		const name = `${run.main} ${percentileName(p)}`;
		return known === undefined
			? [name, "n/a"]
			: [name, [percentileValue(known, run), aside(intervalText(known))]];
	};
	const delivered = (): [string, Inline] => {
		const sent = countText(run.sent);
		if (run.lost === null)
			return ["sent", [sent, aside(`of ${formatCount(run.intended)} intended`)]];
		const lost = formatCount(run.lost);
		const value: Piece = run.lost > 0 ? { as: "alert", text: lost } : lost;
		return [ofCopies(run, "lost"), [value, aside(`${sent} messages sent`)]];
	};
	const carried: Inline = [perSecondText(carriedOf(run)), aside("closed loop")];
	const max = metric === null ? "n/a" : maxText(metric, run);
	const cells: [string, Inline][] = [
		...(isClosed(run) ? [["carried", carried] as [string, Inline]] : []),
		of(50),
		of(99),
		[`${run.main} max`, [max, aside(`of ${plural(metric?.n ?? 0, "sample")}`)]],
		delivered(),
	];
	return table(numbers(cells.map(([name]) => name)), [cells.map(([, value]) => value)], {
		look: "row",
		depth: 3,
	});
}

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
	if (all.some(({ run }) => isClosed(run))) return tell("closed-not-ranked");
	if (full.length > 0)
		return tell("not-ranked", { systems: full.map(({ run }) => run.system).join(", ") });
	return lowest === null ? tell("not-compared") : null;
}

/** Messages per second; null: not known. */
function carriedOf({ throughput: { received, sent } }: Run): number | null {
	return received ?? sent;
}

/** Of repeats the lowest and the highest; "" where those are one. */
function carriedRange(repeats: readonly Run[]): string {
	const all = repeats.flatMap((one) => carriedOf(one) ?? []).toSorted((a, b) => a - b);
	const ends = [...new Set([all[0], all.at(-1)])];
	return ends.length < 2 ? "" : ends.map((value) => perSecondText(value ?? null)).join(" to ");
}

/** What cells of a matrix have in common. */
interface Shown {
	readonly result: Result;
	readonly outcomes: readonly Outcome[];
	/** Of the small curves; null: there is no room for them. */
	readonly range: readonly [low: number, high: number] | null;
	/** Not all cells have as many repeats. */
	readonly uneven: boolean;
}

/** p99, of a closed loop what it carried; below it what to know of it. It leads to its run. */
function cellOf(
	one: Standing,
	lowest: Standing | null,
	color: number,
	{ result, outcomes, range, uneven }: Shown,
): Inline {
	const { run, repeats } = one;
	const value = ({ of, interval }: Standing["p99"]) => ({
		text: of === undefined ? "n/a" : percentileValue(of, run),
		interval: intervalText(interval),
	});
	const [p50, p99] = [value(one.p50), value(one.p99)];
	const ratio = lowest === null ? null : ratioText(one, lowest);
	const of = run.main === "response" ? "" : ` of ${run.main}`;
	const closed = isClosed(run);
	return [
		link(closed ? perSecondText(carriedOf(run)) : p99.text, `#run-${result.runs.indexOf(run) + 1}`),
		...(ratio === null ? [] : [` ${ratio}`]),
		aside(closed ? carriedRange(repeats) : ""),
		aside(`p99${of}${closed ? ` ${p99.text}` : ""} ${p99.interval}`),
		aside(one.saturated ? tell("machine-at-end") : ""),
		aside(`p50 ${p50.text} ${p50.interval}`),
		aside(uneven ? `of ${repeats.length} ${repeats.length === 1 ? "run" : "repeats"}` : ""),
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

/** What a run's checks say, at worst. */
function trustOf({ validity, state, verdict }: Run): Look {
	if (state !== "complete" || verdict === "error") return "error";
	if (verdict === "invalid") return "invalid";
	if (validity.some(({ status }) => status === "fail")) return "fail";
	return validity.some(speaks) ? "warn" : "ok";
}

/** Against its run: what could not be checked says nothing of it. */
function speaks({ status }: Run["validity"][number]): boolean {
	return status === "warn" || status === "invalid" || status === "fail";
}

/**
 * Of the CPU time of this machine in the window, whoever used the rest; null: it was not sampled, or generator and brokers ran elsewhere. The kernel
 * counts a machine's time by ticks, which miss what runs between two of them, and that of a process exactly: the machine was at least as busy as
 * generator and broker.
 */
function idleShare({ series, window, sameHost }: Run, cores: number | null): number | null {
	if (cores === null || (series.hosts.length > 0 && sameHost !== true)) return null;
	// The nodes of a broker elsewhere have their CPU time from there.
	const here = sameHost === true && series.brokerHosts === undefined;
	const busy = series.resources.flatMap(({ at, machine, generator, broker }) =>
		at * 1e9 > window.startNs && at * 1e9 <= window.endNs && machine.busyCores !== null
			? Math.max(machine.busyCores, (generator?.cores ?? 0) + (here ? (broker?.cores ?? 0) : 0))
			: [],
	);
	// Who may use some of the cores only does not know how many there are.
	return busy.length === 0 || largestOf(busy) > cores * 1.05
		? null
		: Math.max(0, 1 - sum(busy) / busy.length / cores);
}

/** "machine 41 % to 80 % idle" */
function idleTexts(shares: readonly number[]): string[] {
	if (shares.length === 0) return [];
	const [low, high] = [smallestOf(shares), largestOf(shares)].map(percent);
	return [`machine ${low === high ? low : `${low} to ${high}`} idle`];
}

/** Whether p50 had settled, where a check has looked. */
function steadyTexts({ validity }: Run): string[] {
	if (validity.some(({ status }) => status === "fail")) return [tell("queue-grew")];
	const found = validity.filter(({ check }) => STEADY.has(check));
	if (found.some((c) => speaks(c) || c.code === "drifted")) return ["not steady"];
	return found.some(({ status }) => status === "ok") ? ["steady"] : [];
}

const STEADY = new Set(["steady", "warm-up"]);

function placeOf({ system, case: name, repeat }: Run, { runs }: Result): string {
	const several = runs.some((run) => run.repeat > 1);
	return `${system}, ${name}${several ? `, repeat ${repeat}` : ""}`;
}

function saidOf(run: Run, { runs }: Result, idle: number | null): string[] {
	const spoken = run.validity.filter(speaks);
	const unknown = run.validity
		.filter(({ status }) => status === "unknown")
		.map(({ check }) => check);
	const shown = spoken.slice(0, MOST_CHECKS);
	return [
		run.startedAt === null ? "never begun" : `begun ${formatUtc(run.startedAt)}`,
		...(run.confirms ? ["repeated to confirm"] : []),
		...idleTexts(idle === null ? [] : [idle]),
		...steadyTexts(run),
		...(spoken.length === 0 ? [tell("no-check-speaks")] : []),
		...shown.map(({ check, detail }) =>
			runs.length > MOST_DETAILED ? check : `${check}: ${detail}`,
		),
		...(spoken.length > shown.length ? [`and ${spoken.length - shown.length} more`] : []),
		...(unknown.length > 0 ? [`not checked: ${unknown.join(", ")}`] : []),
	].map((said) => `; ${said}`);
}

const MOST_CHECKS = 4;
/** Runs whose checks are told in sentences. */
const MOST_DETAILED = 60;
