import type { Datum, Figure, Series, Span } from "../chart/figure.ts";
import { largestOf } from "../extremes.ts";
import { secondsOf, spread } from "../model/line-seconds.ts";
import type { Run } from "../model/result.ts";
import { faultZeroNs } from "../model/run-file.ts";
import { messagesBefore } from "../plan/offset.ts";
import { sum } from "../stats/sum.ts";
import { formatDuration, formatDurationExact, ratePerSecond } from "../units.ts";
import { faultName } from "../verdict/checks/run.ts";
import { mainLimits, panelOf, readOnly, type Subject, sentence } from "./facts.ts";
import { resourcePanels } from "./resources.ts";
import {
	joinedBy,
	type Rows,
	rounded,
	secondsAxis,
	slotOf,
	stretch,
	ticksOf,
	unfinishedOf,
	warmUp,
	worst,
	worstLatency,
} from "./stretches.ts";

/** Everything of a run over time, in at most `most` points a line. null: nothing was measured. */
export function timeFigure(of: Subject, most: number): Figure | null {
	const { run } = of;
	const size = stretch(run, most);
	const measured = [...loadPanels(run, size, most), ...resourcePanels(run, size)].flatMap(
		({ title, unit, rows, draw = "step" }) => {
			const series = rows.flatMap(([key, name, dash, data]): Series[] => {
				const color = dash === 0 ? of.color : -1;
				const known = data.some(({ y, text }) => y !== null || text !== undefined);
				return known ? [{ key, name, group: name, color, dash, thin: false, draw, data }] : [];
			});
			const used = series.some(({ data }) => data.some(({ y }) => (y ?? 0) > 0));
			return used ? [panelOf(unit, series, [], title)] : [];
		},
	);
	const [first, ...others] = measured;
	if (first === undefined) return null;
	const { counts, spans, unplaced } = unfinishedOf(run, size);
	const series = [...readOnly("missing", "never completed", counts), ...first.series];
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
		layout: "stack",
		panels: [{ ...first, series, limits }, ...others],
		spans: [...warmUp(run), ...phases(run), ...faults(run), ...spans],
	};
}

// --- internal ---

type Tick = Run["series"]["ticks"][number];

/** Latency, lateness, rates and what is in flight. */
function loadPanels(run: Run, size: number, most: number): Rows[] {
	const { pattern, schedule } = run.load;
	const { seconds, ticks } = run.series;
	const latency = (key: "p50" | "p99" | "max") => worstLatency(run, key, size);
	const lateness = (key: "lag" | "queued") =>
		worst(
			seconds.map((s) => [s.second, s[key]?.p99 ?? null]),
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
			rows: [
				["max", "max", 1, latency("max")],
				["p99", "p99", 0, latency("p99")],
				["p50", "p50", 2, latency("p50")],
			],
		},
		{
			// What of the response was the generator's own lateness, and what earlier blocking explains.
			title: "the generator's lag, and queued",
			unit: "ns",
			draw: "line",
			rows: [
				["lag", "lag p99", 0, lateness("lag")],
				["queued", "queued p99", 1, lateness("queued")],
			],
		},
		{
			title: `messages per second${size > 1 ? `, mean of each ${size} seconds` : ""}`,
			unit: "messages/s",
			rows: [
				["scheduled", "scheduled", 1, scheduled(run, size)],
				["sent", "sent", 0, mean(run, "sent", size)],
				[
					"received",
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
			rows: [
				[
					"in-flight",
					`in flight${waiting}`,
					0,
					sampled(run, most, (t) => (t.backlog.length === 0 ? [t.inFlight] : t.backlog)),
				],
				// Of a fan-out these are copies.
				["held", "held by the library", 1, holds ? sampled(run, most, (t) => t.held ?? []) : []],
			],
		},
	];
}

/** Messages per second of real time; of a longer stretch its mean. The drain after the window is cut off. */
function mean(run: Run, key: "sent" | "received", size: number): Datum[] {
	const warmup = run.window.startNs / 1e9;
	const slot = (tick: Tick) => slotOf(tick.at - secondsOf(tick) - warmup, size);
	return joinedBy(ticksOf(run), { slot, size }, (part) => {
		const [first, last] = [part[0] as Tick, part.at(-1) as Tick];
		return {
			x: rounded((first.at - secondsOf(first) + last.at) / 2 - warmup),
			y: rounded(sum(part.map((t) => t[key])) / sum(part.map(secondsOf))),
		};
	});
}

/** What the schedule meant to send: of a rate that changes by the stretches of the picture. */
function scheduled({ load: { schedule }, window: { startNs, endNs } }: Run, size: number): Datum[] {
	if (schedule.kind === "closed" || schedule.rate === null) return [];
	const second = (ns: number) => (ns - startNs) / 1e9;
	if (schedule.kind !== "stages")
		return [{ x: second(0), y: ratePerSecond(schedule.rate), x2: second(endNs) }];
	const data: Datum[] = [];
	const each = size * 1e9;
	// Counted from the window's start, as all stretches are.
	for (let next = startNs % each; next - each < endNs; next += each) {
		const [from, to] = [Math.max(0, next - each), Math.min(next, endNs)];
		if (to <= from) continue;
		const due = messagesBefore(schedule, to) - messagesBefore(schedule, from);
		data.push({ x: rounded(second((from + to) / 2)), y: rounded((due * 1e9) / (to - from)) });
	}
	return data;
}

/** Samples within seconds (in flight and waiting are counted ten times a second): the most of each stretch. A single one is of the second's end. */
function sampled(run: Run, most: number, of: (tick: Tick) => readonly number[]): Datum[] {
	const warmup = run.window.startNs / 1e9;
	const ticks = ticksOf(run);
	const each = Math.max(1, largestOf(ticks.map((tick) => of(tick).length)));
	const samples = ticks.flatMap((tick) =>
		spread(tick, of(tick)).map(({ n, at }, i, { length }) => ({
			at,
			place:
				Math.round((tick.at - secondsOf(tick)) * each) +
				Math.floor((i * each * secondsOf(tick)) / length),
			n,
		})),
	);
	const places = (samples.at(-1)?.place ?? 0) - (samples[0]?.place ?? 0) + 1;
	const size = Math.max(1, Math.ceil(places / most));
	const slot = ({ place }: (typeof samples)[number]) => Math.floor(place / size);
	return joinedBy(samples, { slot, size: size / each }, (part) => ({
		x: rounded(((part[0]?.at ?? 0) + (part.at(-1)?.at ?? 0)) / 2 - warmup),
		y: largestOf(part.map(({ n }) => n)),
	}));
}

function phases({ phases }: Run): Span[] {
	return phases.map(({ name: text, fromNs }) => {
		const at = fromNs / 1e9;
		return { from: at, to: at, text, kind: "phase" };
	});
}

/** As they were done; where nothing was written down, as they were planned. */
function faults({ window, load, failover }: Run): Span[] {
	const second = (ns: number) => (ns - window.startNs) / 1e9;
	if (failover.length === 0)
		return load.faults.map(({ atNs, action, forNs, node, delayNs }): Span => {
			const leader = node === "leader";
			const name = faultName({ action, delayNs, leader, node: leader ? null : node });
			const text = `${name}${forNs === null ? "" : ` for ${formatDurationExact(forNs)}`} (planned)`;
			return { from: second(atNs), to: second(atNs + (forNs ?? 0)), text, kind: "fault" };
		});
	return failover
		.filter(({ error }) => error === null)
		.map((fault): Span => {
			const { beganNs, endedNs } = fault;
			const text = `${faultName(fault)}${endedNs === null ? ", never taken back" : ` for ${formatDuration(endedNs - beganNs)}`}`;
			return {
				from: rounded(second(faultZeroNs(fault))),
				to: rounded(second(Math.max(beganNs, endedNs ?? window.endNs))),
				text,
				kind: "fault",
			};
		});
}
