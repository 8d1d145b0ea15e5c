/** Runs the action for the first call; all calls share its result. */
export function once<T>(action: () => Promise<T>): () => Promise<T> {
	let running: Promise<T> | undefined;
	return () => {
		running ??= action();
		return running;
	};
}
