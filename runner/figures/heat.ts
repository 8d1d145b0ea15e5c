import type { Datum, Figure } from "../chart/figure.ts";
import { largestOf, smallestOf } from "../extremes.ts";
import type { Run } from "../model/result.ts";
import { mainLimits, panelOf, type Subject, sentence, seriesOf } from "./facts.ts";
import { secondsAxis, unfinishedOf, warmUp } from "./stretches.ts";

/** Samples of the main metric by second and latency, in at most `most` columns. null: nothing was measured. */
export function heatFigure(of: Subject, most: number): Figure | null {
	const { run } = of;
	const { heat } = run.series;
	if (heat === null || heat.cells.length === 0 || heat.binsNs.length === 0) return null;
	const seconds = heat.cells.map(([second]) => second);
	const [first, last] = [smallestOf(seconds), largestOf(seconds)];
	const columns = (last - first) / heat.width + 1;
	const size = heat.width * Math.max(1, Math.ceil(columns / most));
	const { counts, spans, unplaced } = unfinishedOf(run, size);
	const series = [
		seriesOf("samples", cellsOf(heat, size), { group: "", draw: "cells" }),
		...(counts.length > 0 ? [seriesOf("never completed", counts, { group: "" })] : []),
	];
	return {
		id: `${of.id}-heat`,
		title: `${sentence(run.main)} by second, every message: ${of.title}`,
		facts: [of.facts, ...unplaced].join("; "),
		x: secondsAxis(run, size, [last + size]),
		panels: [{ ...panelOf("ns", series, mainLimits(of)), log: true }],
		spans: [...warmUp(run), ...spans],
	};
}

// --- internal ---

/** Columns of `size` seconds; counted from the window's start, so that none holds warm-up and window. */
function cellsOf(heat: NonNullable<Run["series"]["heat"]>, size: number): Datum[] {
	const sums = new Map<string, [x: number, bin: number, n: number]>();
	for (const [second, bin, n] of heat.cells) {
		const x = Math.floor(second / size) * size;
		const cell = sums.get(`${x} ${bin}`);
		if (cell === undefined) sums.set(`${x} ${bin}`, [x, bin, n]);
		else cell[2] += n;
	}
	const edge = (bin: number) => heat.binsNs[bin] ?? heat.endNs;
	return [...sums.values()]
		.sort((a, b) => a[0] - b[0] || a[1] - b[1])
		.map(([x, bin, n]) => ({ x: x + size / 2, y: edge(bin), y2: edge(bin + 1), n }));
}
