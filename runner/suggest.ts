export function suggest(word: string, known: readonly string[]): string | undefined {
	const near = known
		.map((candidate) => ({
			candidate,
			distance: distance(word.toLowerCase(), candidate.toLowerCase()),
		}))
		.sort((a, b) => a.distance - b.distance)[0];
	// One slip per three letters: "durration" and "raet" are found, "foo" does not become "nats".
	const allowed = Math.max(1, Math.floor(word.length / 3));
	return near && near.distance <= allowed ? near.candidate : undefined;
}

/** "; did you mean rate?", or the known words if none is near. */
export function didYouMean(word: string, known: readonly string[]): string {
	const guess = suggest(word, known);
	if (guess !== undefined) return `; did you mean ${guess}?`;
	return known.length === 0 ? "" : `; known: ${known.join(", ")}`;
}

// --- internal ---

/** Letters to insert, drop, change or swap with a neighbour (optimal string alignment). */
function distance(a: string, b: string): number {
	let beforeLast: number[] = [];
	let last = Array.from({ length: b.length + 1 }, (_, j) => j);
	for (let i = 1; i <= a.length; i++) {
		const row = [i];
		for (let j = 1; j <= b.length; j++) {
			const change = a[i - 1] === b[j - 1] ? 0 : 1;
			const best = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + change);
			const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
			row.push(swapped ? Math.min(best, (beforeLast[j - 2] ?? 0) + 1) : best);
		}
		[beforeLast, last] = [last, row];
	}
	return last[b.length] ?? 0;
}
