import { messagesBefore } from "../../plan/offset.ts";
import { formatCount, formatDuration, ratePerSecond } from "../../units.ts";
import type { Run } from "../summary.ts";
import {
	type Area,
	type Caption,
	label,
	line,
	linearScale,
	type Point,
	picture,
	steps,
	valueAxis,
	valueScale,
} from "../svg.ts";
import { type Markup, markup } from "./markup.ts";

/** One row of the chart and of its table; of more than one second the worst one. */
export interface TimeRow {
	/** Seconds from the window's start. */
	readonly second: number;
	readonly p50: number | null;
	readonly p99: number | null;
	readonly max: number | null;
}

/** Response by second of intended time above, messages per second of real time below. */
export function timeChart(
	id: string,
	caption: Pick<Caption, "title" | "facts">,
	run: Run,
	most: number,
): Markup | null {
	const rows = timeRows(run, most);
	if (rows.length === 0) return null;
	const duration = (run.window.endNs - run.window.startNs) / 1e9;
	const x = secondScale(run);
	const values = rows
		.flatMap((r) => [r.p50, r.p99, r.max])
		.filter((v) => v !== null);
	const y = valueScale(values.length > 0 ? values : [1], TOP);
	const ticks = tickRows(run, most);
	const scheduled = scheduledRates(run, most);
	const highest = Math.max(0, ...scheduled.map((s) => s.rate));
	const rate = linearScale(
		Math.max(1, highest, ...ticks.flatMap((t) => [t.sent, t.received])),
		BOTTOM,
		2,
	);
	const ofTicks = (key: "sent" | "received") =>
		ticks.flatMap((t): Point[] => [
			[x(t.from), rate(t[key])],
			[x(t.to), rate(t[key])],
		]);
	const latency = (key: "p50" | "p99" | "max") =>
		rows.map((r): Point | null => {
			const value = r[key];
			return value === null
				? null
				: [x(r.second + width(run, most) / 2), y(value)];
		});
	const dots = (key: "p50" | "p99" | "max") =>
		rows.length > 40
			? null
			: latency(key)
					.filter((p) => p !== null)
					.map(
						([cx, cy]) =>
							markup`<circle r="2.5" cx="${cx.toFixed(1)}" cy="${cy.toFixed(1)}"/>`,
					);

	return picture(
		id,
		SIZE,
		{
			...caption,
			description: `From second ${rows[0]?.second ?? 0} to ${Number(duration.toFixed(3))}. Highest ${run.main} ${formatDuration(Math.max(0, ...values))}. ${scheduled.length === 0 ? "No schedule: a closed loop." : `Scheduled ${run.load.schedule.kind === "stages" ? "at most " : ""}${formatCount(highest)} messages per second.`}`,
		},
		markup`${warmupBand(run, x, { top: TOP.top, bottom: BOTTOM.bottom })}
${phaseLines(run, x)}
${run.window.startNs > 0 && label("warm-up", [TOP.left + 4, TOP.top + 14])}
${valueAxis(y, TOP, formatDuration)}
${valueAxis(rate, BOTTOM, formatCount)}
${steps(
	scheduled.flatMap(({ from, to, rate: perSecond }): Point[] => [
		[x(from), rate(perSecond)],
		[x(to), rate(perSecond)],
	]),
	"limit",
)}
<g class="max-line">${line(latency("max"), "curve")}${dots("max")}</g>
<g class="response">${line(latency("p99"), "curve")}${dots("p99")}</g>
<g class="median">${line(latency("p50"), "curve")}${dots("p50")}</g>
${run.load.pattern !== "publish" && markup`<g class="received">${steps(ofTicks("received"), "curve")}</g>`}
<g class="achieved">${steps(ofTicks("sent"), "curve")}</g>
${label(`${run.main}${y.logarithmic ? ", logarithmic" : ""}`, [TOP.left, 14])}
${label("messages per second", [TOP.left, BOTTOM.top - 8])}
${secondAxis(run, x, BOTTOM.bottom)}`,
	);
}

/** At most `most` rows: of a longer run the worst second of each stretch, never an average. */
export function timeRows(run: Run, most: number): TimeRow[] {
	const rows = new Map<number, TimeRow>();
	const size = width(run, most);
	const worst = (a: number | null, b: number | null) =>
		a === null || b === null ? (a ?? b) : Math.max(a, b);
	for (const s of run.series.seconds) {
		const second = Math.floor(s.second / size) * size;
		const row = rows.get(second);
		rows.set(second, {
			second,
			p50: worst(row?.p50 ?? null, s.p50),
			p99: worst(row?.p99 ?? null, s.p99),
			max: worst(row?.max ?? null, s.max),
		});
	}
	return [...rows.values()];
}

/** Seconds that one point of the chart stands for. */
export function width(run: Run, most: number): number {
	return Math.max(1, Math.ceil(run.series.seconds.length / most));
}

/** Left and right of every chart over time: they stand one below the other. */
/** Room for "10 000 000" beside the axis. */
export const LEFT = 80;
export const RIGHT = 690;

/** Seconds from the window's start to a coordinate. */
export function secondScale({ window }: Run): (second: number) => number {
	const warmup = window.startNs / 1e9;
	const all = Math.max(window.endNs / 1e9, 1e-3);
	return (second) => LEFT + ((second + warmup) / all) * (RIGHT - LEFT);
}

export function warmupBand(
	{ window }: Run,
	x: (second: number) => number,
	{ top, bottom }: { readonly top: number; readonly bottom: number },
): Markup | null {
	return window.startNs === 0
		? null
		: markup`<rect class="warmup" x="${LEFT}" y="${top}" width="${(x(0) - LEFT).toFixed(1)}" height="${bottom - top}"/>`;
}

/** The seconds below a chart that ends at `bottom`. */
export function secondAxis(
	{ window }: Run,
	x: (second: number) => number,
	bottom: number,
): Markup {
	const warmup = window.startNs / 1e9;
	const duration = (window.endNs - window.startNs) / 1e9;
	const step =
		[1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600].find(
			(s) => (warmup + duration) / s <= 12,
		) ?? 7200;
	const seconds: number[] = [];
	for (let s = -Math.floor(warmup / step) * step; s <= duration; s += step)
		seconds.push(s);
	return markup`${seconds.map((s) => label(`${s === 0 ? 0 : s}s`, [x(s), bottom + 18], "middle"))}`;
}

// --- internal ---

/** Messages per second of real time; of a longer run those of each stretch. The drain after the window is cut off. */
function tickRows(
	run: Run,
	most: number,
): { from: number; to: number; sent: number; received: number }[] {
	const warmup = run.window.startNs / 1e9;
	// The last second of a closed loop is begun, not full.
	const end =
		run.load.schedule.kind === "closed"
			? Math.ceil(run.window.endNs / 1e9)
			: run.window.endNs / 1e9 + 1e-9;
	const size = width(run, most);
	// A tick is the second before its `at`.
	const ticks = run.series.ticks.filter((t) => t.at <= end);
	const rows = [];
	for (let i = 0; i < ticks.length; i += size) {
		const part = ticks.slice(i, i + size);
		const sum = (key: "sent" | "received") =>
			part.reduce((n, t) => n + t[key], 0) / part.length;
		rows.push({
			from: (part[0]?.at ?? 0) - 1 - warmup,
			to: (part.at(-1)?.at ?? 0) - warmup,
			sent: sum("sent"),
			received: sum("received"),
		});
	}
	return rows;
}

/** What the schedule meant to send: of a rate that changes by the stretches of the chart. A closed loop has none. */
function scheduledRates(
	run: Run,
	most: number,
): { from: number; to: number; rate: number }[] {
	const { schedule } = run.load;
	const { startNs, endNs } = run.window;
	if (schedule.kind === "closed" || schedule.rate === null) return [];
	if (schedule.kind !== "stages")
		return [
			{
				from: -startNs / 1e9,
				to: (endNs - startNs) / 1e9,
				rate: ratePerSecond(schedule.rate),
			},
		];
	const rates = [];
	const size = width(run, most) * 1e9;
	for (let from = 0; from < endNs; from += size) {
		const to = Math.min(from + size, endNs);
		const due = messagesBefore(schedule, to) - messagesBefore(schedule, from);
		rates.push({
			from: (from - startNs) / 1e9,
			to: (to - startNs) / 1e9,
			rate: (due * 1e9) / (to - from),
		});
	}
	return rates;
}

/** Where the parts of the window begin, with their names. */
function phaseLines(run: Run, x: (second: number) => number): Markup {
	const few = run.phases.length <= 8;
	return markup`${run.phases.map(({ name, fromNs }) => {
		const at = x(fromNs / 1e9);
		return markup`${line(
			[
				[at, TOP.top],
				[at, BOTTOM.bottom],
			],
			"grid",
		)}${few && label(name, [at + 4, TOP.top + 14])}`;
	})}`;
}

const SIZE = { width: 720, height: 380 };
const TOP: Area = { left: LEFT, right: RIGHT, top: 26, bottom: 216 };
const BOTTOM: Area = { left: LEFT, right: RIGHT, top: 254, bottom: 344 };
