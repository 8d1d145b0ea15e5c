import type { HeatFigure } from "../chart/old-figure.ts";
import { largestOf, smallestOf } from "../extremes.ts";
import type { Result, Run } from "../model/result.ts";
import { factsText, loadText, runTitle } from "../result/words.ts";
import { tell } from "../text/tell.ts";
import { formatCount, formatDuration } from "../units.ts";
import { gatesOf, sentence } from "./percentile-figure.ts";
import { endOf } from "./time-figure.ts";
import { unfinishedOf, unfinishedSentence } from "./unfinished.ts";

/** Samples of the main metric by second and latency, in at most `most` columns. null: nothing was measured. */
export function heatFigure(id: string, run: Run, result: Result, most: number): HeatFigure | null {
	const { heat } = run.series;
	if (heat === null || heat.cells.length === 0 || heat.binsNs.length === 0) return null;
	const seconds = heat.cells.map(([second]) => second);
	const [first, last] = [smallestOf(seconds), largestOf(seconds)];
	const columns = (last - first) / heat.width + 1;
	const size = heat.width * Math.max(1, Math.ceil(columns / most));
	const cells = size === heat.width ? heat.cells : joined(heat.cells, size);
	const all = cells.reduce((n, [, , count]) => n + count, 0);
	const unfinished = unfinishedOf(run, size);
	const missing = unfinishedSentence(unfinished);
	const slowest = largestOf(cells.map(([, bin]) => bin));
	return {
		kind: "heat",
		id,
		title: `${sentence(run.main)} by second, every message: ${runTitle(run, result)}`,
		facts: `${factsText(run, result)}; ${loadText(run)}`,
		description: `${formatCount(all)} messages by second and ${run.main}. ${missing === "" ? "The slowest" : tell("in-no-cell", { missing })} took between ${formatDuration(heat.binsNs[slowest] ?? 0)} and ${formatDuration(heat.binsNs[slowest + 1] ?? heat.endNs)}.`,
		bins: heat.binsNs,
		end: heat.endNs,
		width: size,
		from: -run.window.startNs / 1e9,
		to: endOf(run, [last + size]),
		cells,
		limits: gatesOf(run, result).flatMap((g) =>
			g.metric === run.main && g.limitNs !== null ? [{ text: g.sla, value: g.limitNs }] : [],
		),
		unfinished,
	};
}

// --- internal ---

/** Columns of `size` seconds; counted from the window's start, so that none holds warm-up and window. */
function joined(cells: HeatFigure["cells"], size: number): [number, number, number][] {
	const sums = new Map<string, [number, number, number]>();
	for (const [second, bin, count] of cells) {
		const column = Math.floor(second / size) * size;
		const known = sums.get(`${column} ${bin}`);
		if (known) known[2] += count;
		else sums.set(`${column} ${bin}`, [column, bin, count]);
	}
	return [...sums.values()].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
}
