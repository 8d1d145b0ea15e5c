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

/** What several clients, and several lines of one client, have counted, put together. */

export function addSeconds(lines: readonly Second[]): Second[] {
	const seconds = new Map<number, Second>();
	for (const line of lines) {
		const sum = seconds.get(line.second);
		seconds.set(line.second, sum ? addSecond(sum, line) : bare(line));
	}
	return [...seconds.values()].sort((a, b) => a.second - b.second);
}

/** One list per client. A client's own ticks of one second follow each other, those of several clients add up. */
export function addTicks(clients: readonly (readonly Tick[])[]): Tick[] {
	const ticks = new Map<number, Tick>();
	for (const client of clients) {
		const own = new Map<number, Tick>();
		for (const line of client) {
			const at = Math.round(line.at);
			const before = own.get(at);
			const { inFlight } = line;
			own.set(at, {
				...(before ? addNumbers(before, bare(line)) : bare(line)),
				backlog: [...(before?.backlog ?? []), ...line.backlog],
				...(line.outstanding === undefined
					? {}
					: { outstanding: [...(before?.outstanding ?? []), ...line.outstanding] }),
				...heldOf((a, b) => [...a, ...b], before, line),
				inFlight,
				at,
				...lengthOf(line),
			});
		}
		for (const [at, tick] of own) {
			const sum = ticks.get(at);
			ticks.set(at, sum ? addTick(sum, tick) : tick);
		}
	}
	return [...ticks.values()].sort((a, b) => a.at - b.at);
}

/** By 10 ms since T0 (of a long run by as many times that as seconds are recorded as one), up to the last second in which something completed. */
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

/** Buckets of response time, ascending, each once. */
export function addBreakdowns(buckets: readonly Bucket[]): Bucket[] {
	const sums = new Map<number, Bucket>();
	for (const bucket of buckets) {
		const { fromNs, toNs, ...more } = bucket;
		const sum = sums.get(fromNs);
		sums.set(fromNs, sum ? { fromNs, toNs, ...addNumbers<typeof more>(more, sum) } : bucket);
	}
	return [...sums.values()].sort((a, b) => a.fromNs - b.fromNs);
}

/**
 * Of messages that cross from client to client no client knows which are under way: a message leaves the flight that it counts with its
 * acknowledgement. What all of them have sent less what all have received is told in its place, in whole messages of `copies` each.
 */
export function waitingOfAll(
	clients: readonly (readonly Tick[])[],
	ticks: readonly Tick[],
	copies: number,
): Tick[] {
	const own = clients.map(
		(client) => new Map(addTicks([client]).map((t) => [t.at, t.outstanding])),
	);
	// What a client has counted stands until it counts again: it may have ended before the others.
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

/** Of each kind the message that was due first. */
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
	return first === undefined ? null : rest.reduce(addNumbers, first);
}

export function addTotals(lines: readonly Totals[]): Totals | null {
	const [first, ...rest] = lines.map(bare);
	if (first === undefined) return null;
	return rest.reduce(
		({ unanswered, suspendedNs = 0, ...a }, b) => ({
			...addNumbers(a, b),
			suspendedNs: Math.max(suspendedNs, b.suspendedNs ?? 0),
			...(unanswered === undefined || b.unanswered === undefined
				? {}
				: { unanswered: unanswered + b.unanswered }),
			// The latest of all clients decides, and the worst.
			firstClaimNs: Math.max(a.firstClaimNs, b.firstClaimNs),
			endNs: Math.max(a.endNs, b.endNs),
			// Whoever closed first has counted least.
			lookedNs: ofBoth(Math.min, a.lookedNs, b.lookedNs),
			throttledNs: ofBoth(Math.max, a.throttledNs, b.throttledNs),
			// From the first client that sent or received to the last.
			firstSendNs: ofBoth(Math.min, a.firstSendNs, b.firstSendNs),
			firstReceiveNs: ofBoth(Math.min, a.firstReceiveNs, b.firstReceiveNs),
			windowStartNs: ofBoth(Math.min, a.windowStartNs, b.windowStartNs),
			lastAckNs: ofBoth(Math.max, a.lastAckNs, b.lastAckNs),
			lastReceiveNs: ofBoth(Math.max, a.lastReceiveNs, b.lastReceiveNs),
			schedLatencyP999Ns: Math.max(a.schedLatencyP999Ns, b.schedLatencyP999Ns),
			errors: addErrors([...a.errors, ...b.errors]),
		}),
		first,
	);
}

export function bare<T extends object>(line: T): T {
	if (!("type" in line)) return line;
	const { type: _, ...rest } = line;
	return rest as unknown as T;
}

// --- internal ---

/** null: that client has not come to it. */
function ofBoth(
	which: (a: number, b: number) => number,
	a: number | null,
	b: number | null,
): number | null {
	return a === null || b === null ? (a ?? b) : which(a, b);
}

function addSecond(a: Second, b: Second): Second {
	const metrics = { ...a.metrics };
	for (const [name, y] of Object.entries(b.metrics)) {
		const x = metrics[name as Metric];
		metrics[name as Metric] = x
			? {
					count: x.count + y.count,
					sum: x.sum + y.sum,
					min: Math.min(x.min, y.min),
					max: Math.max(x.max, y.max),
					clamped: x.clamped + y.clamped,
					negative: x.negative + y.negative,
					...lowestOf(x, y),
				}
			: y;
	}
	const pieces = (x: readonly number[] = [], y: readonly number[] = []) =>
		x.map((n, i) => n + (y[i] ?? 0));
	return {
		second: a.second,
		...lengthOf(a),
		metrics,
		limits: a.limits.map((x, k) => ({
			count: pieces(x.count, b.limits[k]?.count),
			over: pieces(x.over, b.limits[k]?.over),
			overWithoutLag: pieces(x.overWithoutLag, b.limits[k]?.overWithoutLag),
		})),
	};
}

function lengthOf({ seconds }: { readonly seconds?: number | undefined }) {
	return seconds === undefined ? {} : { seconds };
}

function lowestOf(...of: readonly { readonly lowest?: number | undefined }[]) {
	const known = of.map((m) => m.lowest).filter((ns) => ns !== undefined);
	return known.length === 0 ? {} : { lowest: smallestOf(known) };
}

/** Two clients in one second. A sample that one of them has not taken cannot be added up. */
function addTick(a: Tick, b: Tick): Tick {
	const taken = Math.min(a.backlog.length, b.backlog.length);
	const { outstanding: _, held: __, ...sum } = addNumbers(a, b);
	return {
		...sum,
		at: a.at,
		...lengthOf(a),
		backlog: a.backlog.slice(0, taken).map((n, i) => n + (b.backlog[i] ?? 0)),
		...heldOf((x, y) => x.slice(0, y.length).map((n, i) => n + (y[i] ?? 0)), a, b),
	};
}

/** What waits in the client libraries of both; a client that does not know makes the sum unknown. */
function heldOf(
	put: (a: readonly number[], b: readonly number[]) => number[],
	a: Tick | undefined,
	b: Tick,
): Pick<Tick, "held"> {
	const [x, y] = [a === undefined ? [] : a.held, b.held];
	if (x === undefined || y === undefined) return {};
	return { held: x === null || y === null ? null : put(x, y) };
}

function addErrors(errors: Totals["errors"]): Totals["errors"] {
	const byMessage = new Map<string, Totals["errors"][number]>();
	for (const e of errors) {
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

/** Adds field by field. What one of them did not measure (null) stays null: a sum of some would be a wrong number. */
function addNumbers<T extends object>(a: T, b: T): T {
	return Object.fromEntries(
		Object.entries(a).map(([key, x]) => {
			const y = b[key as keyof T];
			return [
				key,
				typeof x === "number" && typeof y === "number"
					? x + y
					: x === null || y === null
						? null
						: x,
			];
		}),
	) as T;
}
