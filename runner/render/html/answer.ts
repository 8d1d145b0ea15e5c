import { depthOf } from "../../chart/axes.ts";
import type { Block, MatrixCell } from "../../document/blocks.ts";
import { largestOf, smallestOf } from "../../extremes.ts";
import { type Markup, markup } from "../../page/markup.ts";
import { tell } from "../../text/tell.ts";
import { badgeMarkup, signOf } from "./badge.ts";

type Of<K extends Block["kind"]> = Extract<Block, { kind: K }>;

/**
 * Systems by case, or cases by system where those are many. Each cell leads to its run.
 */
export function matrixMarkup({ cases, unranked, rows }: Of<"matrix">): Markup {
	const all = rows.flatMap(({ cells }) => cells.flatMap((cell) => cell ?? []));
	const range = all.length > MOST_DRAWN ? null : rangeOf(all);
	const uneven = new Set(all.map(({ repeats }) => repeats)).size > 1;
	const systems = rows.map(
		({ system, durability, colour }) =>
			markup`<i class="dot s${colour % COLOURS}"></i> ${system}<small>durability: ${durability}</small>`,
	);
	const names = cases.map(
		(name, i) =>
			markup`${name}${unranked[i] != null && markup`<small class="warn">${unranked[i]}</small>`}`,
	);
	const turned = cases.length > MOST_COLUMNS;
	const heads = turned ? systems : names;
	const row = (
		head: Markup,
		cells: readonly {
			readonly cell: MatrixCell | null;
			readonly colour: number;
			readonly label: string;
		}[],
	) =>
		markup`<tr><th scope="row">${head}</th>${cells.map(({ cell, colour, label }) => markup`<td data-l="${label}">${cell === null ? "not run" : cellMarkup(cell, colour, range, uneven)}</td>`)}</tr>
`;
	const body = turned
		? names.map((head, i) =>
				row(
					head,
					rows.map(({ cells, colour, system }) => ({
						cell: cells[i] ?? null,
						colour,
						label: system,
					})),
				),
			)
		: rows.map(({ cells, colour }, k) =>
				row(
					systems[k] as Markup,
					cells.map((cell, i) => ({ cell, colour, label: cases[i] ?? "" })),
				),
			);
	return markup`<p class="soft"><small>${tell("matrix-means")}</small></p><div class="wide"><table class="matrix"><thead><tr><td></td>${heads.map((head) => markup`<th scope="col">${head}</th>`)}</tr></thead><tbody>
${body}</tbody></table></div>`;
}

/** A square for each run, in their order; form and word tell what colour does. */
export function provenanceMarkup({ text, items }: Of<"provenance">): Markup {
	return markup`<p class="soft provenance"><small>${text}.</small> <span class="strip">${items.map((item) => markup`<a href="#${item.to}" class="${item.look}" title="${item.text}"><span aria-hidden="true">${signOf(item.look) ?? "?"}</span><span class="aside">${item.text}</span></a>`)}</span></p>`;
}

// --- internal ---

/** As many as the page's style has; see `theme.ts`. */
const COLOURS = 8;
const WIDTH = 84;
const HEIGHT = 26;
/** More cases stand below each other. */
const MOST_COLUMNS = 6;
/** Small curves; of more cells there is no room for them. */
const MOST_DRAWN = 120;
/** p99.99. */
const DEEPEST = 4;

function cellMarkup(
	cell: MatrixCell,
	colour: number,
	range: readonly [number, number] | null,
	/** Not all cells have as many repeats. */
	uneven: boolean,
): Markup {
	const { to, verdict, ratio, repeats, metric, saturated, carried } = cell;
	return markup`<a href="#${to}"><b>${carried?.text ?? cell.p99}</b>${ratio !== null && markup` <span class="ratio">${ratio}</span>`}</a>${carried !== null && carried.range !== "" && markup`<small>${carried.range}</small>`}<small>p99${metric !== "response" && ` of ${metric}`}${carried !== null && ` ${cell.p99}`} ${cell.p99Interval}</small>${saturated && markup`<small class="warn">${tell("machine-at-end")}</small>`}<small>p50 ${cell.p50} ${cell.p50Interval}</small>${uneven && markup`<small>of ${repeats} ${repeats === 1 ? "run" : "repeats"}</small>`}${range !== null && markup`<svg class="s${colour % COLOURS}" viewBox="0 0 ${WIDTH} ${HEIGHT}" aria-hidden="true"><path d="${pathOf(cell, range)}" fill="none" stroke="currentColor" stroke-width="1.5" vector-effect="non-scaling-stroke"/></svg>`}${badgeMarkup(verdict)}`;
}

/** Of all cells, that their curves can be compared. */
function rangeOf(cells: readonly MatrixCell[]): readonly [number, number] {
	const values = cells
		.flatMap(({ curve }) => curve.map(([, value]) => value))
		.filter((value) => value > 0);
	return values.length === 0 ? [1, 10] : [smallestOf(values), largestOf(values)];
}

function pathOf({ curve }: MatrixCell, [low, high]: readonly [number, number]): string {
	const y = (value: number) =>
		HEIGHT -
		1 -
		((HEIGHT - 2) * Math.log(Math.max(value, low) / low)) / Math.max(1e-9, Math.log(high / low));
	let path = "";
	let last = "";
	let end = 0;
	for (const [p, value] of curve) {
		const x = (depthOf(p) / DEEPEST) * WIDTH;
		if (x > WIDTH) break;
		const at = y(value).toFixed(1);
		end = x;
		if (at === last) continue;
		path += path === "" ? `M${x.toFixed(1)} ${at}` : `H${x.toFixed(1)}V${at}`;
		last = at;
	}
	return path === "" ? "" : `${path}H${end.toFixed(1)}`;
}
