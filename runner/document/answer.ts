import { largestOf, smallestOf } from "../extremes.ts";
import { secondsOf } from "../model/line-seconds.ts";
import type { Result, Run } from "../model/result.ts";
import { type Verdict, worst } from "../model/verdict.ts";
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
import type { Block, Look, MatrixCell } from "./blocks.ts";
import { PAGE } from "./blocks.ts";
import { paragraph } from "./make.ts";
import { lowestOf, ratioText, type Standing, standingOf } from "./standing.ts";

/** What the first screen of a page says in figures: of several runs all side by side, of one what matters most. */
export function answer(result: Result): Block[] {
	const [run, ...others] = result.runs;
	if (run === undefined) return [];
	return others.length === 0
		? [figures(run), paragraph(stallText(run), "plain", PAGE)]
		: [matrix(result)];
}

/** When each run was made and what to hold against it: seen before any figure is believed. */
export function provenance(result: Result): Block[] {
	const { runs, environment } = result;
	if (runs.length === 0) return [];
	const idle = runs.map((run) => idleShare(run, environment?.cores ?? null));
	const items = runs.map((run, i) => ({
		to: `run-${i + 1}`,
		look: trustOf(run),
		text: provenanceText(run, result, idle[i] ?? null),
	}));
	const starts = runs.flatMap(({ startedAt }) => startedAt ?? []).toSorted();
	const [first] = starts;
	const last = starts.at(-1);
	const sittings = 1 + (environment?.resumed?.length ?? 0);
	const repeated = runs.filter(({ confirms }) => confirms).length;
	const doubted = items.filter(({ look }) => look !== "ok").length;
	return [
		{
			kind: "provenance",
			media: PAGE,
			items,
			text: [
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
			].join(", "),
		},
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

function figures(run: Run): Block {
	const metric = run.metrics[run.main];
	const of = (p: number) => {
		const known = metric?.percentiles.find((x) => x.p === p);
		return {
			name: `${run.main} ${percentileName(p)}`,
			text: known === undefined ? "n/a" : percentileValue(known, run),
			note: known === undefined ? "" : intervalText(known),
			alert: false,
		};
	};
	return {
		kind: "counts",
		media: PAGE,
		items: [
			...(isClosed(run)
				? [
						{
							name: "carried",
							text: perSecondText(carriedOf(run)),
							note: "closed loop",
							alert: false,
						},
					]
				: []),
			of(50),
			of(99),
			{
				name: `${run.main} max`,
				text: metric === null ? "n/a" : maxText(metric, run),
				note: `of ${plural(metric?.n ?? 0, "sample")}`,
				alert: false,
			},
			run.lost === null
				? {
						name: "sent",
						text: countText(run.sent),
						note: `of ${formatCount(run.intended)} intended`,
						alert: false,
					}
				: {
						name: ofCopies(run, "lost"),
						text: formatCount(run.lost),
						note: `${countText(run.sent)} messages sent`,
						alert: run.lost > 0,
					},
		],
	};
}

/** Systems by case. Of repeats the one that decides is shown. */
function matrix(result: Result): Block {
	const { runs } = result;
	const systems = [...new Set(runs.map((run) => run.system))];
	const cases = [...new Set(runs.map((run) => run.case))].map((name) => {
		const standings = systems.map((system) =>
			standingOf(runs.filter((r) => r.case === name && r.system === system)),
		);
		const known = standings.filter((one) => one !== null);
		return { name, standings, known, lowest: lowestOf(known) };
	});
	return {
		kind: "matrix",
		media: PAGE,
		cases: cases.map(({ name }) => name),
		unranked: cases.map(({ known, lowest }) => {
			const full = known.filter(({ saturated }) => saturated);
			if (systems.length < 2) return null;
			if (known.some(({ run }) => isClosed(run))) return tell("closed-not-ranked");
			if (full.length > 0)
				return tell("not-ranked", { systems: full.map(({ run }) => run.system).join(", ") });
			return lowest === null ? tell("not-compared") : null;
		}),
		rows: systems.map((system, colour) => ({
			system,
			colour,
			durability: runs.find((run) => run.system === system)?.load.durability ?? "",
			cells: cases.map(({ standings, lowest }) => {
				const one = standings[colour];
				return one ? cellOf(one, lowest, result) : null;
			}),
		})),
	};
}

/** Messages per second; null: not known. */
function carriedOf({ throughput: { received, sent } }: Run): number | null {
	return received ?? sent;
}

function carriedBy({ run, repeats }: Standing): MatrixCell["carried"] {
	const all = repeats.flatMap((one) => carriedOf(one) ?? []).toSorted((a, b) => a - b);
	const ends = [...new Set([all[0], all.at(-1)])];
	return {
		text: perSecondText(carriedOf(run)),
		range: ends.length < 2 ? "" : ends.map((value) => perSecondText(value ?? null)).join(" to "),
	};
}

function cellOf(standing: Standing, lowest: Standing | null, result: Result): MatrixCell {
	const { run, p50, p99, repeats } = standing;
	return {
		to: `run-${result.runs.indexOf(run) + 1}`,
		verdict: verdictOf(repeats, result),
		metric: run.main,
		p50: p50.of === undefined ? "n/a" : percentileValue(p50.of, run),
		p50Interval: intervalText(p50.interval),
		p99: p99.of === undefined ? "n/a" : percentileValue(p99.of, run),
		p99Interval: intervalText(p99.interval),
		carried: isClosed(run) ? carriedBy(standing) : null,
		ratio: lowest === null ? null : ratioText(standing, lowest),
		repeats: repeats.length,
		saturated: standing.saturated,
		curve: (run.metrics[run.main]?.curve ?? []).map(({ p, value }) => [p, value] as const),
	};
}

/** The worst of the gates of its system and case, and of what a check decided of a run itself, as of a queue that grew; without any its runs'. */
function verdictOf(repeats: readonly Run[], { gates }: Result): Verdict {
	const [run] = repeats;
	const own = gates.filter((gate) => gate.system === run?.system && gate.case === run?.case);
	const decided = repeats.filter(({ why }) => why !== null);
	return worst([...own, ...(own.length === 0 ? repeats : decided)].map(({ verdict }) => verdict));
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

function provenanceText(run: Run, { runs }: Result, idle: number | null): string {
	const spoken = run.validity.filter(speaks);
	const unknown = run.validity
		.filter(({ status }) => status === "unknown")
		.map(({ check }) => check);
	const shown = spoken.slice(0, MOST_CHECKS);
	return [
		[`${run.system}, ${run.case}`, runs.some((r) => r.repeat > 1) ? `repeat ${run.repeat}` : null]
			.filter((text) => text !== null)
			.join(", "),
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
	].join("; ");
}

const MOST_CHECKS = 4;
/** Runs whose checks are told in sentences. */
const MOST_DETAILED = 60;
