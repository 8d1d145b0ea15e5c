import { runId } from "../figures/facts.ts";
import type { Result, Run } from "../model/result.ts";
import { type Count, countLabel, countsOf, isBad } from "../result/fields.ts";
import { amount, show } from "../result/show.ts";
import {
	besideText,
	fateText,
	isClosed,
	loadText,
	meanwhileText,
	offenderText,
	runTitle,
} from "../result/words.ts";
import { sum } from "../stats/sum.ts";
import { formatCount, formatDuration, formatDurationExact, plural } from "../units.ts";
import { orderUnit } from "../verdict/tally.ts";
import * as doc from "./blocks.ts";
import { MANY_RUNS } from "./cases.ts";
import { breakdown, held, omission, overTime, percentiles, slowest } from "./latency.ts";
import { clients, hours, phases, sizes } from "./tables.ts";
import { costText, drainText, networkText, systemFacts } from "./words.ts";

/** Above this many each run is folded and has no quiet checks: a page has no room for all of 100 runs. */
export const RUNS_WITH_DETAILS = 8;

/** In the order of questions: how slow, when, where messages waited, how many were lost, is it to be trusted, with which settings. */
export function runSection(run: Run, number: number, result: Result): doc.Fold {
	const many = result.runs.length >= MANY_RUNS;
	const full = result.runs.length <= RUNS_WITH_DETAILS;
	const network = networkText(run);
	return doc.fold(
		runTitle(run, result),
		[
			doc.text(systemFacts(run)),
			doc.text(loadText(run), "soft"),
			doc.text(besideText(run, result), "soft"),
			doc.text(network === null ? null : `network: ${network}`, "soft"),
			// Elsewhere failures are at the end, with their reason.
			doc.text(run.why, run.verdict, 3),
			doc.text(fateText(run), run.verdict),
			...run.notes.map((note) => doc.text(`note: ${note}`, "warn")),
			...(run.state === "never" ? clients(run) : measured(run, result, full)),
		],
		{
			id: `run-${number}`,
			badge: run.verdict,
			depth: !many ? 1 : run.verdict === "pass" ? 3 : 2,
			open: full ? 3 : undefined,
		},
	);
}

export function counts(run: Run): doc.Block[] {
	const names = countsOf(run);
	const published = run.load.pattern === "publish";
	const { sent, received, achieved } = run.throughput;
	const rates: (readonly [string, number | null])[] = [
		isClosed(run) ? ["sent rate", sent] : ["achieved rate", achieved],
		...(published ? [] : [[countLabel(run, "received rate"), received] as const]),
	];
	const cell = (count: Count): doc.Inline => {
		const of = amount(run[count], "messages");
		return isBad(count) && (run[count] ?? 0) > 0 ? { as: "alert", text: show(of) } : of;
	};
	const warmup = names
		.filter((count) => run.warmup[count] !== null)
		.map((count) => `${countLabel(run, count)} ${formatCount(run.warmup[count] ?? 0)}`);
	return [
		doc.heading("Messages of the window", 3),
		doc.table(
			[
				...names.flatMap((count) =>
					doc.numbers([countLabel(run, count)], run[count] === null ? 2 : undefined),
				),
				...rates.flatMap(([name]) => doc.numbers([name], 3)),
			],
			[[...names.map(cell), ...rates.map(([, value]) => amount(value, "messages/s"))]],
			{ look: "row" },
		),
		...[...notes(run), ...howRates(run)].map((note) => doc.text(note, "small")),
		doc.text(`Warm-up: ${warmup.join(", ")}`, "small", 3),
	];
}

/** Findings are open; passed and unknown checks are folded, or with many runs (`short`) only counted. */
export function checks(run: Run, short: boolean): doc.Block[] {
	const { validity, why } = run;
	if (validity.length === 0) return [];
	const found = validity.filter(({ status }) => !QUIET.has(status));
	const quiet = validity.filter(({ status }) => QUIET.has(status));
	const unknown = quiet.filter(({ status }) => status === "unknown");
	const summary = `${quiet.length - unknown.length} checks found nothing${unknown.length > 0 ? `, ${unknown.length} could not be made` : ""}`;
	const names = unknown.map(({ check, detail }) => `${check} (${detail})`).join(", ");
	return [
		doc.heading("Is the measurement to be trusted?", 3),
		// Texts have the reason for the verdict above.
		checkList(
			found.filter(({ detail }) => detail === why),
			3,
		),
		checkList(found.filter(({ detail }) => detail !== why)),
		short ? doc.text(summary, "soft", 3) : doc.fold(summary, [checkList(quiet)], { depth: 3 }),
		...doc.upTo(2, doc.text(names === "" ? null : `not known: ${names}`)),
	];
}

export function errors({ errors: all }: Run): doc.Block[] {
	if (all.length === 0) return [];
	return [
		doc.heading("Errors", 3),
		doc.list(
			all.map(({ count, message }) => [`error, ${plural(count, "time")}: `, doc.code(message)]),
		),
	];
}

/** Serious lines first. Page only: a broker may name hosts, which do not belong in a comment. */
export function brokerLog({ brokerLog: log, window }: Run): doc.Block[] {
	if (log === undefined || log.lines.length === 0) return [];
	const lines = log.lines
		.toSorted((a, b) => Number(b.serious) - Number(a.serious))
		.slice(0, MOST)
		.sort((a, b) => a.atNs - b.atNs);
	const timesOf = (some: typeof lines) => sum(some.map(({ times }) => times));
	const more = log.more + timesOf(log.lines) - timesOf(lines);
	const rows = lines.map((line) => [
		`${((line.atNs - window.startNs) / 1e9).toFixed(3)}s`,
		`${line.node}`,
		formatCount(line.times),
		doc.code(line.text),
	]);
	const means =
		"At: seconds after the window opened, by the clock of the node. Times: lines of the node within a few seconds that differ in numbers only, of which this is the first.";
	const note =
		more === 0 ? means : `${means} ${plural(more, "line")} more in the run's broker.log.`;
	const columns = [...doc.numbers(["at", "node", "times"]), "line"];
	const title = "What the broker logged during the run";
	return [doc.fold(title, [doc.table(columns, rows), doc.text(note, "small")], { depth: 3 })];
}

// --- internal ---

function measured(run: Run, result: Result, full: boolean): doc.Block[] {
	const figures = (kinds: readonly string[], title?: string): doc.Figures => ({
		kind: "figures",
		ids: kinds.map((kind) => `${runId(run)}-${kind}`),
		title,
	});
	// With many runs only where there is something to explain.
	const explained = result.runs.length === 1 || run.verdict !== "pass";
	return [
		...phases(run, figures(["steps"])),
		doc.heading("Latency by percentile", 3),
		figures(["percentiles"]),
		...percentiles(run),
		...sizes(run),
		...breakdown(run, full ? (explained ? 2 : 3) : null),
		...overTime(run),
		...hours(run),
		...held(run),
		doc.text(drainText(run)),
		doc.text(meanwhileText(run, result)),
		...omission(run),
		figures(["time", "heat", "broker"], "Over time"),
		...counts(run),
		doc.list(Object.keys(run.offenders).flatMap((kind) => offenderText(kind, run) ?? [])),
		...errors(run),
		...clients(run),
		...slowest(run, explained ? 2 : 3),
		...brokerLog(run),
		...checks(run, !full),
		doc.fold("What it ran with", [runFacts(run)], { depth: 3 }),
	];
}

function notes(run: Run) {
	const { load, reordered, timedOut, requests, throttledNs, reconnects, connections, cost } = run;
	return [
		load.pattern === "connect"
			? "each message is a new connection: ack is until it is logged in, response until its message is back"
			: null,
		connections
			? `of ${plural(connections.opened, "connection")}, warm-up included, ${formatCount(connections.closed)} were closed, ${formatCount(connections.gone)} lost while open, ${formatCount(connections.held)} open at the end`
			: null,
		load.pattern === "fan-out"
			? `received and lost count copies: ${plural(load.subscriptions, "subscriber")} ${load.subscriptions === 1 ? "has" : "have"} one of each message`
			: null,
		load.pattern === "request-reply" ? "received counts replies" : null,
		reordered !== null && orderUnit(load) !== "by producer"
			? `reordered counts ${orderUnit(load)}`
			: null,
		timedOut
			? `a message that timed out kept its place in flight for ${formatDurationExact(load.timeoutNs)}, then the next one was sent`
			: null,
		requests
			? `${plural(requests.count, "request")} of the whole run, which the service would bill with about ${requests.usd.toPrecision(3)} USD`
			: null,
		throttledNs ? `throttled by the broker for ${formatDuration(throttledNs)}` : null,
		reconnects ? plural(reconnects, "reconnect") : null,
		costText(cost),
	];
}

/** How rates were computed if the load has none. */
function howRates(run: Run): string[] {
	const { sent, received, sentHow, receivedHow } = run.throughput;
	const lines = [
		["sent", sent, sentHow],
		[countLabel(run, "received"), received, receivedHow],
	] as const;
	return lines.flatMap(([name, value, how]) =>
		isClosed(run) && value !== null ? [`${name} ${formatCount(value)}/s: ${how}`] : [],
	);
}

const QUIET: ReadonlySet<string> = new Set(["ok", "unknown"]);

function checkList(all: Run["validity"], depth?: doc.Depth): doc.List {
	return doc.list(
		all.map(({ check, status, detail, remedy, figure, limit }) => [
			doc.badge(status, status),
			`: ${check}: ${detail}${remedy === null ? "" : `. What to do: ${remedy}`}`,
			doc.aside(figure === null ? "" : `(${figure}${limit === null ? "" : `, limit ${limit}`})`),
		]),
		depth,
	);
}

const MOST = 20;

function runFacts({ load, generator, ...run }: Run): doc.Table {
	const { pacer } = generator ?? {};
	return doc.facts([
		["broker", run.brokerUrl],
		["started", run.startedAt],
		["payload", load.payload],
		[
			"producers",
			`${load.producers} on ${load.connections} connections, ${load.topics} topics${load.partitions > 1 ? ` of ${load.partitions} partitions` : ""}`,
		],
		["generator on CPUs", load.pin.generator],
		["brokers on CPUs", load.pin.brokers],
		[
			"timeout, drain",
			`${formatDurationExact(load.timeoutNs)}, ${formatDurationExact(load.drainNs)}`,
		],
		[
			"generator",
			generator &&
				`${formatDuration(generator.cpuNs)} of CPU in ${formatDuration(generator.endNs)}; ${formatCount(generator.gcCycles)} garbage collections, ${formatDuration(generator.gcPauseNs)} stopped`,
		],
		[
			"pacer",
			pacer
				? `${pacer.timer}, wakes ${formatDuration(pacer.leadNs)} ahead, spins ${formatDuration(pacer.spinNs)}${pacer.napNs > 0 ? `, sleeps at least ${formatDuration(pacer.napNs)}` : ""}`
				: null,
		],
		["raw data", run.folder],
	]);
}
