import { largestOf } from "../extremes.ts";
/** Consumers that share the messages of topics: member k mod consumers takes topic k mod topics (model/workload.ts). */
export interface Group {
	/** 0: the pattern has none. */
	readonly consumers: number;
	readonly topics: number;
	readonly producers: number;
	readonly partitions: number;
	readonly groupsByPartition: boolean;
	readonly keys: { readonly count: number } | null;
}

/** Members that never get a message: each partition has one member, and there are fewer partitions than members. */
export function idleConsumers(group: Group): number {
	if (!group.groupsByPartition) return 0;
	const most = partitionsWithMessages(group);
	const idle = each(group.topics, (topic) => Math.max(0, membersOf(group, topic) - most));
	return idle.reduce((sum, n) => sum + n, 0);
}

/** The part of all messages that the busiest member gets, spread as evenly as topics and partitions allow; 0: there are no members. */
export function busiestShare(group: Group): number {
	const { consumers, topics, producers } = group;
	if (consumers === 0) return 0;
	/** Producer p sends to topic p mod topics. */
	const sent = (topic: number) => membersOf(group, topic, producers) / producers;
	if (consumers < topics) {
		const shares = new Float64Array(consumers);
		for (let topic = 0; topic < topics; topic++)
			shares[topic % consumers] = (shares[topic % consumers] ?? 0) + sent(topic);
		return largestOf(shares);
	}
	return largestOf(each(topics, (topic) => sent(topic) * largestPart(group, topic)));
}

// --- internal ---

/** Without a key messages go to each partition in turn; fewer keys leave some without any. */
function partitionsWithMessages({ partitions, keys }: Group): number {
	return Math.min(partitions, keys?.count ?? partitions);
}

/** Of the messages of one topic. */
function largestPart(group: Group, topic: number): number {
	const members = membersOf(group, topic);
	if (!group.groupsByPartition) return 1 / members;
	const partitions = partitionsWithMessages(group);
	return Math.ceil(partitions / Math.min(partitions, members)) / partitions;
}

/** How many of `all`, who take topics in turn, have this one. */
function membersOf({ consumers, topics }: Group, topic: number, all = consumers) {
	return Math.floor(all / topics) + (topic < all % topics ? 1 : 0);
}

function each<T>(n: number, of: (i: number) => T): T[] {
	return Array.from({ length: n }, (_, i) => of(i));
}
