import type { Datum, Limit, Panel, Series } from "../chart/figure.ts";
import type { Gate, Result, Run } from "../model/result.ts";
import { type Amount, show, showInterval } from "../result/show.ts";
import { factsText, hostText, loadText, runTitle, systemTitle } from "../result/words.ts";
import type { Unit } from "../units.ts";

export type Subject = ReturnType<typeof subjectOf>;

export function subjectOf(run: Run, result: Result) {
	return {
		run,
		id: runId(run),
		title: runTitle(run, result),
		facts: `${factsText(run, result)}; ${loadText(run)}`,
		/** The system's, on every chart of the report. */
		color: colorsOf(result).get(run.system) ?? 0,
		gates: result.gates.filter((g) => g.system === run.system && g.case === run.case),
	};
}

/** "run-01-nats-256B-1", from the folder: the ids of a run's charts begin so. */
export function runId({ folder }: Pick<Run, "folder">): string {
	return `run-${(folder.split("/").at(-1) ?? folder).replaceAll(/[^A-Za-z0-9]+/g, "-")}`;
}

export function colorsOf({ runs }: Pick<Result, "runs">): ReadonlyMap<string, number> {
	return new Map([...new Set(runs.map((run) => run.system))].map((system, i) => [system, i]));
}

/** "nats: none, nothing is stored; kafka: ...; 4 cores, generator and brokers on one machine" */
export function sharedFacts(result: Result): string {
	const alike = (of: (run: Run) => string | null) => {
		const texts = new Set(result.runs.map(of));
		return texts.size === 1 ? [...texts] : [];
	};
	return [
		...alike((run) => run.load.pattern),
		...new Set(result.runs.map(systemTitle)),
		...alike((run) => run.case),
		...alike((run) => hostText(run, result)),
		result.quick ? "shortened: no result" : null,
	]
		.filter((text) => text !== null)
		.join("; ");
}

/** Each once, at its percentile. */
export function limitsOf(gates: readonly Gate[], metrics: readonly string[]): Limit[] {
	const texts = new Map<string, Limit>();
	for (const { metric, limitNs: y, sla: text, percentile: x } of gates)
		if (y !== null && metrics.includes(metric ?? "") && !texts.has(text))
			texts.set(text, x === null ? { text, y } : { text, y, x });
	return [...texts.values()];
}

export function mainLimits({ run, gates }: Pick<Subject, "run" | "gates">): Limit[] {
	return limitsOf(gates, [run.main]).map(({ text, y }) => ({ text, y }));
}

/** With its interval, worded as in tables. Messages that never completed are a gap. */
export function datumOf(x: number, of: Amount): Datum {
	const { value, atLeast, low = null, high = null } = of;
	const text = `${show(of)} ${showInterval(of)}`.trim();
	const interval = low === null && high === null ? {} : { low, high };
	return { x, y: atLeast ? null : value, text, ...interval };
}

export const AXIS = { unit: null, names: null, from: null, to: null, step: 0 } as const;

/** Times may be logarithmic. */
export function panelOf(
	unit: Unit,
	series: readonly Series[],
	limits: readonly Limit[] = [],
	title = unit === "ns" ? "latency" : "messages per second",
): Panel {
	return { title, unit, log: unit === "ns" ? null : false, series, limits };
}

/** By default a grey line with its own switch. */
export function seriesOf(
	name: string,
	data: readonly Datum[],
	look: Partial<Omit<Series, "name" | "data">> = {},
): Series {
	return { name, group: name, color: -1, dash: 0, thin: false, draw: "line", ...look, data };
}

export function sentence(text: string): string {
	return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
