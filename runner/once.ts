/** Whoever asks first has it done; all others get the same result. */
export function once<T>(action: () => Promise<T>): () => Promise<T> {
	let running: Promise<T> | undefined;
	return () => {
		running ??= action();
		return running;
	};
}
