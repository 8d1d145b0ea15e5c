import type { Plan } from "../model/plan.ts";
import type { Sizes } from "../model/sizes.ts";
import { sum } from "../stats/sum.ts";
import { below, drawSource, SIZES } from "./draw.ts";

/** Bytes of the messages of a cycle, in order. */
export function cycleOf(sizes: Sizes, seed: number): Uint32Array {
	const cycle = new Uint32Array(sum(sizes.runs.map(([, count]) => count)));
	let end = 0;
	for (const [bytes, count] of sizes.runs) {
		cycle.fill(bytes, end, end + count);
		end += count;
	}
	const row = drawSource(seed, SIZES);
	for (let k = sizes.shuffled ? cycle.length - 1 : 0; k > 0; k--) {
		const j = below(row, k, k + 1);
		const own = cycle[k] as number;
		cycle[k] = cycle[j] as number;
		cycle[j] = own;
	}
	return cycle;
}

/** How many of the messages [from, to) each class has; empty if all have the same size. */
export function byClass({ message }: Plan, from: number, to: number): number[] {
	const { sizes, seed } = message;
	if (sizes === null) return [];
	const cycle = CYCLES.get(sizes) ?? cycleOf(sizes, seed);
	CYCLES.set(sizes, cycle);
	const counts = sizes.classes.map(() => 0);
	const add = (bytes: number, n: number) => {
		const k = sizes.classes.findIndex((most) => bytes <= most);
		counts[k] = (counts[k] ?? 0) + n;
	};
	const whole = Math.floor((to - from) / cycle.length);
	for (const [bytes, count] of sizes.runs) add(bytes, count * whole);
	for (let i = from + whole * cycle.length; i < to; i++) add(cycle[i % cycle.length] as number, 1);
	return counts;
}

export function meanBytes({ sizes, bytes }: Plan["message"]): number {
	return sizes?.meanBytes ?? bytes;
}

// --- internal ---

const CYCLES = new WeakMap<Sizes, Uint32Array>();
