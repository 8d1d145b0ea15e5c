/** Waits for all of them, and then fails as the first one that failed. */
export async function settled<T>(steps: readonly Promise<T>[]): Promise<T[]> {
	const all = await Promise.allSettled(steps);
	return all.map((one) => {
		if (one.status === "rejected") throw one.reason;
		return one.value;
	});
}
