import { type Area, inGrid, label, type Part } from "./pieces.ts";
import { roundStep } from "./scale.ts";
import { fitted, widthOf } from "./text.ts";
import type { Colours } from "./theme.ts";
import { secondText } from "./units.ts";

/** The axis of seconds since the window's start, and what is marked on it. */

/** Round seconds, at most one for every 64 pixels. */
export function secondTicks(
	[from, to]: readonly [number, number],
	width: number,
): {
	readonly ticks: readonly number[];
	readonly text: (at: number) => string;
} {
	const wanted = (to - from) / Math.max(2, width / 64);
	const step =
		wanted < 1
			? roundStep(wanted)
			: (STEPS.find((s) => s >= wanted) ?? Math.ceil(wanted / 3600) * 3600);
	const ticks: number[] = [];
	for (let i = Math.ceil(from / step - 1e-9); i * step <= to + 1e-9; i++)
		ticks.push(Number((i * step).toPrecision(12)));
	return { ticks, text: (at) => secondText(at, step >= 60) };
}

interface Mark {
	readonly from: number;
	readonly to: number;
	readonly text: string;
}

/** Stretches and moments of one panel, behind its lines. */
export function markSeries(
	grid: number,
	marks: readonly Mark[],
	area: Area,
	colours: Colours,
): Part {
	return inGrid(
		grid,
		(to) =>
			marks.map((mark): Part => {
				const [from] = to(mark.from, 0);
				const [until] = to(mark.to, 0);
				if (mark.to === mark.from)
					return {
						type: "line",
						shape: {
							x1: from,
							y1: area.top,
							x2: from,
							y2: area.top + area.height,
						},
						style: { stroke: colours.soft, lineWidth: 1, lineDash: [2, 3] },
					};
				return {
					type: "rect",
					shape: {
						x: from,
						y: area.top,
						width: Math.max(1, until - from),
						height: area.height,
					},
					style: isFault(mark)
						? { fill: colours.hidden, opacity: 0.18 }
						: { fill: colours.band },
				};
			}),
		0,
	);
}

/** Their names, on top of the first panel, as far as each has room before the next. */
export function markNames(
	marks: readonly Mark[],
	area: Area,
	colours: Colours,
): Part {
	return inGrid(
		0,
		(to) => {
			let free = Number.NEGATIVE_INFINITY;
			const spans = marks.map((mark) => ({
				mark,
				from: Math.max(to(mark.from, 0)[0], area.left),
				until: to(mark.to, 0)[0],
			}));
			return spans
				.filter(({ until }) => until >= area.left)
				.sort((a, b) => a.from - b.from)
				.flatMap(({ mark, from }, i, all): Part[] => {
					const next = all[i + 1]?.from ?? area.left + area.width;
					const width = widthOf(mark.text) + 8;
					if (from < free || (width > next - from && !isFault(mark))) return [];
					free = from + width;
					const room = area.left + area.width - from - 4;
					return [
						label(fitted(mark.text, room), [from + 4, area.top + 13], {
							colour: isFault(mark) ? colours.hidden : colours.soft,
							halo: isFault(mark) ? colours.page : null,
						}),
					];
				});
		},
		6,
	);
}

// --- internal ---

const STEPS = [
	1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600,
	43_200, 86_400,
];

/** The warm-up is only less bright; what was done to the broker has a colour. */
function isFault({ from, to }: Mark): boolean {
	return from >= 0 && to > from;
}
