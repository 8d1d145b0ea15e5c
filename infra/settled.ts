/** Waits for all of them, whatever becomes of the first; then fails as that did. */
export async function settled<T>(steps: readonly Promise<T>[]): Promise<T[]> {
	const all = await Promise.allSettled(steps);
	return all.map((one) => {
		if (one.status === "rejected") throw one.reason;
		return one.value;
	});
}
