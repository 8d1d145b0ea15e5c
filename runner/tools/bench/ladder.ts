/** Rates that are tried one after the other; pure, so that it can be tested without a broker. */

export interface Found<S> {
	readonly rate: number;
	readonly step: S;
}

/**
 * The last rate that is carried before the first that is not, of rates that rise, and that one; null: there is none. It begins at `from`, and goes below
 * only if that is not carried: what is carried at a rate is taken to be carried at each lower one. `problem`: why it is not; null: it is.
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
