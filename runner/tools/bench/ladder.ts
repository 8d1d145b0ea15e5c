/** Rates tried one after the other; pure, so tests need no broker. */

export interface Found<S> {
	readonly rate: number;
	readonly step: S;
}

/**
 * Of rising rates, the last one carried before the first that is not, and that one; null if there is none. It begins at `from`, and goes
 * below only if that is not carried: a higher rate carried implies the lower ones. `problem` is why one is not, else null.
 */
export async function climb<S extends { readonly problem: string | null }>(
	rates: readonly number[],
	from: number,
	run: (ratePerSecond: number) => Promise<S>,
): Promise<{ readonly carried: Found<S> | null; readonly tooHigh: Found<S> | null }> {
	const first: Found<S> = { rate: from, step: await run(from) };
	const isCarried = first.step.problem === null;
	let carried = isCarried ? first : null;
	for (const rate of rates.filter((rate) => (isCarried ? rate > from : rate < from))) {
		const step = await run(rate);
		if (step.problem !== null) return { carried, tooHigh: { rate, step } };
		carried = { rate, step };
	}
	return { carried, tooHigh: isCarried ? null : first };
}
