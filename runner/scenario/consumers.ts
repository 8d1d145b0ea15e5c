import { busiestShare, type Group, idleConsumers } from "../model/group.ts";
import { type Said, say } from "../text/say.ts";

/** Consumers, and what they do with each message. */
export interface Consuming extends Group {
	readonly work: { readonly meanNs: number } | null;
	readonly order: string;
}

/** What is wrong with a load, whatever the broker, and what to write. */
export interface LoadProblem {
	readonly said: Said;
	readonly remedy: Said;
}

/** `beyond`: no consumer could do it, so that the queue grows for ever. */
export interface Busy extends LoadProblem {
	readonly beyond: boolean;
}

/** From this part of its time on a consumer is what messages wait for: sleeping and acknowledging take longer than the work that is written. */
const BUSY = 0.85;

/** Consumers that never get a message; null: there are none. */
export function idle(of: Consuming): LoadProblem | null {
	const idle = idleConsumers(of);
	if (idle === 0) return null;
	const { consumers, topics, partitions, keys } = of;
	const used = Math.min(partitions, keys?.count ?? partitions);
	const needed = Math.ceil(consumers / topics);
	return {
		said: say("consumers-idle", { idle, consumers, partitions: used }),
		remedy:
			of.order === "per-producer"
				? say("write-consumers", { consumers: topics })
				: partitions < needed
					? say("write-partitions", { partitions: needed })
					: say("write-keys", { keys: needed }),
	};
}

/** Work that keeps consumers busy at a rate; null: there is room. */
export function busy(of: Consuming, perSecond: number): Busy | null {
	const workNs = of.work?.meanNs ?? 0;
	const share = busyShare(of, perSecond);
	if (share <= BUSY) return null;
	const beyond = share > 1;
	return {
		beyond,
		said: say(beyond ? "work-beyond" : "work-near", { workNs, perSecond, busy: share }),
		remedy: lessBusy(of, perSecond, share),
	};
}

/** The part of its time that the busiest consumer works; 0: none has work. */
export function busyShare(of: Consuming, perSecond: number): number {
	return (perSecond * busiestShare(of) * (of.work?.meanNs ?? 0)) / 1e9;
}

// --- internal ---

function lessBusy(of: Consuming, perSecond: number, share: number): Said {
	const even = Math.ceil(of.consumers / of.topics);
	const bound = of.groupsByPartition && of.order === "per-producer";
	if (bound)
		return say("write-rate", { perSecond: Number(((BUSY * perSecond) / share).toPrecision(3)) });
	const spread = { ...of, partitions: even };
	if (of.groupsByPartition && busyShare(spread, perSecond) <= BUSY)
		return say("write-partitions", { partitions: even });
	const work = of.work?.meanNs ?? 0;
	return say("write-consumers", { consumers: Math.ceil((perSecond * work) / 1e9 / BUSY) });
}
