import { largestOf } from "../extremes.ts";
import type { Plan } from "../model/plan.ts";
import { sum } from "../stats/sum.ts";
import { percent } from "../text/percent.ts";
import { type Said, said } from "../text/say.ts";
import { formatCount, formatDuration, plural } from "../units.ts";

/** Consumers sharing topics: member k mod consumers takes topic k mod topics (model/workload.ts). */
export interface Group
	extends Pick<Plan, "consumers" | "producers" | "partitions" | "groupsByPartition"> {
	readonly topics: number;
	readonly keys: { readonly count: number } | null;
}

export interface Consuming extends Group {
	readonly work: { readonly meanNs: number } | null;
	readonly order: string;
}

interface LoadProblem {
	readonly said: Said;
	readonly remedy: string;
}

/** Above this share of its time a consumer delays messages: sleeping and acknowledging take longer than the work. */
const BUSY = 0.85;

export function idle(of: Consuming): LoadProblem | null {
	const idle = idleConsumers(of);
	if (idle === 0) return null;
	const { consumers, topics, partitions } = of;
	const used = partitionsWithMessages(of);
	const needed = Math.ceil(consumers / topics);
	const more =
		partitions < needed ? `write partitions: ${needed}` : `write count: ${needed} in keys`;
	const have = used === 1 ? "one partition has" : `${used} partitions have`;
	const text = `${idle} of ${plural(consumers, "consumer")} get${idle === 1 ? "s" : ""} nothing, because each partition has one consumer and ${have} messages`;
	return {
		said: said("consumers-idle", text, { idle, consumers, partitions: used }),
		remedy: of.order === "per-producer" ? `write consumers: ${topics}` : more,
	};
}

/** `beyond`: no consumer could keep up, so the queue grows without end. */
export function busy(
	of: Consuming,
	perSecond: number,
): (LoadProblem & { readonly beyond: boolean }) | null {
	const workNs = of.work?.meanNs ?? 0;
	const share = busyShare(of, perSecond);
	if (share <= BUSY) return null;
	const beyond = share > 1;
	const most = formatCount(Math.floor(perSecond / share));
	const rate = `${formatCount(perSecond)}/s`;
	const how = beyond
		? `the consumers carry at most ${most}/s, and the rate is ${rate}`
		: `the busiest consumer is busy ${percent(share)} of the time at ${rate}, so messages wait for consumers`;
	const text = `with ${formatDuration(workNs)} of work for each message ${how}`;
	const values = { workNs, perSecond, busy: share };
	return {
		beyond,
		said: said(beyond ? "work-beyond" : "work-near", text, values),
		remedy: lessBusy(of, perSecond, share),
	};
}

export function busyShare(of: Consuming, perSecond: number): number {
	return (perSecond * busiestShare(of) * (of.work?.meanNs ?? 0)) / 1e9;
}

/** Members that get no message because each partition has one member, and there are fewer partitions. */
export function idleConsumers(group: Group): number {
	if (!group.groupsByPartition) return 0;
	const most = partitionsWithMessages(group);
	return sum(each(group.topics, (topic) => Math.max(0, membersOf(group, topic) - most)));
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

function lessBusy(of: Consuming, perSecond: number, share: number): string {
	const even = Math.ceil(of.consumers / of.topics);
	const bound = of.groupsByPartition && of.order === "per-producer";
	if (bound) return `write at most rate: ${Number(((BUSY * perSecond) / share).toPrecision(3))}/s`;
	const spread = { ...of, partitions: even };
	if (of.groupsByPartition && busyShare(spread, perSecond) <= BUSY)
		return `write partitions: ${even}`;
	return `write consumers: ${Math.ceil((perSecond * (of.work?.meanNs ?? 0)) / 1e9 / BUSY)}`;
}

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
