import type { Phase, Run } from "../model/result.ts";
import {
	countText,
	lagText,
	maxText,
	percentileAt,
	perSecondText,
	receivedColumn,
} from "../result/words.ts";

/** The parts of a window below each other, as words: of steps latency against rate. */
interface PhaseTable {
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
			perSecondText(phase.rate),
			countText(phase.latency?.n ?? null),
			...[50, 99].map((p) => percentileAt(phase.latency, p, run)),
			maxText(phase.latency, run),
			...rates.map(([, rate]) => countText(rate(phase))),
			lagText(phase),
		]),
	};
}

// --- internal ---

type Rate = readonly [name: string, of: (phase: Phase) => number | null];

/** What went through: receipts; where nobody consumes acknowledgements; of a backlog both sides. */
function ratesOf(run: Run): Rate[] {
	const { pattern } = run.load;
	const received: Rate = [receivedColumn(run), ({ throughput }) => throughput.received];
	const sent: Rate = ["sent/s", ({ throughput }) => throughput.sent];
	const acked: Rate = ["acked/s", ({ throughput }) => throughput.acked];
	if (pattern === "publish") return [acked];
	return pattern === "backlog" ? [sent, received] : [received];
}
