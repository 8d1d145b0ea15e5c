import { LOG_BYTES } from "../bounded-log.ts";
import { largestOf } from "../extremes.ts";
import { distinct, grouped } from "../grouped.ts";
import { CATCH_UP } from "../model/load.ts";
import { acrossClients, isBaseline, Metric, type Plan } from "../model/plan.ts";
import { sum } from "../stats/sum.ts";
import { wrap } from "../terminal/wrap.ts";
import { formatBytes, formatCount, formatDuration, formatDurationExact, plural } from "../units.ts";
import { carriedRows, DEPTHS } from "./depth.ts";
import { describe } from "./load-text.ts";
import { copies, samplesPerMessage } from "./samples.ts";
import { meanBytes } from "./sizes.ts";

interface Around {
	readonly columns: number;
	readonly where?: readonly string[];
	readonly uses?: readonly string[];
	readonly warnings?: readonly string[];
	readonly searchText?: (search: Plan) => string;
}

/** Everything known before the first message. Names are last in tables, where a long one breaks nothing. */
export function renderPlan(plans: readonly Plan[], around: Around): string {
	const { columns, where = [], uses = [], warnings = [], searchText = () => "a search" } = around;
	const width = Math.max(40, columns);
	const runs = plans.filter(({ search }) => search === null);
	const searches = plans.filter(({ search }) => search !== null);
	const list = (title: string, lines: readonly string[]) =>
		lines.length === 0
			? []
			: [[title, "", ...lines.flatMap((line) => wrap(`${line}.`, width, "    ", "  "))]];
	const parts = [
		...(runs.length > 0 ? [runLines(runs, width)] : []),
		...(plans.some(({ quick }) => quick) ? [wrap(`Note: ${QUICK_MEANS}.`, width)] : []),
		...searches.map((plan) =>
			wrap(`${plan.index}. ${plan.system}/${plan.case}: ${searchText(plan)}.`, width),
		),
		...[
			durabilityText(plans.map((plan) => ({ ...plan, load: plan }))),
			comparedText(plans),
		].flatMap((said) => (said === null ? [] : [wrap(`${said}.`, width)])),
		...list(
			"What each case does:",
			[...grouped(plans, (plan) => plan.case)].map(([name, own]) => `${name}: ${describeAll(own)}`),
		),
		...list("Where it runs:", where),
		...list("What it starts and reads:", uses),
		...(runs.length > 0 ? [percentileLines(runs, width)] : []),
		...warnings.map((text) => wrap(`Warning: ${text}`, width, "  ", "")),
	];
	return `${parts.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

/** "compared over 5 repeats with system old: p99 <= baseline + 10%" */
export function comparedText(plans: readonly Plan[]): string | null {
	const judged = plans.filter((plan) => !isBaseline(plan));
	const lines = new Set(judged.flatMap(({ baselineSla }) => baselineSla.map(({ text }) => text)));
	const first =
		judged.find(({ baselineSla }) => baselineSla.length > 0) ??
		judged.find(({ baselineSystem }) => baselineSystem !== null);
	if (first === undefined) return null;
	const { baselineSystem: system, repeats } = first;
	const other =
		system === null
			? "a baseline (--baseline <file|folder>, or the scenario's)"
			: `system ${system}, which takes turns with the others`;
	const what = [...lines].join(", ") || "p50, p99 and of closed loads throughput (default)";
	return `compared over ${repeats} repeats with ${other}: ${what}`;
}

/** "durability differs: nats none, js os", of the systems whose level is known. Null if it does not. */
export function durabilityText(
	all: readonly { system: string; load: Pick<Plan, "durability" | "durabilityLevel"> }[],
): string | null {
	const known = all.flatMap(({ system, load }) => {
		const level = load.durabilityLevel ?? LEVEL.exec(load.durability)?.[0];
		return level === undefined ? [] : [{ level, text: `${system} ${level}` }];
	});
	const texts = distinct(known, ({ text }) => text).map(({ text }) => text);
	const levels = new Set(known.map(({ level }) => level));
	return levels.size < 2 ? null : `durability differs: ${texts.join(", ")}`;
}

export const QUICK_MEANS =
	"shortened by --quick to see that the scenario works: the figures are not a result, though a breached SLA still gives exit code 99";

// --- internal ---

/** What a broker's own settings come to, where its description begins with that. */
const LEVEL = /^(?:none|memory|os|fsync|interval(?: \w+)?)\b/;

function runLines(runs: readonly Plan[], width: number): string[] {
	const bytesOf = (plan: Plan) =>
		plan.schedule.messages * meanBytes(plan.message) * crossings(plan);
	const timeOf = ({ schedule }: Plan) => schedule.warmupNs + schedule.durationNs;
	const total = (of: (plan: Plan) => number) => sum(runs.map(of));
	const mains = runs.filter(({ beside }) => beside === null);
	const ofMains = (of: (plan: Plan) => number) => sum(mains.map(of));
	const more = runs.length - mains.length;
	const besides =
		more === 0 ? "" : ` and ${plural(more, "load")} beside ${mains.length === 1 ? "it" : "them"}`;
	const crossed = runs.every(({ pattern }) => pattern === "round-trip")
		? "there and back"
		: "counted each time it crosses the network";
	return [
		...table(
			["#", "repeat", "time", "messages", "bytes", "system/case"],
			runs.map((plan) => [
				`${plan.index}`,
				`${plan.repeat}/${plan.repeats}`,
				`${isClosed(plan) ? "<= " : ""}${formatDurationExact(timeOf(plan))}`,
				formatCount(plan.schedule.messages),
				formatBytes(bytesOf(plan)),
				`${plan.system}/${plan.case}`,
			]),
		),
		"",
		...wrap(
			`${plural(mains.length, "run")}${besides}: ${mains.some(isClosed) ? "at most " : ""}${formatDuration(ofMains(timeOf))} of sending, and at most ${formatDuration(ofMains(({ drainNs }) => drainNs))} of waiting for the last messages. ${formatCount(total(({ schedule }) => schedule.messages))} messages, warm-up included; ${formatBytes(total(bytesOf))} of payload, ${crossed}.${diskText(runs)}`,
			width,
		),
	];
}

/** Shorter runs have small files. */
function diskText(runs: readonly Plan[]): string {
	if (runs.every(({ schedule }) => schedule.durationNs < 3600e9)) return "";
	const logBytes = ({ client, server }: Plan) => (client.count + (server ? 1 : 0)) * LOG_BYTES;
	const [files, logs] = [fileBytes, logBytes].map((of) => formatBytes(sum(runs.map(of))));
	return ` Their files take about ${files}, and their logs at most ${logs}.`;
}

/** A histogram of NATS at 1000/s has 0.8 bytes per sample, larger ones have at most 6 KB; the other lines of an interval have 1.2 KB. */
export function fileBytes(plan: Plan): number {
	const { schedule, client, intervalSeconds: each = 1, limits } = plan;
	const seconds = schedule.durationNs / 1e9;
	const perInterval = (schedule.messages * each) / seconds / client.count;
	const histograms = sum(
		Metric.options.map((metric) => {
			const samples = samplesPerMessage(plan, metric) * perInterval;
			const none = samples === 0 || (metric === "ack" && !plan.acks);
			return none ? 0 : 150 + Math.min(1.5 * samples, 6000);
		}),
	);
	const intervals = seconds / each + schedule.warmupNs / 1e9;
	const machines = 1 / Math.min(10, each) + (client.count > 1 ? client.count : 0);
	// A bit for each message sent, acknowledged and received, in base64.
	const ledgers = acrossClients(plan)
		? (schedule.messages / 6) * (2 + client.count * copies(plan))
		: 0;
	return (
		client.count * intervals * (histograms + 1200 + 200 * limits.length) +
		machines * seconds * 450 +
		// A broker's own numbers that change; an exporter of yours may have more.
		(plan.server ? (seconds / each) * 500 : 0) +
		ledgers
	);
}

/** Crossings of the network: to the broker, and to all receivers. */
function crossings({ pattern, subscriptions }: Plan): number {
	const receipts: Readonly<Partial<Record<Plan["pattern"], number>>> = {
		// To the responder, back to the broker, and to the requester.
		"request-reply": 3,
		"fan-out": subscriptions,
		publish: 0,
		// What it receives, others have sent.
		[CATCH_UP]: 0,
	};
	return 1 + (receipts[pattern] ?? 1);
}

function percentileLines(runs: readonly Plan[], width: number): string[] {
	const beside = runs.some(isClosed)
		? "what would make it ok: a duration at this rate, or a number of messages"
		: "the duration from which on it is ok, at this rate";
	return [
		"Percentiles that the window of one run carries:",
		"",
		...table(
			["samples", ...DEPTHS.map((p) => `p${p}`), "case"],
			distinct(runs, (plan) => plan.case)
				.filter(({ pattern }) => pattern !== CATCH_UP)
				.flatMap(carriedRows),
			"left",
		),
		"",
		...wrap(
			`ok: 10 samples or more are expected above it; weak: fewer, but a 95 % bound exists; none: not printed. Next to them ${beside}. Stalls make it less: npx mqbench explain support.`,
			width,
		),
	];
}

function isClosed({ schedule }: Plan): boolean {
	return schedule.kind === "closed";
}

/** Systems with different limits or partitions are described apart. */
function describeAll(plans: readonly Plan[]): string {
	const all = [...grouped(plans, describe)];
	const [[only = ""] = []] = all;
	if (all.length === 1) return only;
	return all
		.map(([text, own]) => `${[...new Set(own.map(({ system }) => system))].join(", ")}: ${text}`)
		.join("; ");
}

/** The last column is left-aligned, and with "left" all but the first. */
function table(
	head: readonly string[],
	rows: readonly (readonly string[])[],
	align: "left" | "right" = "right",
): string[] {
	const all = [head, ...rows];
	const widths = head.map((_, i) => largestOf(all.map((row) => (row[i] ?? "").length)));
	return all.map((row) =>
		`  ${row
			.map((cell, i) =>
				i > 0 && (align === "left" || i === head.length - 1)
					? cell.padEnd(widths[i] ?? 0)
					: cell.padStart(widths[i] ?? 0),
			)
			.join("  ")}`.trimEnd(),
	);
}
