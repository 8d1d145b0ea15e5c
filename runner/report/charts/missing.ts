import { formatCount, formatDuration } from "../../units.ts";
import type { Missing, Unfinished } from "./figure.ts";
import { type Area, inGrid, label, type Part } from "./pieces.ts";
import { fitted, widthOf } from "./text.ts";
import type { Colours } from "./theme.ts";

/** Messages that never completed: they have no latency, and so no point in any line. They are marked where they were due. */

/** "12 of 1 000 never completed" */
export function missingText(of: Pick<Missing, "count" | "due">): string {
	return `${shareText(of)} never completed`;
}

/** "12 of 1 000" */
export function shareText({ count, due }: Pick<Missing, "count" | "due">) {
	return `${formatCount(count)} of ${formatCount(due)}`;
}

/** The stretch that a second lies in. */
export function missingAt(
	{ stretches }: Unfinished,
	second: number,
): Missing | undefined {
	return stretches.find(({ from, to }) => second >= from && second < to);
}

/**
 * A value of a line as words: "> 30s" where it lies among those that never completed, of the maximum with the longest that did complete.
 * `text` is what the line shows; null: a gap.
 */
export function valueWords(
	unfinished: Unfinished,
	{ key, second }: { readonly key: string; readonly second: number },
	text: string | null,
): string {
	const missing = missingAt(unfinished, second);
	if (!missing?.beyond.includes(key)) return text ?? "n/a";
	return key === "max" && missing.longest !== null
		? `${unfinished.beyond} (${formatDuration(missing.longest)} of those that completed)`
		: unfinished.beyond;
}

/** Hatched, and with a bar on top, behind the lines of a panel: one message of a thousand is seen as well as all. */
export function missingBands(
	grid: number,
	{ stretches }: Unfinished,
	area: Area,
	colours: Colours,
): Part[] {
	if (stretches.length === 0) return [];
	return [
		inGrid(
			grid,
			(to) =>
				joined(stretches).flatMap((one): Part[] => {
					const [from, until] = [to(one.from, 0)[0], to(one.to, 0)[0]];
					const x = Math.round(from);
					const width = Math.max(4, Math.round(until) - x);
					const { top: y, height } = area;
					const shape = { x, y, width, height };
					return [
						{
							type: "rect",
							shape,
							style: { fill: colours.limit, opacity: 0.1 },
						},
						{
							type: "path",
							shape: { pathData: hatch(shape) },
							style: {
								fill: "none",
								stroke: colours.limit,
								lineWidth: 1,
								opacity: 0.55,
							},
						},
						{
							type: "rect",
							shape: { x, y, width, height: 3 },
							style: { fill: colours.limit },
						},
					];
				}),
			1,
		),
	];
}

/** Their texts, the largest first, as far as they have room; the largest always has. At the bottom: limits and other names are on top. */
export function missingNames(
	grid: number,
	{ stretches }: Unfinished,
	area: Area,
	colours: Colours,
): Part[] {
	if (stretches.length === 0) return [];
	return [
		inGrid(
			grid,
			(to) => {
				const right = area.left + area.width;
				const taken: (readonly [from: number, until: number])[] = [];
				return joined(stretches)
					.toSorted((a, b) => b.count - a.count || a.from - b.from)
					.flatMap((one): Part[] => {
						const from = Math.max(to(one.from, 0)[0], area.left);
						if (to(one.to, 0)[0] < area.left || from > right) return [];
						const text = fitted(missingText(one), area.width - 9);
						const width = widthOf(text) + 9;
						const x = Math.max(area.left, Math.min(from, right - width));
						if (taken.some(([a, b]) => x < b && x + width > a)) return [];
						taken.push([x, x + width]);
						const y = area.top + area.height - 20;
						return [
							{
								type: "rect",
								// Lines and cells pass behind it.
								shape: { x: x + 1, y, width: width - 1, height: 16 },
								style: {
									fill: colours.page,
									stroke: colours.limit,
									lineWidth: 1,
								},
							},
							label(text, [x + 5, y + 12], { colour: colours.limit }),
						];
					});
			},
			6,
		),
	];
}

/** Stretches that follow each other are one; but none is of both warm-up and window. */
export function joined(stretches: readonly Missing[]): Missing[] {
	const all: Missing[] = [];
	for (const one of stretches) {
		const last = all.at(-1);
		if (last !== undefined && last.to === one.from && one.from !== 0)
			all[all.length - 1] = {
				...last,
				to: one.to,
				count: last.count + one.count,
				due: last.due + one.due,
			};
		else all.push(one);
	}
	return all;
}

/** Pixels below the values for the texts; 0: there are none. */
export function footroom({ stretches }: Unfinished): number {
	return stretches.length > 0 ? 24 : 0;
}

// --- internal ---

/** Pixels from one line of the hatching to the next. */
const STEP = 6;

/** Lines from the lower left to the upper right, cut off at the edges. */
function hatch({
	x,
	y,
	width,
	height,
}: Pick<Area, "width" | "height"> & {
	readonly x: number;
	readonly y: number;
}): string {
	const [right, bottom] = [x + width, y + height];
	let path = "";
	for (let c = Math.ceil((x - height) / STEP) * STEP; c < right; c += STEP) {
		const [from, until] = [Math.max(c, x), Math.min(c + height, right)];
		const at = (px: number) => Math.round((bottom - (px - c)) * 10) / 10;
		if (until > from)
			path += `M${from} ${at(from)}L${Math.round(until * 10) / 10} ${at(until)}`;
	}
	return path;
}
