import type { Collected } from "../evidence/collect.ts";
import type { Run } from "../model/result.ts";
import { maskUrls } from "../secrets.ts";
import { sum } from "../stats/sum.ts";
import { clipped } from "../terminal/columns.ts";

/**
 * The lines of a run's broker.log from T0 to the end of its window, which is where the axis of time ends. Of lines of a node that differ in numbers
 * only, and follow each other within 5 s, the first stands for all: a broker that misses another one says so many times a second. What mqbench
 * did to the broker is not among them: the faults are. undefined: there is no log, its lines have no times that are exact enough, or nobody
 * knows when T0 was.
 */
export function brokerLogOf(
	{ brokerLog, t0Ms }: Pick<Collected, "brokerLog" | "t0Ms">,
	{ endNs }: Run["window"],
): Run["brokerLog"] {
	if (brokerLog === null || t0Ms === null) return undefined;
	const kinds = { serious: [] as Kind[], others: [] as Kind[] };
	const latest = new Map<string, Kind>();
	let theirs = 0;
	let more = 0;
	for (const { atMs, node, serious, text, ours } of brokerLog) {
		if (!ours) theirs++;
		const atNs = Math.round((atMs - t0Ms) * 1e6);
		if (ours || atNs < 0 || atNs >= endNs || !WORD.test(text)) continue;
		const name = `${node} ${text.replaceAll(/\d+/g, "0")}`;
		let kind = latest.get(name);
		if (kind === undefined || atNs - kind.lastNs > QUIET_NS) {
			const alike = serious ? kinds.serious : kinds.others;
			// Nothing would be shown of it, and a flood of lines has no end.
			if (alike.length === MOST_LINES) {
				more++;
				continue;
			}
			const said = clipped(maskUrls(text), MOST_TEXT, "..");
			kind = { atNs, lastNs: atNs, node, serious, text: said, times: 0 };
			latest.set(name, kind);
			alike.push(kind);
		}
		kind.lastNs = atNs;
		kind.times++;
	}
	if (theirs === 0) return undefined;
	const all = [...kinds.serious, ...kinds.others];
	return {
		lines: all
			.slice(0, MOST_LINES)
			.sort((a, b) => a.atNs - b.atNs)
			.map(({ lastNs: _, ...line }) => line),
		more: more + sum(all.slice(MOST_LINES).map(({ times }) => times)),
	};
}

// --- internal ---

type Line = NonNullable<Run["brokerLog"]>["lines"][number];
interface Kind extends Line {
	lastNs: number;
}

/** What was silent for longer is told again: it may have another cause. */
const QUIET_NS = 5e9;

/** Rules and pictures of letters have none. */
const WORD = /[a-z]{3}/i;

const MOST_LINES = 60;
const MOST_TEXT = 200;
