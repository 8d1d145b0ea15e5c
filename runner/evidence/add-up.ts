import { largestOf, smallestOf } from "../extremes.ts";
import type {
	Bucket,
	Completions,
	Counters,
	CountersLine,
	Offenders,
	Second,
	Tick,
	Totals,
} from "../model/client-file.ts";
import { secondsOf } from "../model/line-seconds.ts";
import type { Metric } from "../model/plan.ts";

/** Merges the counts of several clients, or of several lines of one client. */
export function addSeconds(lines: readonly Second[]): Second[] {
	return addByKey(lines, "second", SECOND);
}

/** A client's ticks of one second follow each other. */
export function ownTicks(lines: readonly Tick[]): Tick[] {
	return addByKey(
		lines.map((line) => ({ ...line, at: Math.round(line.at) })),
		"at",
		FOLLOWING,
	);
}

/** Adds ticks of several clients (`ownTicks`). Samples that one of them has not taken are left out. */
export function addTicks(clients: readonly (readonly Tick[])[]): Tick[] {
	return addByKey(clients.flat(), "at", { at: first, seconds: first });
}

/** Counts by 10 ms since T0 (times the seconds that a long run records as one), up to the last second with a completion. */
export function addCompletions(lines: readonly Completions[]): Float64Array {
	const each = secondsOf(lines[0] ?? {});
	const last = lines.reduce((most, l) => Math.max(most, l.second), -each);
	const bins = new Float64Array((last / each + 1) * 100);
	for (const { second, counts } of lines) {
		let at = (second / each) * 100;
		for (const n of counts) bins[at] = (bins[at++] ?? 0) + n;
	}
	return bins;
}

export function addBreakdowns(buckets: readonly Bucket[]): Bucket[] {
	return addByKey(buckets, "fromNs", { fromNs: first, toNs: first });
}

/** Sets `inFlight` and `backlog` to all sent less all received, in messages of `copies`: where messages cross, no client counts both. */
export function waitingOfAll(
	clients: readonly (readonly Tick[])[],
	ticks: readonly Tick[],
	copies: number,
): Tick[] {
	const own = clients.map((client) => new Map(client.map((t) => [t.at, t.outstanding])));
	// A client's count stands until its next one: it may have ended before the others.
	const last = clients.map(() => 0);
	return ticks.map(({ outstanding: _, ...tick }) => {
		const samples = own.map((of) => of.get(tick.at) ?? []);
		const taken = largestOf(samples.map((s) => s.length));
		const backlog = Array.from({ length: taken }, (_, i) => {
			for (const [c, of] of samples.entries()) last[c] = of[i] ?? last[c] ?? 0;
			const sum = last.reduce((a, b) => a + b, 0);
			return Math.ceil(Math.max(0, sum) / copies);
		});
		return { ...tick, backlog, inFlight: backlog.at(-1) ?? tick.inFlight };
	});
}

/** The first message of each kind by intended time. */
export function earliest(all: readonly Offenders[]): Offenders {
	const first: Offenders = {};
	for (const one of all)
		for (const [key, message] of Object.entries(one)) {
			const kind = key as keyof Offenders;
			const known = first[kind];
			if (known === undefined || (message.intendedNs ?? Infinity) < (known.intendedNs ?? Infinity))
				first[kind] = message;
		}
	return first;
}

export function addCounters(lines: readonly CountersLine[]): Counters | null {
	const [first, ...rest] = lines.map(({ type: _, scope: __, ...c }) => c);
	return first === undefined ? null : rest.reduce((a, b) => add(a, b), first);
}

export function addTotals(lines: readonly Totals[]): Totals | null {
	const [first, ...rest] = lines.map(bare);
	return first === undefined ? null : rest.reduce((a, b) => add(a, b, TOTALS), first);
}

export function bare<T extends object>(line: T): T {
	if (!("type" in line)) return line;
	const { type: _, ...rest } = line;
	return rest as unknown as T;
}

// --- internal ---

type Rules<T> = { readonly [K in keyof T]?: (a: T[K], b: T[K]) => T[K] };
const first = <T>(a: T) => a;
const largest = either(Math.max);
const smallest = either(Math.min);

const SECOND: Rules<Second> = {
	second: first,
	seconds: first,
	metrics: addMetrics,
	limits: (a, b) => a.map((limit, k) => (b[k] ? add(limit, b[k]) : limit)),
};

const FOLLOWING: Rules<Tick> = {
	at: first,
	seconds: first,
	inFlight: (_, b) => b,
	backlog: (a, b) => [...a, ...b],
	outstanding: (a, b) => a && b && [...a, ...b],
	held: (a, b) => (a && b ? [...a, ...b] : plainly(a, b)),
};

const TOTALS: Rules<Totals> = {
	suspendedNs: (a, b) => Math.max(a ?? 0, b ?? 0),
	// The latest and the worst client decides.
	firstClaimNs: Math.max,
	endNs: Math.max,
	schedLatencyP999Ns: Math.max,
	throttledNs: largest,
	connections: (a, b) => (a && b ? add(a, b) : plainly(a, b)),
	// The client that closed first has counted least.
	lookedNs: smallest,
	// From the first client that sent or received to the last.
	firstSendNs: smallest,
	firstReceiveNs: smallest,
	windowStartNs: smallest,
	lastAckNs: largest,
	lastReceiveNs: largest,
	errors: addErrors,
};

function addByKey<T extends object>(lines: readonly T[], key: keyof T, rules: Rules<T>): T[] {
	const sums = new Map<number, T>();
	for (const line of lines) {
		const at = line[key] as number;
		const sum = sums.get(at);
		sums.set(at, sum ? add(sum, line, rules) : bare(line));
	}
	return [...sums].sort(([a], [b]) => a - b).map(([, sum]) => sum);
}

function add<T extends object>(a: T, b: T, rules: Rules<T> = {}): T {
	const fields = Object.keys({ ...a, ...rules }) as (keyof T)[];
	const sums = fields.flatMap((field) => {
		const sum = (rules[field] ?? plainly)(a[field], b[field]);
		return sum === undefined ? [] : [[field, sum]];
	});
	return Object.fromEntries(sums) as T;
}

/** Adds numbers, or lists up to the shorter one. If a side lacks one (null or left out), so does the sum: a partial one would be wrong. */
function plainly<T>(a: T, b: T): T {
	if (a === undefined || b === undefined) return undefined as T;
	if (a === null || b === null) return null as T;
	if (Array.isArray(a) && Array.isArray(b))
		return a.slice(0, b.length).map((n, i) => n + b[i]) as T;
	return (typeof a === "number" && typeof b === "number" ? a + b : a) as T;
}

/** A null is from a client that did not get that far. */
function either(which: (a: number, b: number) => number) {
	return (a: number | null, b: number | null) =>
		a === null || b === null ? (a ?? b) : which(a, b);
}

function addMetrics(a: Second["metrics"], b: Second["metrics"]): Second["metrics"] {
	const metrics = { ...a };
	for (const [name, more] of Object.entries(b)) {
		const known = metrics[name as Metric];
		metrics[name as Metric] = known
			? add(known, more, {
					min: Math.min,
					max: Math.max,
					lowest: (x, y) => (x === undefined || y === undefined ? (x ?? y) : Math.min(x, y)),
				})
			: more;
	}
	return metrics;
}

function addErrors(a: Totals["errors"], b: Totals["errors"]): Totals["errors"] {
	const byMessage = new Map<string, Totals["errors"][number]>();
	for (const e of [...a, ...b]) {
		const sum = byMessage.get(e.message);
		const times = [sum?.firstNs ?? null, e.firstNs].filter((t) => t !== null);
		byMessage.set(e.message, {
			message: e.message,
			count: e.count + (sum?.count ?? 0),
			firstNs: times.length === 0 ? null : smallestOf(times),
		});
	}
	return [...byMessage.values()].sort((a, b) => b.count - a.count).slice(0, 20);
}
