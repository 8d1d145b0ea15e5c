import type { Datum, Figure } from "../chart/figure.ts";
import type { Comparing } from "../compare/comparing.ts";
import { intervalText, looksOf, ratioOfText, verdictCell } from "../compare/words.ts";
import type { Comparison } from "../model/comparison.ts";
import { bySystemAndCase } from "../result/select.ts";
import { AXIS, panelOf, seriesOf } from "./facts.ts";

/** The ratios of each system and case: `ratios-b-1`. */
export function comparedFigures({ comparisons }: Comparing): Figure[] {
	return bySystemAndCase(comparisons).flatMap(
		({ system, case: name, all }, i) =>
			ratioFigure(`ratios-b-${i + 1}`, `${system}, ${name}`, all) ?? [],
	);
}

// --- internal ---

function ratioFigure(id: string, title: string, comparisons: readonly Comparison[]): Figure | null {
	const rows = comparisons.flatMap((c) =>
		c.ratio !== null && c.ratio > 0 ? { ...c, ratio: c.ratio } : [],
	);
	const [first] = rows;
	if (first === undefined) return null;
	// As wide as the names are apart.
	const margin = rows.flatMap(({ margin }, x) =>
		[x - 0.5, x + 0.5].map((x): Datum => ({ x, y: null, low: 1 / (1 + margin), high: 1 + margin })),
	);
	const ratio = rows.map((c, x): Datum => {
		const text = `${ratioOfText(c)} ${intervalText(c)}; ${verdictCell(c)}`;
		const high = c.confidence === null ? null : c.high;
		const interval = c.low === null && high === null ? {} : { low: c.low, high };
		return { x, y: c.ratio, text, ...interval, ...(c.judged ? { look: looksOf(c) } : {}) };
	});
	const series = [
		seriesOf("ratio", ratio, { draw: "dots", color: 0 }),
		seriesOf("margin", margin, { group: "", draw: "band" }),
	];
	return {
		id,
		title: `Ratios: ${title}`,
		facts: `${first.b.name} against ${first.a.name}`,
		x: { ...AXIS, scale: "names", title: "figure", names: rows.map(({ metric }) => metric) },
		panels: [
			panelOf(
				"times",
				series,
				[],
				"ratio with its 95 % interval; the band: what the margin allows",
			),
		],
		spans: [],
	};
}
