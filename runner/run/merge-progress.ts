import { largestOf, smallestOf } from "../extremes.ts";
import { sum } from "../stats/sum.ts";
import type { End, Tick, WindowSoFar } from "./progress-line.ts";

/** What several clients tell, second by second, as if one had told it. */
interface MergedProgress {
	/** Client `index` tells of a second. */
	tick(index: number, tick: Tick): void;
	/** Client `index` has closed its books. */
	end(index: number, end: End): void;
	/** Client `index` has ended: nothing more comes from it. */
	gone(index: number): void;
}

interface MergedOptions {
	readonly clients: number;
	/** A second of all clients: when the last of them has told of it, or one of them tells of the next. */
	onTick(tick: Tick): void;
	/** Once, when every client has closed its books. */
	onEnd(end: End): void;
}

/**
 * Counts are added up; those of a client that is late follow with the next second, so that none is missed. Percentiles of several
 * clients cannot be made from percentiles of each: of each kind the worst client's is told.
 */
export function mergeProgress(options: MergedOptions): MergedProgress {
	const all = Array.from({ length: options.clients }, () => new ClientProgress());
	/** The newest second that was passed on. */
	let passed = 0;
	const look = () => {
		for (;;) {
			const at = smallestOf(all.map((one) => one.nextAfter(passed)));
			if (at === Infinity) return;
			// Whoever is late by a whole second is not waited for.
			const isOver = all.some((one) => one.newest > at);
			if (!isOver && !all.every((one) => one.gone || one.newest >= at)) return;
			passed = at;
			for (const one of all) one.takeUntil(at);
			options.onTick(addUp(at, all));
		}
	};
	return {
		tick(index, tick) {
			all[index]?.pending.push(tick);
			look();
		},
		end(index, end) {
			const one = all[index];
			if (!one || one.end !== null) return;
			one.end = end;
			const ends = all.flatMap(({ end }) => end ?? []);
			if (ends.length === all.length) options.onEnd(addUpEnds(ends));
		},
		gone(index) {
			const one = all[index];
			if (one) one.gone = true;
			look();
		},
	};
}

// --- internal ---

/** What one client has told so far. */
class ClientProgress {
	/** Not passed on yet. */
	pending: Tick[] = [];
	/** Passed on with the newest second. */
	taken: readonly Tick[] = [];
	/** The newest that was passed on: it has the counts since the start. */
	last: Tick | null = null;
	gone = false;
	end: End | null = null;

	/** The first second after `at` that it has told of, and that was not passed on. */
	nextAfter(at: number): number {
		return smallestOf(this.pending.map((tick) => (tick.at > at ? tick.at : Infinity)));
	}

	/** The last second that it has told of; 0: of none. */
	get newest(): number {
		return (this.pending.at(-1) ?? this.last)?.at ?? 0;
	}

	takeUntil(at: number): void {
		this.taken = this.pending.filter((tick) => tick.at <= at);
		this.pending = this.pending.filter((tick) => tick.at > at);
		this.last = this.taken.at(-1) ?? this.last;
	}
}

function addUp(at: number, all: readonly ClientProgress[]): Tick {
	const seconds = all.flatMap(({ taken }) => taken);
	const sinceStart = all.flatMap(({ last }) => last ?? []);
	const newest = seconds.filter((tick) => tick.at === at);
	const errors = all.flatMap(({ last }, i) => (last?.error ? [`client ${i}: ${last.error}`] : []));
	return {
		mqbench: "tick",
		at,
		sent: sum(seconds.map(({ sent }) => sent)),
		received: sum(seconds.map(({ received }) => received)),
		acked: seconds.every(({ acked }) => typeof acked === "number")
			? sum(seconds.map(({ acked }) => acked ?? 0))
			: null,
		failed: sum(sinceStart.map(({ failed }) => failed)),
		duplicated: sum(sinceStart.map(({ duplicated }) => duplicated)),
		over: addLists(sinceStart.map(({ over }) => over)),
		p50: worst(newest.map(({ p50 }) => p50)),
		p99: worst(newest.map(({ p99 }) => p99)),
		...soFar(sinceStart),
		...(errors[0] === undefined ? {} : { error: errors[0] }),
		merged: {
			clients: all.length,
			silent: all.flatMap((one, i) => (one.gone || one.last?.at === at ? [] : [i])),
			fewest: fewest(sinceStart),
		},
	};
}

function addUpEnds(ends: readonly End[]): End {
	return {
		mqbench: "end",
		state: ends.every(({ state }) => state === "complete") ? "complete" : "interrupted",
		...soFar(ends),
		merged: { clients: ends.length, silent: [], fewest: fewest(ends) },
	};
}

/** The window so far: messages of all, of everything else the worst. */
function soFar(of: readonly (Tick | End)[]): Pick<Tick, "metric" | "window"> {
	const windows = of.flatMap(({ window }) => window ?? []);
	const most = (of: (window: WindowSoFar) => number) => largestOf(windows.map(of));
	return {
		metric: of[0]?.metric,
		window:
			windows.length === 0
				? null
				: {
						count: sum(windows.map(({ count }) => count)),
						p50: most(({ p50 }) => p50),
						p99: most(({ p99 }) => p99),
						max: most(({ max }) => max),
					},
	};
}

/** Messages of the client that has fewest of them: what carries a percentile of its own. */
function fewest(of: readonly (Tick | End)[]): number {
	const counts = of.flatMap(({ window }) => window?.count ?? []);
	return counts.length === 0 ? 0 : smallestOf(counts);
}

function addLists(lists: readonly (readonly number[])[]): number[] {
	const [first = []] = lists;
	return first.map((_, i) => sum(lists.map((list) => list[i] ?? 0)));
}

function worst(values: readonly (number | null | undefined)[]): number | null {
	const known = values.filter((value) => typeof value === "number");
	return known.length === 0 ? null : largestOf(known);
}
