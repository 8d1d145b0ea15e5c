/** In the order of each key's first value. (`Map.groupBy`, which Node 20 lacks.) */
export function grouped<K, T>(values: Iterable<T>, keyOf: (value: T) => K): Map<K, T[]> {
	const groups = new Map<K, T[]>();
	for (const value of values) {
		const key = keyOf(value);
		const group = groups.get(key);
		if (group === undefined) groups.set(key, [value]);
		else group.push(value);
	}
	return groups;
}

export function distinct<T>(all: readonly T[], key: (one: T) => string): T[] {
	const first = new Map<string, T>();
	for (const one of all) if (!first.has(key(one))) first.set(key(one), one);
	return [...first.values()];
}
