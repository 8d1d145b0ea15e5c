import type { Phase, Run } from "../model/result.ts";
import { formatCount, formatDuration } from "../units.ts";
import { maxText, percentileValue } from "./words.ts";

/** The parts of a window below each other, as words: of steps latency against rate. */
export interface PhaseTable {
	/** "Response by step"; in a backlog "Ack by phase". */
	readonly title: string;
	readonly head: readonly string[];
	readonly rows: readonly (readonly string[])[];
}

/** null: the window is one. */
export function phaseTable(run: Run): PhaseTable | null {
	const [first] = run.phases;
	if (first === undefined) return null;
	const rates = ratesOf(run);
	return {
		title: `${first.metric.charAt(0).toUpperCase()}${first.metric.slice(1)} by ${run.load.pattern === "backlog" ? "phase" : "step"}`,
		head: [
			run.load.pattern === "backlog" ? "phase" : "step",
			"rate",
			"n",
			"p50",
			"p99",
			"max",
			...rates.map(([name]) => name),
			"lag p99",
		],
		rows: run.phases.map((phase) => [
			phase.name,
			`${formatCount(phase.rate)}/s`,
			phase.latency === null ? "n/a" : formatCount(phase.latency.n),
			...[50, 99].map((p) => percentileAt(phase, p, run)),
			phase.latency === null ? "n/a" : maxText(phase.latency, run),
			...rates.map(([, rate]) => {
				const value = rate(phase);
				return value === null ? "n/a" : formatCount(value);
			}),
			phase.lagP99 === null ? "n/a" : formatDuration(phase.lagP99),
		]),
	};
}

// --- internal ---

type Rate = readonly [name: string, of: (phase: Phase) => number | null];

/** What went through: receipts; where nobody consumes acknowledgements; of a backlog both sides. */
function ratesOf({ load: { pattern } }: Run): Rate[] {
	const received: Rate = [
		pattern === "fan-out" ? "copies/s" : "received/s",
		({ throughput }) => throughput.received,
	];
	const sent: Rate = ["sent/s", ({ throughput }) => throughput.sent];
	const acked: Rate = ["acked/s", ({ throughput }) => throughput.acked];
	if (pattern === "publish") return [acked];
	return pattern === "backlog" ? [sent, received] : [received];
}

function percentileAt({ latency }: Phase, p: number, run: Run): string {
	const found = latency?.percentiles.find((x) => x.p === p);
	return found ? percentileValue(found, run) : "n/a";
}
