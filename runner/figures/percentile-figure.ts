import type { PercentileFigure } from "../chart/old-figure.ts";
import type { Gate, MetricSummary, Result, Run } from "../model/result.ts";
import { caseTables } from "../result/matrix.ts";
import { mostHidden } from "../result/omission.ts";
import { medianRepeat } from "../result/select.ts";
import {
	factsText,
	hostText,
	intervalText,
	loadText,
	maxText,
	percentileName,
	percentileValue,
	runTitle,
	systemTitle,
	weakMark,
} from "../result/words.ts";
import { tell } from "../text/tell.ts";
import { formatCount, formatDuration } from "../units.ts";
import { systemNumbers } from "./numbers.ts";

/** The curves that a picture of one run shows, in the order of its legend. */
const CURVES = ["response", "service", "ack", "last"] as const;

type Curve = PercentileFigure["curves"][number];
type Points = Curve["points"];

/** Response, service, ack and last of one run. null: nothing was measured. */
export function runPercentiles(
	id: string,
	run: Run,
	result: Result,
	tolerance: number,
): PercentileFigure | null {
	const measured = CURVES.map((name) => [name, run.metrics[name]] as const)
		.filter(
			(c): c is [(typeof CURVES)[number], MetricSummary] => c[1] !== null && c[1].curve.length > 0,
		)
		// The main one first: it has the colour of the system.
		.sort(([a], [b]) => Number(b === run.main) - Number(a === run.main));
	if (measured.length === 0) return null;
	const place = systemNumbers(result).get(run.system) ?? 0;
	const limits = gatesOf(run, result).filter(
		(g) => g.limitNs !== null && measured.some(([name]) => name === g.metric),
	);
	return {
		kind: "percentiles",
		id,
		title: `Latency by percentile: ${runTitle(run, result)}`,
		facts: [factsText(run, result), loadText(run), ...hiddenOf(run).map(({ text }) => text)].join(
			"; ",
		),
		description: measured
			.map(
				([name, m]) =>
					`${name}: ${m.percentiles
						.filter((p) => p.support !== "none")
						.map((p) => `${percentileName(p.p)} ${percentileValue(p, run)}`)
						.join(", ")}`,
			)
			.join(". "),
		panels: [{ title: "" }],
		curves: measured.map(([name, m], i) => ({
			key: name,
			name: NAMES(run)[name],
			group: NAMES(run)[name],
			panel: 0,
			// The colour of the system is for what is compared; what stands beside it is grey, and has dashes.
			colour: i === 0 ? place : -1,
			dash: i,
			hidden: false,
			metric: name,
			...curveOf(m, run, name === run.main, tolerance, true),
		})),
		hidden: hiddenOf(run),
		limits: limits.map(limitOf),
	};
}

/** The main metric of every run: small multiples by case, in each the systems, and thin beside the repeat that decides the others. null: fewer than two runs have curves. */
export function overviewPercentiles(result: Result, tolerance: number): PercentileFigure | null {
	const systems = systemNumbers(result);
	const tables = caseTables(result);
	const rows = tables.flatMap((table) => table.rows.map((row) => ({ ...row, table })));
	const measured = tables.filter(({ rows: all }) => all.some(({ run }) => hasCurve(run)));
	const shown = measured.slice(0, MOST_PANELS);
	const curves = rows.flatMap(({ run, name, table }): Curve[] => {
		const m = run.metrics[run.main];
		const panel = shown.indexOf(table);
		if (m === null || m.curve.length === 0 || panel < 0) return [];
		const place = systems.get(run.system) ?? 0;
		const alike = table.rows.flatMap((row) =>
			row.run.system === run.system && hasCurve(row.run) ? [row.run] : [],
		);
		const decides = medianRepeat(alike) === run;
		return [
			{
				key: `run-${run.index}`,
				name,
				group: run.system,
				panel,
				colour: place,
				dash: place,
				hidden: false,
				thin: !decides,
				metric: run.main,
				...curveOf(m, run, true, tolerance, decides),
			},
		];
	});
	if (curves.length < 2) return null;
	const metrics = [...new Set(curves.map((c) => c.metric))];
	return {
		kind: "percentiles",
		id: "percentiles",
		title: `${sentence(metrics.join(" and "))} by percentile: ${result.scenario}${measured.length > shown.length ? `, the first ${shown.length} of ${measured.length} cases` : ""}`,
		facts: overviewFacts(result),
		description: rows
			.map(
				({ name, cells, table }) =>
					`${name}, ${table.case}: ${cells.map((c, i) => `${table.head[i]} ${c}`).join(", ")}`,
			)
			.slice(0, MOST_DESCRIBED)
			.join(". "),
		panels: shown.map((table) => ({ title: tables.length > 1 ? table.case : "" })),
		curves,
		hidden: [],
		limits: sharedLimits(result, metrics),
	};
}

/** "nats: none, nothing is stored; kafka: ...; 4 cores, generator and brokers on one machine": what pictures of several runs have on top. */
export function overviewFacts(result: Result): string {
	const systems = new Set(result.runs.map(systemTitle));
	const hosts = new Set(result.runs.map((run) => hostText(run, result)));
	const cases = new Set(result.runs.map((run) => run.case));
	const patterns = new Set(result.runs.map((run) => run.load.pattern));
	return [
		...(patterns.size === 1 ? patterns : []),
		...systems,
		...(cases.size === 1 ? cases : []),
		...(hosts.size === 1 ? hosts : []),
		result.quick ? "shortened: no result" : null,
	]
		.filter((text) => text !== null)
		.join("; ");
}

/** "Response" */
export function sentence(text: string): string {
	return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** Limits of the gates of one run. */
export function gatesOf(run: Run, { gates }: Result): Gate[] {
	return gates.filter((g) => g.system === run.system && g.case === run.case);
}

/** Latency limits of these metrics, each once. */
export function sharedLimits(
	{ gates }: Result,
	metrics: readonly string[],
): PercentileFigure["limits"] {
	const limiting = gates.filter((g) => g.limitNs !== null && metrics.some((m) => m === g.metric));
	const texts = [...new Set(limiting.map((g) => g.sla))];
	return texts.map((text) => limitOf(limiting.find((g) => g.sla === text) as Gate));
}

/**
 * Points that no screen tells apart are left out: those within `tolerance` (a part of the value) of the last one that is kept. What
 * is left is exact; the percentiles with a name and the last point stay.
 */
function thinned(points: Points, named: ReadonlySet<number>, tolerance: number): Points {
	const kept: [number, number][] = [];
	for (const [i, [p, value]] of points.entries()) {
		const before = kept.at(-1);
		const apart = before === undefined || Math.abs(value - before[1]) > before[1] * tolerance;
		if (apart || named.has(p) || i === points.length - 1) kept.push([p, value]);
	}
	return kept;
}

// --- internal ---

const MOST_DESCRIBED = 40;
/** Cases of more have their pictures at their runs. */
const MOST_PANELS = 24;

function hasCurve(run: Run): boolean {
	return (run.metrics[run.main]?.curve.length ?? 0) > 0;
}

function NAMES(run: Run) {
	const closed = run.load.schedule.kind === "closed";
	return {
		response: tell("response-means"),
		service: "service: from the actual send",
		ack: closed ? tell("ack-sent-means") : tell("ack-intended-means"),
		last: tell("last-means"),
	};
}

function curveOf(
	m: MetricSummary,
	run: Run,
	main: boolean,
	/** See `thinned`. */
	tolerance: number,
	intervals: boolean,
): Pick<Curve, "points" | "max" | "marks" | "censored"> {
	const marks = m.percentiles.flatMap((p) =>
		p.value === null
			? []
			: [
					{
						p: p.p,
						value: p.value,
						text: percentileValue(p, run),
						interval: intervals ? intervalText(p) : "",
						...(intervals ? { low: p.low, high: p.high } : {}),
					},
				],
	);
	return {
		points: thinned(through(m, marks), new Set(marks.map(({ p }) => p)), tolerance),
		// The maximum of n samples stands where 1/n of them are left; with some that never completed there is none.
		max: m.max === null || m.censored > 0 ? null : { p: 100 * (1 - 1 / m.n), value: m.max },
		marks,
		censored:
			main && m.censored > 0
				? `${formatCount(m.censored)} never completed: ${maxText(m, run)}`
				: null,
	};
}

/** The curve has levels of its own: that it goes through the percentiles with a name they are points of it. */
function through({ curve }: MetricSummary, marks: Curve["marks"]): Points {
	const values = new Map([...curve, ...marks].map((x) => [x.p, x.value]));
	return [...values].sort(([a], [b]) => a - b);
}

function hiddenOf(run: Run): PercentileFigure["hidden"] {
	const hidden = mostHidden(run);
	if (hidden === null) return [];
	const { p, response, service } = hidden;
	return [
		{
			upper: "response",
			lower: "service",
			text: `hidden by coordinated omission: ${percentileName(p)} ${weakMark(run, "response", p)}${formatDuration(response)} instead of ${weakMark(run, "service", p)}${formatDuration(service)}`,
		},
	];
}

function limitOf(gate: Gate): PercentileFigure["limits"][number] {
	return { text: gate.sla, value: gate.limitNs ?? 0, p: gate.percentile };
}
