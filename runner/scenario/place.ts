import type { Path } from "./problem.ts";

export function isSystem(path: Path): boolean {
	return (
		(path.length === 1 && path[0] === "system") || (path.length === 2 && path[0] === "systems")
	);
}

export function systemBroker(path: Path, whole: unknown): string {
	const system = valueAt(whole, path);
	const broker = isMap(system) ? system.broker : system;
	return typeof broker === "string" ? broker : "this system";
}

/** For an item of a list, the list's field. */
export function fieldOf(path: Path): string {
	return String(path[0] === "matrix" && path.length === 3 ? path[1] : path.at(-1));
}

/** Returns "rate", "case 2", "sla line 1", "step 3" or "the scenario". */
export function noun(path: Path): string {
	const last = path.at(-1);
	if (last === undefined) return "the scenario";
	if (typeof last !== "number") return last;
	if (path[0] === "matrix" && path.length === 3) return fieldOf(path);
	const list = String(path.at(-2));
	return `${list === "sla" ? "sla line" : list.replace(/s$/, "")} ${last + 1}`;
}

export function quoted(value: unknown): string {
	const text = String(value);
	return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}...` : text);
}

export type Written = Readonly<Record<string, unknown>>;

export function isMap(value: unknown): value is Written {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A key may be "constructor": never look along the prototype. */
export function valueAt(value: unknown, path: Path): unknown {
	return path.reduce<unknown>(
		(node, step) =>
			typeof node === "object" && node !== null && Object.hasOwn(node, step)
				? (node as Written)[step]
				: undefined,
		value,
	);
}

/** "__proto__" stays an ordinary, unknown key. */
export function mapValues(map: Written, change: (value: unknown, key: string) => unknown): Written {
	return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value, key)]));
}

/** Sets missing fields to null. */
export function completed<T extends object, Key extends keyof T>(
	fields: readonly Key[],
	data: T,
): Omit<T, Key> & { readonly [K in Key]-?: Exclude<T[K], undefined> | null } {
	const nothing = Object.fromEntries(fields.map((field) => [field, null]));
	return { ...nothing, ...data } as ReturnType<typeof completed<T, Key>>;
}
