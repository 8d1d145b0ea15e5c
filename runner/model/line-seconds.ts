// Without a schema because pages have this file too.

/** How many seconds a line covers, ending at its `at`: 1, or several in long runs. */
export function secondsOf({ seconds }: { readonly seconds?: number | undefined }): number {
	return seconds ?? 1;
}

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
