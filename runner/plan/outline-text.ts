import { largestOf } from "../extremes.ts";
import { grouped } from "../grouped.ts";
import { isBaseline } from "../model/baseline-sla.ts";
import type { Plan } from "../model/plan.ts";
import { wrap } from "../terminal/wrap.ts";
import {
	formatBytes,
	formatBytesExact,
	formatCount,
	formatDuration,
	formatDurationExact,
	formatRate,
	plural,
} from "../units.ts";
import { distinct } from "./distinct.ts";
import { afterText, QUICK_MEANS, rateText, timeText } from "./load-text.ts";
import { type Carried, DEPTHS, type Enough, type Outline, tooDeepSentence } from "./outline.ts";

/**
 * An outline for people. Names stand last in their tables, so that a long one breaks nothing. `where`: where it runs (place-text.ts),
 * `uses`: with what (uses-text.ts); empty: nothing is to be said of that. `warnings`: besides those about percentiles.
 */
export function renderOutline(
	outline: Outline,
	columns: number,
	where: readonly string[] = [],
	warnings: readonly string[] = [],
	searchText: (search: Plan) => string = () => "a search, find: max-rate",
	uses: readonly string[] = [],
): string {
	const width = Math.max(40, columns);
	const { runs, searches } = outline;
	const plans = [...runs.map(({ plan }) => plan), ...searches];
	// Of its runs nothing is known but how many there may be.
	const searching = runs.length === 0 && searches.length > 0;
	const compared = comparedText(plans);
	const lines = [
		...(searching ? [] : runLines(outline, width)),
		...(plans.some(({ quick }) => quick) ? ["", ...wrap(`Note: ${QUICK_MEANS}.`, width)] : []),
		...searches.flatMap((plan, i) => [
			...(searching && i === 0 ? [] : [""]),
			...wrap(`${plan.index}. ${plan.system}/${plan.case}: ${searchText(plan)}.`, width),
		]),
		"",
		...(compared === null ? [] : [...wrap(`${compared}.`, width), ""]),
		"What each case does:",
		"",
		...distinct(plans, (plan) => plan.case).flatMap((plan) =>
			wrap(
				`${plan.case}: ${describeAll(plans.filter((one) => one.case === plan.case))}.`,
				width,
				"    ",
				"  ",
			),
		),
		...[["Where it runs:", where] as const, ["What it starts and reads:", uses] as const].flatMap(
			([title, all]) =>
				all.length === 0
					? []
					: ["", title, "", ...all.flatMap((line) => wrap(`${line}.`, width, "    ", "  "))],
		),
		...(searching ? [] : percentileLines(outline, width)),
		...[...outline.tooDeep.map((line) => tooDeepSentence(line, formatCount)), ...warnings].flatMap(
			(text) => ["", ...wrap(`Warning: ${text}`, width, "  ", "")],
		),
	];
	return `${lines.join("\n")}\n`;
}

/** "compared over 5 repeats with system old: p99 <= baseline + 10%"; null: nothing is. */
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
			? "a baseline (--baseline <file|folder>, or that of the scenario)"
			: `system ${system}, which takes turns with the others`;
	const what =
		lines.size > 0 ? [...lines].join(", ") : "p50, p99 and of closed loads throughput (default)";
	return `compared over ${repeats} repeats with ${other}: ${what}`;
}

/** "fan-out of 256B, 1000/s for 10s after 5s warm-up; 4 producers on 4 connections, ...": the whole load in words. */
export function describe(plan: Plan): string {
	// How long a run of a search takes follows from its rate and the SLA.
	const load =
		plan.search?.role === "start"
			? `${rateText(plan)} at first, ${afterText(plan.schedule)}`
			: `${rateText(plan)} ${timeText(plan)}`;
	return [
		`${plan.pattern} of ${formatBytesExact(plan.message.bytes)}, ${load}`,
		topology(plan),
		...pieces(plan),
		...backlog(plan),
		...extras(plan),
	].join("; ");
}

// --- internal ---

function runLines(outline: Outline, width: number): string[] {
	const { runs } = outline;
	const plans = runs.map(({ plan }) => plan);
	const closed = hasClosed(outline);
	return [
		...table(
			["#", "repeat", "time", "messages", "bytes", "system/case"],
			runs.map(({ plan, messages, bytes, durationNs }) => [
				`${plan.index}`,
				`${plan.repeat}/${plan.repeats}`,
				`${plan.schedule.kind === "closed" ? "<= " : ""}${formatDurationExact(durationNs)}`,
				formatCount(messages),
				formatBytes(bytes),
				`${plan.system}/${plan.case}`,
			]),
		),
		"",
		...wrap(
			`${plural(runs.length, "run")}: ${closed ? "at most " : ""}${formatDuration(outline.durationNs)} of sending, and at most ${formatDuration(outline.drainNs)} of waiting for the last messages. ${formatCount(outline.messages)} messages, warm-up included; ${formatBytes(outline.bytes)} of payload${
				plans.every(({ pattern }) => pattern === "round-trip")
					? ", there and back"
					: ", counted each time it crosses the network"
			}.`,
			width,
		),
	];
}

function percentileLines(outline: Outline, width: number): string[] {
	const closed = hasClosed(outline);
	return [
		"",
		"Percentiles that the window of one run carries:",
		"",
		...table(
			["samples", ...DEPTHS.map((p) => `p${p}`), "case"],
			outline.cases.map(carriedRow),
			"left",
		),
		"",
		...wrap(
			`ok: 10 samples or more are expected above it; weak: fewer, but a 95 % bound exists; none: not printed. Beside them ${closed ? "what would make it ok: a duration at this rate, or a number of messages" : "the duration from which on it is ok, at this rate"}. Stalls make it less: mqbench explain support.`,
			width,
		),
	];
}

function hasClosed({ runs }: Outline): boolean {
	return runs.some(({ plan }) => plan.schedule.kind === "closed");
}

/** One case for all of its systems; where their limits or partitions differ, each of those apart. */
function describeAll(plans: readonly Plan[]): string {
	const all = [...grouped(plans, describe)];
	return all
		.map(([text, own]) =>
			all.length === 1
				? text
				: `${distinct(
						own.map(({ system }) => system),
						(name) => name,
					).join(", ")}: ${text}`,
		)
		.join("; ");
}

function topology(plan: Plan): string {
	const { consumers, subscriptions, consumerConnections, partitions, bystanders } = plan;
	const receivers =
		plan.pattern === "fan-out"
			? plural(subscriptions, "subscriber")
			: consumers > 0
				? plural(consumers, plan.pattern === "request-reply" ? "responder" : "consumer")
				: null;
	return [
		`${plural(plan.producers, "producer")} on ${plural(plan.connections, "connection")}`,
		`${plural(plan.topics.length, "topic")}${partitions > 1 ? ` of ${partitions} partitions` : ""}`,
		...(receivers === null ? [] : [`${receivers} on ${plural(consumerConnections, "connection")}`]),
		...(plan.wildcard ? ["subscribed by a wildcard"] : []),
		...(bystanders > 0 ? [plural(bystanders, "bystander")] : []),
	].join(", ");
}

/** Where the rate goes, unless its phases say so. */
function pieces({ schedule, phases }: Plan): string[] {
	if (schedule.kind !== "stages") return [];
	const [warmup, rest] =
		schedule.warmupNs > 0
			? [schedule.pieces[0], schedule.pieces.slice(1)]
			: [undefined, schedule.pieces];
	const steps = phases.length > 0;
	const parts = rest.map(({ durationNs, to }) =>
		steps
			? `${formatRate(to)} for ${formatDurationExact(durationNs)}`
			: `to ${formatRate(to)} in ${formatDurationExact(durationNs)}`,
	);
	const from = warmup ?? rest[0];
	const shown = parts.length > 12 ? [...parts.slice(0, 6), "...", ...parts.slice(-2)] : parts;
	return [`${steps || !from ? "" : `from ${formatRate(from.from)} `}${shown.join(", ")}`];
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
	return [
		...(inFlight === null ? [] : [`at most ${formatCount(inFlight)} in flight per producer`]),
		...(work === null
			? []
			: [
					`${formatDurationExact(work.meanNs)} of work per message${work.distribution === "exponential" ? " on average, exponential" : ""}`,
				]),
		...(keys === null ? [] : [`${formatCount(keys.count)} keys, ${keys.distribution}`]),
		...(file !== null
			? ["payload from a file"]
			: message.payload === "zeros"
				? ["payload of zeros"]
				: randomRatio < 1
					? [`${Number((randomRatio * 100).toPrecision(6))} % of payload random`]
					: []),
	];
}

function carriedRow(one: Carried): string[] {
	return [
		formatCount(one.samples),
		...one.percentiles.map(({ support, okFrom }) =>
			support === "ok" ? "ok" : `${support} ${amount(okFrom)}`,
		),
		one.phase === null ? one.case : `  ${one.phase}`,
	];
}

function amount(enough: Enough): string {
	return "ns" in enough ? formatDurationExact(enough.ns) : formatCount(enough.messages);
}

/** Numbers are flush right; the last column, and with "left" all but the first, begin at their left edge. */
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
