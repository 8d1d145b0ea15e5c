import type { Result, Run } from "../model/result.ts";
import { tell } from "../text/tell.ts";
import { countLabel } from "./fields.ts";
import { bySystemAndCase, maximum, percentile } from "./select.ts";
import { amount, type Column, cellsOf } from "./show.ts";
import { isClosed, receivedColumn } from "./words.ts";

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
	return [...new Set(runs.map((run) => run.case))].map((name) => {
		const systems = bySystemAndCase(runs.filter((run) => run.case === name));
		const all = systems.flatMap((system) => system.all);
		const [first] = all as [Run];
		const columns = columnsOf(first, all);
		const of = [
			first.main,
			isClosed(first) ? tell("closed-means") : null,
			all.length > systems.length ? "repeats in brackets" : null,
		];
		return {
			case: name,
			of: of.filter((part) => part !== null).join(", "),
			head: columns.map(([head]) => head),
			rows: systems.flatMap(({ system, all: repeats }) =>
				repeats.map((run) => ({
					run,
					name: repeats.length > 1 ? `${system} (${run.repeat})` : system,
					cells: cellsOf(columns, run),
				})),
			),
		};
	});
}

// --- internal ---

function columnsOf(first: Run, runs: readonly Run[]): Column<Run>[] {
	const closed = isClosed(first);
	const { pattern } = first.load;
	const consumes = pattern !== "publish";
	const rate = (name: string, side: "sent" | "received"): Column<Run> => [
		name,
		({ throughput }) => amount(throughput[side], "messages/s"),
	];
	const count = (name: "lost" | (typeof OFFENCES)[number]): Column<Run> => [
		countLabel(first, name),
		(run) => amount(run[name], "messages"),
	];
	return [
		...(closed ? [50, 99] : [50, 99, 99.9]).map(
			(p): Column<Run> => [`p${p}`, (run) => percentile(run, run.main, p)],
		),
		["max", (run) => maximum(run.metrics[run.main], run)],
		...(closed || !consumes ? [rate("sent/s", "sent")] : []),
		...(consumes ? [rate(receivedColumn(first), "received")] : []),
		...(pattern === "backlog"
			? [["drained in", ({ drain }: Run) => amount(drain?.drainNs, "ns")] as const]
			: []),
		...(consumes ? [count("lost")] : []),
		...OFFENCES.filter((name) => runs.some((run) => (run[name] ?? 0) > 0)).map(count),
	];
}

/** Counts that have a column where any run has some: percentiles of the messages that came say nothing of the others. */
const OFFENCES = ["failed", "unknown", "duplicated", "redelivered"] as const;
