import type { TimeFigure } from "../chart/old-figure.ts";
import { unitText } from "../chart/units.ts";
import { largestOf } from "../extremes.ts";
import { secondsOf, spread } from "../model/line-seconds.ts";
import type { Gate, Result, Run } from "../model/result.ts";
import { messagesBefore } from "../plan/offset.ts";
import { factsText, loadText, runTitle } from "../result/words.ts";
import { faultZeroNs } from "../run/faults.ts";
import { sum } from "../stats/sum.ts";
import { tell } from "../text/tell.ts";
import { formatDuration, formatDurationExact, ratePerSecond } from "../units.ts";
import { faultName } from "../verdict/checks/run.ts";
import { systemNumbers } from "./numbers.ts";
import { gatesOf, sentence } from "./percentile-figure.ts";
import {
	type Draft,
	joinedBy,
	middle,
	type Points,
	rounded,
	stretch,
	ticksOf,
	worst,
} from "./points.ts";
import { resources } from "./resource-panels.ts";
import { beyondOf, unfinishedOf, unfinishedSentence } from "./unfinished.ts";

/** Everything of a run over time, in at most `most` points a line. null: nothing was measured. */
export function timeFigure(id: string, run: Run, result: Result, most: number): TimeFigure | null {
	if (run.series.seconds.length === 0 && run.series.ticks.length === 0) return null;
	const [from, to] = [-run.window.startNs / 1e9, windowSeconds(run)];
	const place = systemNumbers(result).get(run.system) ?? 0;
	const size = stretch(run, most);
	const panels = [
		latency(run, size, gatesOf(run, result)),
		lateness(run, size),
		rates(run, size),
		inFlight(run, most),
		...resources(run, size),
	].filter((panel) => panel.lines.length > 0);
	if (panels.length === 0) return null;
	const unfinished = unfinishedOf(run, size);
	return {
		kind: "time",
		id,
		title: `${sentence(run.main)} and rate over time: ${runTitle(run, result)}`,
		facts: `${factsText(run, result)}; ${loadText(run)}`,
		description: describe(panels, [from, to], unfinished),
		width: size,
		from,
		to: endOf(run, panels.flatMap(pointsOf)),
		panels: panels.map((panel) => ({
			...panel,
			lines: panel.lines.map(({ offset, ...line }) => ({
				...line,
				group: line.name,
				// The system's colour is for its main line; what stands beside it is grey, and has dashes.
				colour: offset === 0 ? place : -1,
			})),
		})),
		marks: marksOf(run),
		unfinished,
	};
}

/** Where the axis ends: with the window, but of a closed loop, which may last parts of a second, with its last point. */
export function endOf(run: Run, seconds: readonly number[]): number {
	const end = Math.max(windowSeconds(run), 1e-3);
	return run.load.schedule.kind === "closed"
		? Math.max(end, largestOf(seconds.map(Math.ceil)))
		: end;
}

// --- internal ---

function pointsOf({ lines }: Draft): number[] {
	return lines.flatMap(({ points }) => points.map(([second]) => second));
}

function windowSeconds({ window }: Run): number {
	return (window.endNs - window.startNs) / 1e9;
}

/**
 * By second of intended time; of a longer stretch the worst second, never an average. A value that lies among those that never completed
 * is worse than any other, and a gap: the highest of those that completed would look like a calm second.
 */
function latency(run: Run, size: number, gates: readonly Gate[]): Draft {
	const { seconds } = run.series;
	const line = (key: "p50" | "p99" | "max", offset: number, dash: number) => ({
		key,
		name: key,
		offset,
		dash,
		hidden: false,
		steps: false,
		points: worst(
			seconds.map((s) => [s.second, beyondOf(s).includes(key) ? Number.POSITIVE_INFINITY : s[key]]),
			size,
		).map(([x, value]) => [x, Number.isFinite(value) ? value : null] as const),
	});
	return {
		title: `${run.main} by second of ${run.load.schedule.kind === "closed" ? "sending" : "intended time"}${size > 1 ? `, the worst of each ${size}` : ""}`,
		unit: "ns",
		logarithmic: false,
		lines: seconds.some((s) => s.max !== null)
			? [line("max", -1, 1), line("p99", 0, 0), line("p50", 1, 2)]
			: [],
		limits: gates.flatMap((g) =>
			g.metric === run.main && g.limitNs !== null ? [{ text: g.sla, value: g.limitNs }] : [],
		),
	};
}

/** What of the response was the generator's own lateness, and what earlier blocking explains. */
function lateness(run: Run, size: number): Draft {
	const { seconds } = run.series;
	const line = (key: "lag" | "queued", name: string, i: number) => {
		const points = worst(
			seconds.map((s) => [s.second, s[key]?.p99 ?? null]),
			size,
		);
		return points.every(([, value]) => value === null)
			? []
			: [{ key, name, offset: i, dash: i, hidden: false, steps: false, points }];
	};
	return {
		title: tell("axis-lag-queued"),
		unit: "ns",
		logarithmic: false,
		lines: [...line("lag", "lag p99", 0), ...line("queued", "queued p99", 1)],
		limits: [],
	};
}

/** Messages per second of real time; of a longer stretch its mean. The drain after the window is cut off. */
function rates(run: Run, size: number): Draft {
	const { pattern, schedule } = run.load;
	const ticks = ticksOf(run);
	const warmup = run.window.startNs / 1e9;
	const mean = (key: "sent" | "received"): Points =>
		joinedBy(
			ticks,
			// Counted from the window's start, as all stretches are.
			{ slotOf: (tick) => Math.floor((tick.at - secondsOf(tick) - warmup) / size + 1e-9), size },
			(part) => [
				middle(part, run),
				rounded(sum(part.map((t) => t[key])) / sum(part.map(secondsOf))),
			],
		);
	const line = (
		key: string,
		name: string,
		points: Points,
		[offset, dash]: readonly [number, number],
	) =>
		points.length === 0
			? []
			: [
					{
						key,
						name,
						offset,
						dash,
						hidden: false,
						steps: true,
						points,
						...(key === "scheduled" && schedule.kind !== "stages" ? { throughout: true } : {}),
					},
				];
	const copies = pattern === "fan-out" ? "copies " : "";
	return {
		title: `messages per second${size > 1 ? `, mean of each ${size} seconds` : ""}`,
		unit: "messages/s",
		logarithmic: false,
		lines: [
			...(schedule.kind === "closed"
				? []
				: line("scheduled", "scheduled", scheduled(run, size), [-1, 1])),
			...line("sent", "sent", mean("sent"), [0, 0]),
			...(pattern === "publish"
				? []
				: line("received", `${copies}received`, mean("received"), [1, 2])),
		],
		limits: [],
	};
}

/**
 * Sent and not completed, as it was counted ten times a second: the most of each stretch. Of a backlog those that wait, too. Beside them what
 * waited in the client library for its handler; of a fan-out these are copies.
 */
function inFlight(run: Run, most: number): Draft {
	const waiting = run.load.pattern === "backlog" ? " or waiting" : "";
	const line = (key: string, name: string, offset: number, points: Points): Draft["lines"] =>
		points.some(([, n]) => n !== 0)
			? [{ key, name, offset, dash: offset, hidden: false, steps: false, points }]
			: [];
	return {
		title: `messages in flight${waiting}`,
		unit: "messages",
		logarithmic: false,
		lines: [
			...line(
				"in-flight",
				`in flight${waiting}`,
				0,
				sampled(run, most, ({ backlog, inFlight }) =>
					backlog.length === 0 ? [inFlight] : backlog,
				),
			),
			...line(
				"held",
				"held by the library",
				1,
				sampled(run, most, ({ held }) => held ?? []),
			),
		],
		limits: [],
	};
}

/** Samples within seconds: the most of each stretch. A single one is of the second's end. */
function sampled(
	run: Run,
	most: number,
	of: (tick: Run["series"]["ticks"][number]) => readonly number[],
): Points {
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
	const slots = (samples.at(-1)?.place ?? 0) - (samples[0]?.place ?? 0) + 1;
	const size = Math.max(1, Math.ceil(slots / most));
	return joinedBy(
		samples,
		{ slotOf: ({ place }) => Math.floor(place / size), size: size / each },
		(part) => [
			rounded(((part[0]?.at ?? 0) + (part.at(-1)?.at ?? 0)) / 2 - warmup),
			largestOf(part.map(({ n }) => n)),
		],
	);
}

function marksOf(run: Run): TimeFigure["marks"] {
	const warmup = run.window.startNs / 1e9;
	return [
		...(warmup > 0 ? [{ from: -warmup, to: 0, text: "warm-up" }] : []),
		...run.phases.map(({ name, fromNs }) => ({ from: fromNs / 1e9, to: fromNs / 1e9, text: name })),
		...faultMarks(run),
	];
}

/** As they were done; where nothing was written down, as they were planned. */
function faultMarks(run: Run): TimeFigure["marks"] {
	const warmup = run.window.startNs / 1e9;
	if (run.failover.length === 0)
		return run.load.faults.map(({ atNs, action, forNs, node, delayNs }) => {
			const leader = node === "leader";
			const name = faultName({ action, delayNs, leader, node: leader ? null : node });
			return {
				from: atNs / 1e9 - warmup,
				to: (atNs + (forNs ?? 0)) / 1e9 - warmup,
				text: `${name}${forNs === null ? "" : ` for ${formatDurationExact(forNs)}`} (planned)`,
			};
		});
	return run.failover
		.filter(({ error }) => error === null)
		.map((fault) => ({
			from: rounded(faultZeroNs(fault) / 1e9 - warmup),
			to: rounded(Math.max(fault.beganNs, fault.endedNs ?? run.window.endNs) / 1e9 - warmup),
			text: `${faultName(fault)}${fault.endedNs === null ? ", never taken back" : ` for ${formatDuration(fault.endedNs - fault.beganNs)}`}`,
		}));
}

/** What the schedule meant to send: of a rate that changes by the stretches of the picture. */
function scheduled(run: Run, size: number): Points {
	const { schedule } = run.load;
	const { startNs, endNs } = run.window;
	if (schedule.kind === "closed" || schedule.rate === null) return [];
	const [from, to] = [-startNs / 1e9, (endNs - startNs) / 1e9];
	if (schedule.kind !== "stages") {
		const rate = ratePerSecond(schedule.rate);
		return [
			[from, rate],
			[to, rate],
		];
	}
	const points: [number, number][] = [];
	const each = size * 1e9;
	// Counted from the window's start, as all stretches are.
	for (let next = startNs % each; next - each < endNs; next += each) {
		const at = Math.max(0, next - each);
		const until = Math.min(next, endNs);
		if (until <= at) continue;
		const due = messagesBefore(schedule, until) - messagesBefore(schedule, at);
		points.push([rounded((at + until) / 2e9 - startNs / 1e9), rounded((due * 1e9) / (until - at))]);
	}
	return points;
}

function describe(
	panels: readonly Draft[],
	[from, to]: readonly [number, number],
	unfinished: TimeFigure["unfinished"],
): string {
	const beyond = new Set(unfinished.stretches.flatMap((s) => s.beyond));
	const parts = panels.map((panel) => {
		const lines = panel.lines.flatMap(({ key, name, points }) => {
			if (beyond.has(key)) return [`${name} ${unfinished.beyond}`];
			const values = points.map(([, v]) => v).filter((v) => v !== null);
			return values.length === 0
				? []
				: [`${name} at most ${unitText(panel.unit, largestOf(values))}`];
		});
		return `${sentence(panel.title)}: ${lines.join(", ")}.`;
	});
	const missing = unfinishedSentence(unfinished);
	return `From ${from === 0 ? "0s" : `-${formatDurationExact(-from * 1e9)}`} to ${Number(to.toFixed(3))}s. ${missing === "" ? "" : `${missing} `}${parts.join(" ")}`;
}
