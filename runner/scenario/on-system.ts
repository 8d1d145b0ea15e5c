import type { SystemOptions, Traits } from "../brokers/index.ts";
import { smallestOf } from "../extremes.ts";
import type { Size } from "../model/field.ts";
import type { Case } from "./scenario.ts";

/** What a case comes to on a system. */

/** A system, as far as its partitions go. */
export interface Partitioned {
	readonly traits: Pick<Traits, "partitions" | "groupsByPartition">;
	readonly options?: Pick<SystemOptions, "partitions">;
}

/** Partitions of each topic: what the system says, else the workload, else one for each consumer that shares the topic. */
export function partitionsOf(
	one: Pick<Case, "partitions" | "consumers" | "topics" | "order">,
	{ traits, options }: Partitioned,
): number {
	if (!traits.partitions) return 1;
	const written = options?.partitions ?? one.partitions;
	if (written !== null) return written;
	// Over several partitions a producer's messages may overtake each other.
	return traits.groupsByPartition && one.order !== "per-producer"
		? Math.max(1, Math.ceil(one.consumers / one.topics))
		: 1;
}

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
