import { largestOf } from "../extremes.ts";
/** Consumers sharing topics: member k mod consumers takes topic k mod topics (model/workload.ts). */
export interface Group {
	readonly consumers: number;
	readonly topics: number;
	readonly producers: number;
	readonly partitions: number;
	readonly groupsByPartition: boolean;
	readonly keys: { readonly count: number } | null;
}

/** Members that get no message because each partition has one member, and there are fewer partitions. */
export function idleConsumers(group: Group): number {
	if (!group.groupsByPartition) return 0;
	const most = partitionsWithMessages(group);
	const idle = each(group.topics, (topic) => Math.max(0, membersOf(group, topic) - most));
	return idle.reduce((sum, n) => sum + n, 0);
}

/** The busiest member's part of all messages, spread as evenly as topics and partitions allow; 0 without members. */
export function busiestShare(group: Group): number {
	const { consumers, topics, producers } = group;
	if (consumers === 0) return 0;
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

/** Without keys messages go to each partition in turn; few keys leave some partitions empty. */
function partitionsWithMessages({ partitions, keys }: Group): number {
	return Math.min(partitions, keys?.count ?? partitions);
}

function largestPart(group: Group, topic: number): number {
	const members = membersOf(group, topic);
	if (!group.groupsByPartition) return 1 / members;
	const partitions = partitionsWithMessages(group);
	return Math.ceil(partitions / Math.min(partitions, members)) / partitions;
}

function membersOf({ consumers, topics }: Group, topic: number, all = consumers) {
	return Math.floor(all / topics) + (topic < all % topics ? 1 : 0);
}

function each<T>(n: number, of: (i: number) => T): T[] {
	return Array.from({ length: n }, (_, i) => of(i));
}
