import type { Run } from "../model/result.ts";
import { sum } from "../stats/sum.ts";
import { formatCount, plural } from "../units.ts";
import { type Block, code, fold, numbers, table, text } from "./blocks.ts";

/** What the broker logged while it was measured, the serious first; on the page alone: a broker may name hosts, which are nobody's business in a comment. */
export function brokerLog({ brokerLog: log, window }: Run): Block[] {
	if (log === undefined || log.lines.length === 0) return [];
	const lines = log.lines
		.toSorted((a, b) => Number(b.serious) - Number(a.serious))
		.slice(0, MOST)
		.sort((a, b) => a.atNs - b.atNs);
	const timesOf = (some: typeof lines) => sum(some.map(({ times }) => times));
	const more = log.more + timesOf(log.lines) - timesOf(lines);
	const rows = lines.map((line) => [
		`${((line.atNs - window.startNs) / 1e9).toFixed(3)}s`,
		`${line.node}`,
		formatCount(line.times),
		code(line.text),
	]);
	const means =
		"At: seconds after the window opened, by the clock of the node. Times: lines of the node within a few seconds that differ in numbers only, of which this is the first.";
	const note =
		more === 0 ? means : `${means} ${plural(more, "line")} more in the run's broker.log.`;
	const columns = [...numbers(["at", "node", "times"]), "line"];
	const title = "What the broker logged meanwhile";
	return [fold(title, [table(columns, rows), text(note, "small")], { depth: 3 })];
}

// --- internal ---

const MOST = 20;
