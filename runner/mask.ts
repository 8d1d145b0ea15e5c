import { maskUrls } from "./secrets.ts";

/** Hides user and password of every URL in a plain value; `mask` may hide more. */
export function maskAll<T>(value: T, mask = maskUrls): T {
	if (typeof value === "string") return mask(value) as T;
	if (Array.isArray(value)) return value.map((v) => maskAll(v, mask)) as T;
	if (typeof value === "object" && value !== null)
		return Object.fromEntries(
			Object.entries(value).map(([key, v]) => [key, maskAll(v, mask)]),
		) as T;
	return value;
}
