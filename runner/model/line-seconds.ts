/** What several seconds that are recorded as one need; without a schema, as pages have it too. */

/** How many seconds a line is of: the one before its `at`, of a long run several. */
export function secondsOf({ seconds }: { readonly seconds?: number | undefined }): number {
	return seconds ?? 1;
}

/** Samples that were taken in the time of a tick, with the end of each one's part of it, in seconds since T0. */
export function spread(
	tick: { readonly at: number; readonly seconds?: number | undefined },
	samples: readonly number[],
): { readonly n: number; readonly at: number }[] {
	const seconds = secondsOf(tick);
	return samples.map((n, i) => ({
		n,
		at: tick.at - seconds + ((i + 1) / samples.length) * seconds,
	}));
}
