import type { SystemOptions, Traits } from "../brokers/index.ts";
import { smallestOf } from "../extremes.ts";
import type { Size } from "../model/field.ts";
import type { Case } from "./scenario.ts";

export interface Partitioned {
	readonly traits: Pick<Traits, "partitions" | "groupsByPartition">;
	readonly options?: Pick<SystemOptions, "partitions">;
}

/** From the system, otherwise the workload, otherwise one for each consumer of the topic. */
export function partitionsOf(
	one: Pick<Case, "partitions" | "consumers" | "topics" | "order">,
	{ traits, options }: Partitioned,
): number {
	if (!traits.partitions) return 1;
	const written = options?.partitions ?? one.partitions;
	if (written !== null) return written;
	// A producer's messages may overtake each other on different partitions.
	return traits.groupsByPartition && one.order !== "per-producer"
		? Math.max(1, Math.ceil(one.consumers / one.topics))
		: 1;
}

/** Null without a limit. Topic names may count towards it. `limitBytes` is only set for sizes deliberately above it. */
export function sizeFor(
	size: Size,
	{ maxMessageBytes, maxMessageBytesTo }: Traits,
	topics: readonly string[] = [],
): { bytes: number; limitBytes: number | null } | null {
	if (typeof size === "number") return { bytes: size, limitBytes: null };
	if (maxMessageBytes === null) return null;
	const limitBytes =
		maxMessageBytesTo && topics.length > 0
			? smallestOf(topics.map(maxMessageBytesTo))
			: maxMessageBytes;
	const { aboveLimit } = size;
	return { bytes: limitBytes + aboveLimit, limitBytes: aboveLimit > 0 ? limitBytes : null };
}
