import type { Datum, Figure, Span } from "../chart/figure.ts";
import { largestOf, smallestOf } from "../extremes.ts";
import { rank } from "../histogram/percentiles.ts";
import { secondsOf } from "../model/line-seconds.ts";
import type { Run } from "../model/result.ts";
import { faultZeroNs } from "../model/run-file.ts";
import { messagesBefore } from "../plan/offset.ts";
import { maximum } from "../result/select.ts";
import { show } from "../result/show.ts";
import { sum } from "../stats/sum.ts";
import { formatDuration, ratePerSecond } from "../units.ts";
import { faultName } from "../verdict/faults.ts";
import { mainLimits, panelOf, type Subject, sentence, seriesOf } from "./facts.ts";
import { resourcePanels } from "./resources.ts";
import {
	joined,
	middleOf,
	most,
	type OverTime,
	rounded,
	secondsAxis,
	stretch,
	ticksOf,
	unfinishedOf,
	warmUp,
	worst,
} from "./stretches.ts";

export function timeFigure(of: Subject, points: number): Figure | null {
	const { run } = of;
	const size = stretch(run, points);
	const measured = [...loadPanels(run, size), ...resourcePanels(run, size)].flatMap(
		({ title, unit, lines, draw = "step" }) => {
			const series = lines.flatMap(([name, dash, data]) => {
				const color = dash === 0 ? of.color : -1;
				const known = data.some(({ y, text }) => y !== null || text !== undefined);
				return known ? [seriesOf(name, data, { color, dash, draw })] : [];
			});
			const used = series.some(({ data }) => data.some(({ y }) => (y ?? 0) > 0));
			return used ? [panelOf(unit, series, [], title)] : [];
		},
	);
	const [first, ...others] = measured;
	if (first === undefined) return null;
	const { counts, spans, unplaced } = unfinishedOf(run, size);
	const missing = counts.length > 0 ? [seriesOf("never completed", counts, { group: "" })] : [];
	const limits = first.title.startsWith(run.main) ? mainLimits(of) : [];
	const all = measured.flatMap((panel) => panel.series.flatMap(({ data }) => data));
	return {
		id: `${of.id}-time`,
		title: `${sentence(run.main)} and rate over time: ${of.title}`,
		facts: [of.facts, ...unplaced].join("; "),
		x: secondsAxis(
			run,
			size,
			all.map(({ x }) => x),
		),
		panels: [{ ...first, series: [...missing, ...first.series], limits }, ...others],
		spans: [...warmUp(run), ...phases(run), ...faults(run), ...spans],
	};
}

export function heatFigure(of: Subject, most: number): Figure | null {
	const { run } = of;
	const { heat } = run.series;
	if (heat === null || heat.cells.length === 0 || heat.binsNs.length === 0) return null;
	const seconds = heat.cells.map(([second]) => second);
	const [first, last] = [smallestOf(seconds), largestOf(seconds)];
	const columns = (last - first) / heat.width + 1;
	const size = heat.width * Math.max(1, Math.ceil(columns / most));
	const { counts, spans, unplaced } = unfinishedOf(run, size);
	const series = [
		seriesOf("samples", cellsOf(heat, size), { group: "", draw: "cells" }),
		...(counts.length > 0 ? [seriesOf("never completed", counts, { group: "" })] : []),
	];
	return {
		id: `${of.id}-heat`,
		title: `${sentence(run.main)} by second, every message: ${of.title}`,
		facts: [of.facts, ...unplaced].join("; "),
		x: secondsAxis(run, size, [last + size]),
		panels: [{ ...panelOf("ns", series, mainLimits(of)), log: true }],
		spans: [...warmUp(run), ...spans],
	};
}

// --- internal ---

type Second = Run["series"]["seconds"][number];
type Tick = Run["series"]["ticks"][number];
type Quantile = "p50" | "p99" | "max";

function loadPanels(run: Run, size: number): OverTime[] {
	const { pattern, schedule } = run.load;
	const { seconds, ticks } = run.series;
	const latency = (key: Quantile) => worstLatency(run, key, size);
	const lateness = (key: "lag" | "queued") =>
		worst(
			seconds.map((s) => [s.second, s[key]?.p99]),
			size,
		);
	/** Counted ten times a second: the most of each stretch. */
	const sampled = (of: (tick: Tick) => readonly number[]) =>
		worst(
			ticksOf(run).map((tick) => [beginOf(tick, run), most(of(tick))]),
			size,
		);
	const by = schedule.kind === "closed" ? "sending" : "intended time";
	const waiting = pattern === "backlog" ? " or waiting" : "";
	const holds = ticks.some(({ held }) => held?.some((n) => n > 0));
	return [
		{
			title: `${run.main} by second of ${by}${size > 1 ? `, the worst of each ${size}` : ""}`,
			unit: "ns",
			draw: "line",
			lines: [
				["max", 1, latency("max")],
				["p99", 0, latency("p99")],
				["p50", 2, latency("p50")],
			],
		},
		{
			title: "the generator's lag, and queued",
			unit: "ns",
			draw: "line",
			lines: [
				["lag p99", 0, lateness("lag")],
				["queued p99", 1, lateness("queued")],
			],
		},
		{
			title: `messages per second${size > 1 ? `, mean of each ${size} seconds` : ""}`,
			unit: "messages/s",
			lines: [
				["scheduled", 1, scheduled(run, size)],
				["sent", 0, mean(run, "sent", size)],
				[
					`${pattern === "fan-out" ? "copies " : ""}received`,
					2,
					pattern === "publish" ? [] : mean(run, "received", size),
				],
			],
		},
		{
			title: `messages in flight${waiting}`,
			unit: "messages",
			draw: "line",
			lines: [
				[
					`in flight${waiting}`,
					0,
					sampled((t) => (t.backlog.length === 0 ? [t.inFlight] : t.backlog)),
				],
				// In a fan-out these are copies.
				["held by the library", 1, holds ? sampled((t) => t.held ?? []) : []],
			],
		},
	];
}

/** Seconds from the window's start. */
function beginOf(tick: Tick, { window }: Run): number {
	return tick.at - secondsOf(tick) - window.startNs / 1e9;
}

/** The worst second of each stretch. A percentile among messages that never completed is a gap: the others' highest would look calm. */
function worstLatency(run: Run, key: Quantile, size: number): Datum[] {
	const second = (one: Second) => one.second;
	return joined(run.series.seconds, { size, second }, (part) => {
		if (!part.some((one) => isBeyond(one, key))) return { y: most(part.map((one) => one[key])) };
		const longest = key === "max" ? most(part.map(({ max }) => max)) : null;
		const more = longest === null ? "" : ` (${formatDuration(longest)} of those that completed)`;
		return { y: null, text: `${show(maximum({ censored: 1, max: null }, run))}${more}` };
	});
}

/** Whether it is among messages that never completed. The maximum is if one did not. */
function isBeyond(second: Second, key: Quantile): boolean {
	const { missing, count } = second;
	if (missing === null || missing === 0) return false;
	if (key === "max") return true;
	return second[key] === null && rank(count + missing, key === "p99" ? 99 : 50) > count;
}

/** In real time, without the drain after the window. */
function mean(run: Run, key: "sent" | "received", size: number): Datum[] {
	return joined(ticksOf(run), { size, second: (tick) => beginOf(tick, run) }, (part) => ({
		y: rounded(sum(part.map((t) => t[key])) / sum(part.map(secondsOf))),
	}));
}

function scheduled({ load: { schedule }, window }: Run, size: number): Datum[] {
	if (schedule.kind === "closed" || schedule.rate === null) return [];
	const { startNs, endNs } = window;
	const rate = ratePerSecond(schedule.rate);
	const each = size * 1e9;
	const first = -Math.ceil(startNs / each);
	return Array.from({ length: Math.ceil((endNs - startNs) / each) - first }, (_, i) => {
		const slot = first + i;
		const from = Math.max(0, startNs + slot * each);
		const to = Math.min(endNs, startNs + (slot + 1) * each);
		const due = () => messagesBefore(schedule, to) - messagesBefore(schedule, from);
		const y = schedule.kind === "stages" ? (due() * 1e9) / (to - from) : rate;
		return { x: middleOf(slot, size), y: rounded(y) };
	});
}

function phases({ phases }: Run): Span[] {
	const kind = "phase";
	return phases.map(({ name: text, fromNs, toNs }) => ({
		from: fromNs / 1e9,
		to: toNs / 1e9,
		text,
		kind,
	}));
}

function faults({ window, failover }: Run): Span[] {
	const second = (ns: number) => rounded((ns - window.startNs) / 1e9);
	return failover
		.filter(({ error }) => error === null)
		.map((fault) => {
			const { beganNs, endedNs } = fault;
			const lasts =
				endedNs === null ? ", never taken back" : ` for ${formatDuration(endedNs - beganNs)}`;
			const end = second(Math.max(beganNs, endedNs ?? window.endNs));
			const text = `${faultName(fault)}${lasts}`;
			return { from: second(faultZeroNs(fault)), to: end, text, kind: "fault" };
		});
}

/** Columns count from the window's start, so none holds both warm-up and window. */
function cellsOf(heat: NonNullable<Run["series"]["heat"]>, size: number): Datum[] {
	const sums = new Map<string, [x: number, bin: number, n: number]>();
	for (const [second, bin, n] of heat.cells) {
		const x = Math.floor(second / size) * size;
		const cell = sums.get(`${x} ${bin}`);
		if (cell === undefined) sums.set(`${x} ${bin}`, [x, bin, n]);
		else cell[2] += n;
	}
	const edge = (bin: number) => heat.binsNs[bin] ?? heat.endNs;
	return [...sums.values()]
		.sort((a, b) => a[0] - b[0] || a[1] - b[1])
		.map(([x, bin, n]) => ({ x: x + size / 2, y: edge(bin), y2: edge(bin + 1), n }));
}
