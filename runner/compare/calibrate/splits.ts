/** More ways than these tell nothing new. */
const MOST = 1000;

/**
 * Ways to choose `each` of `n` places: all there are, up to 1000; of more 1000 that are drawn, always the same ones, so that the
 * same runs give the same noise.
 */
export function splitsOf(n: number, each: number): ReadonlySet<number>[] {
	return count(n, each) <= MOST ? all(n, each) : drawn(n, each);
}

// --- internal ---

function count(n: number, k: number): number {
	let ways = 1;
	for (let i = 1; i <= k; i++) ways = (ways * (n - k + i)) / i;
	return Math.round(ways);
}

function all(n: number, each: number): Set<number>[] {
	const halves: Set<number>[] = [];
	const choose = (from: number, chosen: readonly number[]) => {
		if (chosen.length === each) {
			halves.push(new Set(chosen));
			return;
		}
		for (let i = from; i <= n - (each - chosen.length); i++) choose(i + 1, [...chosen, i]);
	};
	choose(0, []);
	return halves;
}

function drawn(n: number, each: number): Set<number>[] {
	let state = 1;
	// A linear congruential generator (Numerical Recipes): enough to shuffle a few numbers.
	const below = (most: number) => {
		state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
		return Math.floor((state / 2 ** 32) * most);
	};
	return Array.from({ length: MOST }, () => {
		const indexes = Array.from({ length: n }, (_, i) => i);
		return new Set(
			Array.from({ length: each }, () => indexes.splice(below(indexes.length), 1)[0] as number),
		);
	});
}
