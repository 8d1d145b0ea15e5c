/** Rates that are tried one after the other; pure, so that it can be tested without a broker. */

/** What a run at a rate has shown. `problem`: why it does not count as carried; null: it does. */
export interface Step {
	readonly problem: string | null;
}

/** Runs at a rate, or gives what an earlier run at it has shown. */
export type Try<S extends Step> = (ratePerSecond: number) => Promise<S>;

/** The same rate is run once, whoever asks. */
export function once<S extends Step>(run: Try<S>): Try<S> {
	const known = new Map<number, Promise<S>>();
	return (rate) => {
		const step = known.get(rate) ?? run(rate);
		known.set(rate, step);
		return step;
	};
}

export interface Found<S extends Step> {
	readonly rate: number;
	readonly step: S;
}

/**
 * The last rate without a problem before the first with one, of rates that rise, and that one; null: there is none. It begins at `from`, and goes below
 * only if that has a problem: what is carried at a rate is taken to be carried at each lower one.
 */
export async function climb<S extends Step>(
	rates: readonly number[],
	from: number,
	run: Try<S>,
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
