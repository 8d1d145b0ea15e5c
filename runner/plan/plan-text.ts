import { LOG_BYTES } from "../bounded-log.ts";
import { largestOf } from "../extremes.ts";
import { distinct, grouped } from "../grouped.ts";
import { CATCH_UP } from "../model/load.ts";
import { acrossClients, isBaseline, Metric, type Plan } from "../model/plan.ts";
import { sum } from "../stats/sum.ts";
import { wrap } from "../terminal/wrap.ts";
import { percent } from "../text/percent.ts";
import {
	formatBytes,
	formatBytesExact,
	formatCount,
	formatDuration,
	formatDurationExact,
	formatRate,
	plural,
} from "../units.ts";
import { carriedRows, DEPTHS } from "./depth.ts";
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

/** "fan-out of 256B, 1000/s for 10s after 5s warm-up; 4 producers on 4 connections, ..." */
export function describe(plan: Plan): string {
	// A search's durations follow from its rates and the SLA.
	const load =
		plan.search?.role === "start"
			? `${rateText(plan)} at first, ${afterText(plan.schedule)}`
			: `${rateText(plan)} ${timeText(plan)}`;
	if (plan.pattern === CATCH_UP) {
		const after = formatDurationExact(plan.beside?.startNs ?? 0);
		return `catch-up: from ${after} after the run's start on, ${plural(plan.consumerConnections, "connection")} read ${plural(plan.topics.length, "topic")} of the run from the beginning`;
	}
	return [
		`${plan.pattern} of ${sizesText(plan.message)}, ${load}`,
		topology(plan),
		...pieces(plan),
		...backlog(plan),
		...extras(plan),
	].join("; ");
}

export type Load = Pick<Plan, "phases" | "inFlight"> & { readonly schedule: Plan["schedule"] };

export const QUICK_MEANS =
	"shortened by --quick to see that the scenario works: the figures are not a result, though a breached SLA still gives exit code 99";

/** "3000/s", "3000/s at random times", "4 steps from 1000/s to 8000/s", "stages up to 5000/s", "100 000 messages". */
export function rateText({ schedule, phases }: Load): string {
	const { kind, rate, pieces, messages, warmupMessages } = schedule;
	if (kind === "closed" || rate === null)
		return `${formatCount(messages - warmupMessages)} messages`;
	if (kind === "poisson") return `${formatRate(rate)} at random times`;
	if (kind === "constant") return formatRate(rate);
	const steps =
		phases.length > 1 &&
		pieces.every(({ from, to }) => from.messages === to.messages && from.perNs === to.perNs);
	const measured = steps ? pieces.slice(-phases.length) : [];
	const [first, last] = [measured[0], measured.at(-1)];
	return first && last
		? `${phases.length} steps from ${formatRate(first.to)} to ${formatRate(last.to)}`
		: `stages up to ${formatRate(rate)}`;
}

/** "for 10s after 1s warm-up"; for a closed load its longest duration. */
export function timeText({ schedule }: Pick<Load, "schedule">): string {
	const { kind, durationNs, warmupMessages } = schedule;
	if (kind === "closed")
		return `in a closed loop ${warmupMessages === 0 ? "without warm-up" : `after ${formatCount(warmupMessages)} to warm up`}, at most ${formatDurationExact(durationNs)}`;
	return `for ${formatDurationExact(durationNs)} ${afterText(schedule)}`;
}

export function afterText(schedule: Load["schedule"]): string {
	return schedule.warmupNs === 0 ? "without warm-up" : `after ${warmupText(schedule)}`;
}

/** "5s warm-up"; "warm-up until steady (14s to 1min)", and when the window has opened "14s warm-up until steady". */
export function warmupText(schedule: Pick<Plan["schedule"], "steady" | "warmupNs">): string {
	const { steady, warmupNs } = schedule;
	if (steady === null) return `${formatDurationExact(warmupNs)} warm-up`;
	return warmupNs < steady.toNs
		? `${formatDurationExact(warmupNs)} warm-up until steady`
		: `warm-up until steady (${formatDurationExact(steady.fromNs)} to ${formatDurationExact(steady.toNs)})`;
}

/** "80% 256B, 20% 4KiB (mean 1.02KiB)", with the shares that a distribution's bounds changed. */
export function sizesText({ sizes, bytes }: Plan["message"]): string {
	if (sizes === null) return formatBytesExact(bytes);
	const all = sum(sizes.runs.map(([, count]) => count));
	const clamped = (n: number, how: string) => (n > 0 ? `, ${percent(n / all)} ${how}` : "");
	const { below, above } = sizes.clamped;
	const least = formatBytesExact(sizes.runs[0]?.[0] ?? 0);
	return `${sizes.text} (mean ${formatBytes(sizes.meanBytes)}${clamped(below, `raised to ${least}`)}${clamped(above, `cut to ${formatBytesExact(bytes)}`)})`;
}

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

function topology(plan: Plan): string {
	if (plan.pattern === "connect")
		return `each on a new connection, ${plan.hold === 0 ? "closed afterwards" : `of which the newest ${formatCount(plan.hold)} stay open`}`;
	const { consumers, subscriptions, consumerConnections, partitions, bystanders } = plan;
	const noun = plan.pattern === "request-reply" ? "responder" : "consumer";
	const group = consumers > 0 ? plural(consumers, noun) : null;
	const receivers = plan.pattern === "fan-out" ? plural(subscriptions, "subscriber") : group;
	return [
		`${plural(plan.producers, "producer")} on ${plural(plan.connections, "connection")}`,
		`${plural(plan.topics.length, "topic")}${partitions > 1 ? ` of ${partitions} partitions` : ""}`,
		...(receivers === null ? [] : [`${receivers} on ${plural(consumerConnections, "connection")}`]),
		...(plan.wildcard ? ["subscribed by a wildcard"] : []),
		...(bystanders > 0 ? [plural(bystanders, "bystander")] : []),
	].join(", ");
}

function pieces({ schedule, phases }: Plan): string[] {
	if (schedule.kind !== "stages") return [];
	const [first] = schedule.pieces;
	const rest = schedule.pieces.slice(schedule.warmupNs > 0 ? 1 : 0);
	const steps = phases.length > 0;
	const parts = rest.map(({ durationNs, to }) =>
		steps
			? `${formatRate(to)} for ${formatDurationExact(durationNs)}`
			: `to ${formatRate(to)} in ${formatDurationExact(durationNs)}`,
	);
	const shown = parts.length > 12 ? [...parts.slice(0, 6), "...", ...parts.slice(-2)] : parts;
	return [`${steps || !first ? "" : `from ${formatRate(first.from)} `}${shown.join(", ")}`];
}

function backlog({ backlog: held, schedule }: Plan): string[] {
	if (held === null) return [];
	const pause = held.pauseNs - schedule.warmupNs;
	const build = held.resumeNs - held.pauseNs;
	const drain = schedule.durationNs - pause - build;
	return [
		`consumers pause after ${formatDurationExact(pause)} for ${formatDurationExact(build)} while ${plural(held.messages, "message")} pile up, and have ${formatDurationExact(drain)} to drain them`,
	];
}

function extras(plan: Plan): string[] {
	const { inFlight, keys, work, message } = plan;
	const { randomRatio, file } = message;
	const startNs = plan.beside?.startNs ?? 0;
	return [
		startNs > 0 && `begins ${formatDurationExact(startNs)} after the run`,
		inFlight !== null && `at most ${formatCount(inFlight)} in flight per producer`,
		work !== null &&
			`${formatDurationExact(work.meanNs)} of work per message${work.distribution === "exponential" ? " on average, exponential" : ""}`,
		keys !== null && `${formatCount(keys.count)} keys, ${keys.distribution}`,
		file !== null && "payload from a file",
		message.payload === "zeros" && "payload of zeros",
		randomRatio < 1 && `${percent(randomRatio, 6)} of payload random`,
	].filter((part) => part !== false);
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
