import type { SystemOptions, Traits } from "../brokers/index.ts";
import type { Case } from "./scenario.ts";

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
