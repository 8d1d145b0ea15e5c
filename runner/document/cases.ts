import { CATCH_UP } from "../model/load.ts";
import type { Result, Run } from "../model/result.ts";
import { durabilityText } from "../plan/plan-text.ts";
import { countLabel } from "../result/fields.ts";
import { byCase, type Case, maximum, percentile, saturatedBy } from "../result/select.ts";
import { amount, type Column, cellsOf } from "../result/show.ts";
import { fateText, isClosed, systemTitle } from "../result/words.ts";
import { formatUtc } from "../units.ts";
import * as doc from "./blocks.ts";
import { CLOSED_MEANS, receivedColumn, systemFacts } from "./words.ts";

/** With this many runs or more, a run gets its own entry only if it has findings. */
export const MANY_RUNS = 4;

export function cases(result: Result): doc.Fold[] {
	const { runs } = result;
	if (runs.length < 2) return [];
	// Fewer runs show it themselves; a page has a section for it.
	const systems = runs.length < MANY_RUNS ? [] : runs;
	const facts = new Map(
		systems.map((run) => [systemTitle(run), `${run.system}: ${systemFacts(run)}`]),
	);
	return [
		doc.section("cases", "Side by side, case by case", [
			...doc.upTo(2, doc.list([...facts.values()].map((one) => [one]))),
			...byCase(result).flatMap((one, i) => caseBlocks(one, i + 1, result)),
		]),
	];
}

// --- internal ---

const CPU = "broker CPU/message";
const AGAINST: ReadonlySet<string> = new Set(["warn", "invalid", "fail"]);

function caseBlocks({ case: name, rows }: Case, number: number, result: Result): doc.Block[] {
	const runs = rows.map(({ run }) => run);
	const [first] = runs as [Run];
	const figures = columnsOf(first, runs);
	const columns = [
		"",
		{ name: "durability", depth: 2 as const },
		...figures.flatMap(([head]) => doc.numbers([head], head === CPU ? 3 : undefined)),
		"verdict",
		{ name: "checks against it", depth: 3 as const },
		{ name: "started (UTC)", depth: 3 as const },
	];
	const cells = rows.map(({ run, name: shown }): doc.Inline[] => [
		doc.link(
			saturatedBy(run).length > 0 ? `${shown} *` : shown,
			`#run-${result.runs.indexOf(run) + 1}`,
		),
		run.load.durability,
		...cellsOf(figures, run),
		doc.badge(run.verdict),
		run.validity.flatMap(({ check, status }) => (AGAINST.has(status) ? check : [])).join(", "),
		run.startedAt === null ? "never" : formatUtc(run.startedAt),
	]);
	const title = [
		name,
		...(first.load.pattern === CATCH_UP ? [] : [first.main]),
		...(isClosed(first) ? [CLOSED_MEANS] : []),
		...(rows.some(({ run, name: shown }) => shown !== run.system) ? ["repeats in brackets"] : []),
	];
	const fates = rows.flatMap(({ run, name: shown }) => {
		const fate = fateText(run);
		return fate === null ? [] : [`${shown}: ${fate}`];
	});
	const checks = new Set(runs.flatMap(saturatedBy));
	return [
		doc.heading(title.join(", "), 1, `case-${number}`),
		doc.table(columns, cells),
		...doc.upTo(1, doc.text(durabilityText(runs))),
		doc.list(result.runs.length >= MANY_RUNS ? fates : []),
		doc.text(
			checks.size === 0
				? null
				: `* machine or load generator was at its end (${[...checks].join(", ")}), so these figures are not the system's alone, and rank it neither before nor behind another`,
			"warn",
		),
	];
}

function columnsOf(first: Run, runs: readonly Run[]): Column<Run>[] {
	const closed = isClosed(first);
	const { pattern } = first.load;
	const consumes = pattern !== "publish";
	const reads = pattern === CATCH_UP;
	const rate = (name: string, side: "sent" | "received"): Column<Run> => [
		name,
		({ throughput }) => amount(throughput[side], "messages/s"),
	];
	const count = (name: "lost" | (typeof OFFENCES)[number]): Column<Run> => [
		countLabel(first, name),
		(run) => amount(run[name], "messages"),
	];
	const latencies: Column<Run>[] = [
		...(closed ? [50, 99] : [50, 99, 99.9]).map(
			(p): Column<Run> => [`p${p}`, (run) => percentile(run, run.main, p)],
		),
		["max", (run) => maximum(run.metrics[run.main], run)],
	];
	const drained: Column<Run> = [
		reads ? "caught up in" : "drained in",
		({ drain }) => amount(drain?.drainNs, "ns"),
	];
	return [
		...(reads ? [] : latencies),
		...(closed || !consumes ? [rate("sent/s", "sent")] : []),
		...(consumes ? [rate(receivedColumn(first), "received")] : []),
		...(pattern === "backlog" || reads ? [drained] : []),
		...(runs.some(({ cost }) => cost?.cpuPerMessageNs != null)
			? [[CPU, ({ cost }: Run) => amount(cost?.cpuPerMessageNs, "ns")] as const]
			: []),
		...(consumes ? [count("lost")] : []),
		...OFFENCES.filter((name) => runs.some((run) => (run[name] ?? 0) > 0)).map(count),
	];
}

/** They have a column where any run has some: percentiles do not include messages that did not come. */
const OFFENCES = ["failed", "unknown", "duplicated", "redelivered"] as const;
