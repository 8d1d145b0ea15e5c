export function distinct<T>(all: readonly T[], key: (one: T) => string): T[] {
	const first = new Map<string, T>();
	for (const one of all) if (!first.has(key(one))) first.set(key(one), one);
	return [...first.values()];
}
