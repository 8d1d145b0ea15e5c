import type { Collected } from "../evidence/collect.ts";
import type { Run } from "../model/result.ts";
import { maskUrls } from "../secrets.ts";
import { sum } from "../stats/sum.ts";
import { clipped } from "../terminal/columns.ts";

/** From T0 to the window's end, without mqbench's own faults. A node's lines that differ only in numbers are one until QUIET_NS. */
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
			// A flood of different lines must not fill the map.
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

/** After a longer silence a line may have another cause, and is listed again. */
const QUIET_NS = 5e9;

/** Rules and ASCII art contain no word. */
const WORD = /[a-z]{3}/i;

const MOST_LINES = 60;
const MOST_TEXT = 200;
