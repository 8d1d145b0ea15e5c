import type { Run } from "../model/result.ts";
import type { Collected } from "../run/collect.ts";
import { sum } from "../stats/sum.ts";
import { shortened } from "../terminal/columns.ts";

/**
 * The lines of a run's broker.log from T0 to the end of its window, which is where the axis of time ends, each kind once: a broker that misses
 * another one says so many times a second. undefined: there is no log, or nobody
 * knows when T0 was. What mqbench did to the broker is not among them: the faults are.
 */
export function brokerLogOf(
	{ brokerLog, t0Ms }: Pick<Collected, "brokerLog" | "t0Ms">,
	{ endNs }: Run["window"],
): Run["brokerLog"] {
	if (brokerLog === null || t0Ms === null) return undefined;
	const kinds = new Map<string, Line>();
	for (const { atMs, node, serious, text, ours } of brokerLog) {
		const atNs = Math.round((atMs - t0Ms) * 1e6);
		if (ours || atNs < 0 || atNs >= endNs || !WORD.test(text)) continue;
		const kind = `${node} ${text.replaceAll(/\d+/g, "0")}`;
		const said = shortened(text, MOST_TEXT);
		const known = kinds.get(kind) ?? {
			atNs,
			node,
			serious,
			text: said,
			times: 0,
		};
		kinds.set(kind, { ...known, times: known.times + 1 });
	}
	const bySeriousness = [...kinds.values()].sort(
		(a, b) => Number(b.serious) - Number(a.serious),
	);
	return {
		lines: bySeriousness.slice(0, MOST_LINES).sort((a, b) => a.atNs - b.atNs),
		more: sum(bySeriousness.slice(MOST_LINES).map(({ times }) => times)),
	};
}

// --- internal ---

type Line = NonNullable<Run["brokerLog"]>["lines"][number];

/** Rules and pictures of letters have none. */
const WORD = /[a-z]{3}/i;

const MOST_LINES = 60;
const MOST_TEXT = 200;
