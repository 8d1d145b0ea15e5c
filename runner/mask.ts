import { maskUrls } from "./secrets.ts";

/** Hides user and password of every URL in a plain value, wherever its texts came from. */
export function maskAll<T>(value: T): T {
	if (typeof value === "string") return maskUrls(value) as T;
	if (Array.isArray(value)) return value.map(maskAll) as T;
	if (typeof value === "object" && value !== null)
		return Object.fromEntries(
			Object.entries(value).map(([key, v]) => [key, maskAll(v)]),
		) as T;
	return value;
}
