import { largestOf, smallestOf } from "../extremes.ts";
import { sum } from "../stats/sum.ts";
import type { Tick } from "./progress-line.ts";

/** Counts add up, a late client's with the next second. Percentiles cannot be merged, so the worst client's is passed on. */
export function mergeProgress(clients: number, onTick: (tick: Tick) => void) {
	const all = Array.from({ length: clients }, noProgress);
	let passed = 0;
	const look = () => {
		for (;;) {
			const seconds = all.flatMap(({ pending }) => pending.map(({ at }) => at));
			const at = smallestOf(seconds.filter((second) => second > passed));
			if (at === Infinity) return;
			const newest = all.map(({ pending, last }) => (pending.at(-1) ?? last)?.at ?? 0);
			// A client that is late by a whole second is not waited for.
			const isOver = newest.some((second) => second > at);
			if (!isOver && !all.every(({ gone }, i) => gone || newest[i] === at)) return;
			passed = at;
			for (const one of all) {
				one.taken = one.pending.filter((tick) => tick.at <= at);
				one.pending = one.pending.filter((tick) => tick.at > at);
				one.last = one.taken.at(-1) ?? one.last;
			}
			onTick(addUp(at, all));
		}
	};
	return {
		tick(index: number, tick: Tick) {
			all[index]?.pending.push(tick);
			look();
		},
		gone(index: number) {
			const one = all[index];
			if (one) one.gone = true;
			look();
		},
	};
}

// --- internal ---

type ClientProgress = ReturnType<typeof noProgress>;

function noProgress() {
	return {
		/** Not passed on yet. */
		pending: [] as Tick[],
		taken: [] as Tick[],
		/** The newest that was passed on, with the counts since the start. */
		last: null as Tick | null,
		gone: false,
	};
}

function addUp(at: number, all: readonly ClientProgress[]): Tick {
	const seconds = all.flatMap(({ taken }) => taken);
	const sinceStart = all.flatMap(({ last }) => last ?? []);
	const newest = seconds.filter((tick) => tick.at === at);
	const windows = sinceStart.flatMap(({ window }) => window ?? []);
	const counts = windows.map(({ count }) => count);
	const errors = all.flatMap(({ last }, i) => (last?.error ? [`client ${i}: ${last.error}`] : []));
	const most = (values: readonly (number | null)[]) => {
		const known = values.filter((value) => value !== null);
		return known.length === 0 ? null : largestOf(known);
	};
	const worst = (key: "p50" | "p99" | "max") => largestOf(windows.map((window) => window[key]));
	return {
		mqbench: "tick",
		at,
		sent: sum(seconds.map(({ sent }) => sent)),
		received: sum(seconds.map(({ received }) => received)),
		acked: seconds.some(({ acked }) => acked === null)
			? null
			: sum(seconds.map(({ acked }) => acked ?? 0)),
		failed: sum(sinceStart.map(({ failed }) => failed)),
		duplicated: sum(sinceStart.map(({ duplicated }) => duplicated)),
		over: (sinceStart[0]?.over ?? []).map((_, k) =>
			sum(sinceStart.map(({ over }) => over[k] ?? 0)),
		),
		p50: most(newest.map(({ p50 }) => p50)),
		p99: most(newest.map(({ p99 }) => p99)),
		metric: sinceStart[0]?.metric ?? "response",
		window:
			windows.length === 0
				? null
				: { count: sum(counts), p50: worst("p50"), p99: worst("p99"), max: worst("max") },
		...(errors[0] === undefined ? {} : { error: errors[0] }),
		merged: {
			clients: all.length,
			silent: all.flatMap((one, i) => (one.gone || one.last?.at === at ? [] : [i])),
			fewest: counts.length === 0 ? 0 : smallestOf(counts),
		},
	};
}
