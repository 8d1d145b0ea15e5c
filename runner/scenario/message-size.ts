import type { Traits } from "../brokers/index.ts";
import { smallestOf } from "../extremes.ts";
import type { Size } from "../model/field.ts";

/** How large a message is, and what the system takes at most where that is less on purpose; else null. */
interface Sized {
	readonly bytes: number;
	readonly limitBytes: number | null;
}

/** What a size comes to on a system, exactly where the names of topics are known, as they may count towards its limit; null: it has no limit to go by. */
export function sizeFor(
	size: Size,
	{ maxMessageBytes, maxMessageBytesTo }: Traits,
	topics: readonly string[] = [],
): Sized | null {
	if (typeof size === "number") return { bytes: size, limitBytes: null };
	if (maxMessageBytes === null) return null;
	const limitBytes =
		maxMessageBytesTo && topics.length > 0
			? smallestOf(topics.map(maxMessageBytesTo))
			: maxMessageBytes;
	const { aboveLimit } = size;
	return { bytes: limitBytes + aboveLimit, limitBytes: aboveLimit > 0 ? limitBytes : null };
}
