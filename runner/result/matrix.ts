import type { Result, Run } from "../model/result.ts";
import {
	closedText,
	countText,
	maxText,
	ofCopies,
	percentileAt,
	percentileName,
	receivedColumn,
} from "./words.ts";

/** The runs of one case side by side: what reports show of many runs, and people compare. */
export interface CaseTable {
	readonly case: string;
	/** "response", "service, closed loop: fills the machine, shows no queueing", "ack". */
	readonly of: string;
	/** Names of the columns after the system's. */
	readonly head: readonly string[];
	readonly rows: readonly {
		readonly run: Run;
		/** "nats"; of several repeats "nats (2)". */
		readonly name: string;
		readonly cells: readonly string[];
	}[];
}

/** From so many runs on they stand side by side, and one by one only where there is something to say. */
export const MANY_RUNS = 4;

/** One table for each case, in the order of the runs; systems in theirs, repeats below each other. */
export function caseTables({ runs }: Result): CaseTable[] {
	return distinct(runs.map((run) => run.case)).map((name) => {
		const alike = runs.filter((run) => run.case === name);
		const systems = distinct(alike.map((run) => run.system));
		const sorted = systems.flatMap((system) => alike.filter((run) => run.system === system));
		const [first] = sorted as [Run];
		const columns = columnsOf(first, sorted);
		const repeats = sorted.length > systems.length;
		return {
			case: name,
			of: [first.main, closedText(first), repeats ? "repeats in brackets" : null]
				.filter((part) => part !== null)
				.join(", "),
			head: columns.map(([head]) => head),
			rows: sorted.map((run) => ({
				run,
				name: sorted.some((o) => o !== run && o.system === run.system)
					? `${run.system} (${run.repeat})`
					: run.system,
				cells: columns.map(([, cell]) => cell(run)),
			})),
		};
	});
}

/** The same without the columns of that name. */
export function without(table: CaseTable, name: string): CaseTable {
	const keep = table.head.map((head) => head !== name);
	return {
		...table,
		head: table.head.filter((_, i) => keep[i]),
		rows: table.rows.map((row) => ({ ...row, cells: row.cells.filter((_, i) => keep[i]) })),
	};
}

// --- internal ---

type Column = readonly [head: string, cell: (run: Run) => string];

function columnsOf(first: Run, runs: readonly Run[]): Column[] {
	const closed = first.load.schedule.kind === "closed";
	const { pattern } = first.load;
	const percentiles = (closed ? [50, 99] : [50, 99, 99.9]).map(
		(p): Column => [percentileName(p), (run) => percentileAt(run.metrics[run.main], p, run)],
	);
	const max: Column = ["max", (run) => maxText(run.metrics[run.main], run)];
	const sent: Column = ["sent/s", (run) => countText(run.throughput.sent)];
	const received: Column = [receivedColumn(first), (run) => countText(run.throughput.received)];
	const lost: Column = [ofCopies(first, "lost"), (run) => countText(run.lost)];
	const drained: Column = [
		"drained in",
		({ drain }) =>
			drain?.drainNs == null ? "n/a" : `${Number((drain.drainNs / 1e9).toFixed(1))}s`,
	];
	return [
		...percentiles,
		max,
		...(closed || pattern === "publish" ? [sent] : []),
		...(pattern === "publish" ? [] : [received]),
		...(pattern === "backlog" ? [drained] : []),
		...(pattern === "publish" ? [] : [lost]),
		...OFFENCES.filter((name) => runs.some((run) => (run[name] ?? 0) > 0)).map(
			(name): Column => [name, (run) => countText(run[name])],
		),
	];
}

/** Counts that have a column where any run has some: percentiles of the messages that came say nothing of the others. */
const OFFENCES = ["failed", "unknown", "duplicated", "redelivered"] as const;

function distinct(texts: readonly string[]): string[] {
	return [...new Set(texts)];
}
