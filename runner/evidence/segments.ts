import { createHash } from "node:crypto";
import { lstatSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { largestOf } from "../extremes.ts";
import { sizeOfGiven } from "../given-folder.ts";
import { chunks, type LogFile, lines as linesOf } from "../histogram/log-file.ts";
import { type Checkpoint, CheckpointLine, type ClientFileLine } from "../model/client-file.ts";
import { beginNs, Plan } from "../model/plan.ts";
import type { ResourceLine } from "../model/resource-file.ts";
import { addCounters, addTotals } from "./add-up.ts";
import { type ClientFiles, clientFile, isCheckpoint, parseAll } from "./client-read.ts";
import { parsed, readJson } from "./json.ts";
import { readSamples } from "./resources.ts";

/**
 * A run that was cut (its client rebooted, k6 or mqbench was killed) and resumed keeps the files of each earlier part in `segment-<n>/`.
 * Such a part counts until the checkpoint from which the next one goes on; what it sent after that is sent again.
 */
type Segment = ReturnType<typeof readSegments>[number];

/** What counts, ns since T0; nothing if both are the same. */
interface Span {
	readonly fromNs: number;
	readonly untilNs: number;
}

export function readSegments(run: string, plan: Plan) {
	const folders = segmentsIn(run).map((number) => join(run, `segment-${number}`));
	const plans = [...folders.map((folder) => readJson(join(folder, "plan.json"), Plan)), plan];
	return folders.map((folder, i) => {
		const [own, next] = plans.slice(i) as [Plan, Plan];
		const span = { fromNs: i === 0 ? -Infinity : resumeNs(own), untilNs: resumeNs(next) };
		const clients = Array.from({ length: own.client.count }, (_, k) =>
			partOf(folder, k, span, own),
		);
		return { folder, plan: own, ...span, clients };
	});
}

export function nextSegment(run: string): string {
	return join(run, `segment-${(segmentsIn(run).at(-1) ?? 0) + 1}`);
}

/** The last checkpoint that all clients of a run have whole, ns since T0. Null: it can only begin again. */
export function resumesAt(run: string, plan: Plan): number | null {
	if (plan.segments === undefined) return null;
	const all = Array.from({ length: plan.client.count }, (_, index) =>
		[...checked(run, index)].flatMap(({ checkpoint }) => checkpoint ?? []),
	);
	const common = all[0]?.findLast(({ untilNs }) =>
		all.every((own, index) => {
			const one = own.find((other) => other.untilNs === untilNs);
			return one !== undefined && logUntil(run, index, one) !== null;
		}),
	);
	return common?.untilNs ?? (resumeNs(plan) || null);
}

/** All files of a client, as if nothing had been cut. Sums by bucket exist only at a segment's end, so there are none. */
export function joined(own: ClientFiles, segments: readonly Segment[], plan: Plan): ClientFiles {
	if (segments.length === 0) return own;
	const span = { fromNs: resumeNs(plan), untilNs: Infinity };
	const parts = segments.flatMap(({ clients }) => clients[own.index] ?? []);
	const last = within(own.lines, span, plan);
	const all = [...parts.flatMap(({ lines }) => lines), ...last];
	const problem = parts.find((part) => part.problem !== null)?.problem ?? own.problem;
	const totals = addTotals(all.filter((line) => line.type === "totals"));
	const sums = (["warmup", "window"] as const).flatMap((scope): ClientFileLine[] => {
		const lines = all.filter((line) => line.type === "counters").filter((l) => l.scope === scope);
		// Later warm-ups are not of the schedule.
		const sum = addCounters(lines.slice(0, scope === "warmup" ? 1 : undefined));
		return sum === null ? [] : [{ type: "counters", scope, ...sum }];
	});
	// Counts without those of the last segment are not the run's.
	const closed = totals !== null && last.some(({ type }) => type === "totals");
	return {
		...own,
		problem,
		state: problem === null || own.state === "missing" ? own.state : "broken",
		lines: [
			...all.filter(({ type }) => type !== "counters" && type !== "totals"),
			...(closed ? [...sums, { type: "totals" as const, ...totals }] : []),
		],
		logs: [...parts.flatMap(({ logs }) => logs), ...own.logs.map((log) => ({ ...log, span }))],
	};
}

/** Where a run was cut. By the schedule (ns since T0), what counts ends at `untilNs`; by client 0's clock (ms since 1970) it went on at `resumedMs`. */
export function gapsOf(segments: readonly Segment[], plan: Plan, t0Ms: number | null) {
	return segments.map(({ plan: own, untilNs, clients }, i) => {
		const next = segments[i + 1];
		const cutNs = largestOf([untilNs, beginNs(own), ...clients.map(({ endNs }) => endNs)]);
		const nextT0 = next === undefined ? t0Ms : next.clients[0]?.t0Ms;
		return {
			cutNs,
			untilNs,
			cutMs: (clients[0]?.t0Ms ?? Number.NaN) + cutNs / 1e6,
			resumedMs: (nextT0 ?? Number.NaN) + beginNs(next?.plan ?? plan) / 1e6,
			/** Sent in between: what became of them is not known. */
			messages: clients.flatMap(({ later }) => later).reduce((sum, { sent }) => sum + sent, 0),
		};
	});
}

/** Samples of all segments on the time axis of the last. Counters go on where those of the segment before ended. */
export function joinedSamples(
	own: readonly ResourceLine[],
	segments: readonly Segment[],
	plan: Plan,
	t0Ms: number | null,
): readonly ResourceLine[] {
	if (segments.length === 0 || t0Ms === null) return own;
	const parts = segments.map(({ folder, clients, ...span }) => {
		const by = t0Ms - (clients[0]?.t0Ms ?? Number.NaN);
		const samples = readSamples(join(folder, "resources.jsonl"), plan.intervalSeconds);
		return { span, samples: samples.map((line) => ({ ...line, unixMs: line.unixMs + by })) };
	});
	const last = { span: { fromNs: resumeNs(plan), untilNs: Infinity }, samples: own };
	const all: ResourceLine[] = [];
	for (const { span, samples } of [...parts, last]) {
		const counting = samples.filter(({ unixMs }) => isIn(span, (unixMs - t0Ms) * 1e6));
		const [first, end] = [counting[0], all.at(-1)];
		for (const line of counting) all.push(end ? (goneOn(line, first, end) as ResourceLine) : line);
	}
	return all;
}

// --- internal ---

function segmentsIn(run: string): number[] {
	return readdirSync(run)
		.flatMap((name) => /^segment-(\d+)$/.exec(name)?.[1] ?? [])
		.map(Number)
		.filter((number) => lstatSync(join(run, `segment-${number}`)).isDirectory())
		.sort((a, b) => a - b);
}

function resumeNs({ segments }: Plan): number {
	return segments?.resumeNs ?? 0;
}

/** The lines of a client's .jsonl, and each checkpoint whose lines before it are as they were written. */
function* checked(folder: string, index: number) {
	const file = clientFile(folder, `client-${index}.jsonl`);
	const hash = createHash("sha256");
	for (const text of file === null ? [] : linesOf(file)) {
		const found = isCheckpoint(text) ? CheckpointLine.safeParse(parsed(text)).data : undefined;
		const checkpoint = found && found.sha256 === hash.copy().digest("hex") ? found : null;
		hash.update(`${text}\n`);
		yield { text, checkpoint };
	}
}

/** The histograms of a checkpoint, or null if they are not on the disk. */
function logUntil(folder: string, index: number, { hlog }: Checkpoint): LogFile | null {
	const file = clientFile(folder, `client-${index}.hlog`);
	if (file === null || (sizeOfGiven(file.path) ?? 0) < hlog.bytes) return null;
	const log = { path: file.path, bytes: hlog.bytes };
	const hash = createHash("sha256");
	for (const chunk of chunks(log)) hash.update(chunk);
	return hash.digest("hex") === hlog.sha256 ? log : null;
}

function partOf(folder: string, index: number, span: Span, plan: Plan) {
	const [counted, rest]: [string[], string[]] = [[], []];
	const counts = span.untilNs > span.fromNs;
	let end: Checkpoint | null = null;
	for (const { text, checkpoint } of checked(folder, index)) {
		(end === null ? counted : rest).push(text);
		if (counts && checkpoint?.untilNs === span.untilNs) end = checkpoint;
	}
	const [all, after] = [counted, rest].map((texts) =>
		parseAll(texts, { tolerant: true, completions: false }),
	) as [ClientFileLine[], ClientFileLine[]];
	const ticks = [...all, ...after].filter((line) => line.type === "tick");
	const client = all.find((line) => line.type === "client");
	const log = end && logUntil(folder, index, end);
	return {
		/** Those that count. */
		lines: end === null ? [] : within([...all, ...sumsAt(end)], span, plan),
		logs: log === null ? [] : [{ ...log, span }],
		/** The seconds after that, as far as they were written. */
		later: ticks.filter(({ at }) => at > wholeS(span.untilNs)),
		endNs: ticks.reduce((most, { at }) => Math.max(most, at * 1e9), 0),
		t0Ms: client === undefined ? null : Number(BigInt(client.t0UnixNs) / 1000n) / 1000,
		problem:
			counts && log === null
				? `${basename(folder)}/client-${index}.jsonl and .hlog do not match the checkpoint from which the run went on`
				: null,
	};
}

/** What a trailer would have followed. Real time is known only to the checkpoint's own, so messages count by their schedule. */
function sumsAt({ counters, totals, first, slowest }: Checkpoint): ClientFileLine[] {
	const { sent, acked, received } = counters[1];
	return [
		...counters,
		{ ...totals, sentInWindow: sent, ackedInWindow: acked, receivedInWindow: received ?? 0 },
		{ type: "offenders", first },
		{ type: "slowest", messages: slowest },
	];
}

/** Ticks end with whole seconds since T0. */
function wholeS(ns: number): number {
	return Math.ceil(ns / 1e9);
}

function isIn({ fromNs, untilNs }: Span, ns: number): boolean {
	return ns >= fromNs && ns < untilNs;
}

/** The part of a segment's lines that counts; only the last one's line about the client. */
function within(
	lines: readonly ClientFileLine[],
	span: Span,
	{ schedule }: Plan,
): ClientFileLine[] {
	const { fromNs, untilNs } = span;
	return lines.flatMap((line): ClientFileLine | [] => {
		switch (line.type) {
			case "second":
				return isIn(span, schedule.warmupNs + line.second * 1e9) ? line : [];
			case "tick":
				return line.at > wholeS(fromNs) && line.at <= wholeS(untilNs) ? line : [];
			case "stops":
				return { ...line, stops: line.stops.filter(([from]) => isIn(span, from)) };
			case "slowest":
				return { ...line, messages: line.messages.filter((m) => isIn(span, m.intendedNs)) };
			case "offenders": {
				const own = Object.entries(line.first).filter(([, m]) => isIn(span, m.intendedNs ?? 0));
				return { ...line, first: Object.fromEntries(own) };
			}
			case "client":
				return untilNs === Infinity ? line : [];
			default:
				return line.type === "breakdown" || line.type === "completions" ? [] : line;
		}
	});
}

/** `now` with its counters moved from where its segment's began (`from`) to where the one before ended (`upTo`). */
function goneOn(now: unknown, from: unknown, upTo: unknown, key = ""): unknown {
	if (typeof now === "number") {
		const gauge = key === "rssBytes" || key === "unixMs";
		return gauge || typeof from !== "number" || typeof upTo !== "number" ? now : now - from + upTo;
	}
	if (now === null || typeof now !== "object") return now;
	const of = (all: unknown, name: string) => (all as Record<string, unknown> | null)?.[name];
	const parts = Object.entries(now).map(([name, value]) => [
		name,
		goneOn(value, of(from, name), of(upTo, name), name),
	]);
	return Object.fromEntries(parts);
}
