import type { PercentileFigure, View } from "./figure.ts";
import { depthOf } from "./nines.ts";
import { type Area, BOLD, label, type Part } from "./pieces.ts";
import type { Scale } from "./scale.ts";
import { widthOf, wrapped } from "./text.ts";
import { COLOURS } from "./theme.ts";

type Curve = PercentileFigure["curves"][number];

/** The area that counting from the actual send would have hidden, with its name where the curves leave room. */
export function hiddenParts(
	figure: PercentileFigure,
	view: View,
	scale: Scale,
	area: Area,
	to: (x: number, y: number) => [number, number],
): Part[] {
	const { hidden: colour, page } = COLOURS[view.theme];
	return figure.hidden.flatMap(({ upper, lower, text }): Part[] => {
		const [above, below] = [upper, lower].map((key) =>
			figure.curves.find((c) => c.key === key && !view.off.has(key)),
		);
		if (above === undefined || below === undefined) return [];
		const rows = between(above, below).map(({ depth, high, low }) => ({
			top: to(depth, scale.to(high)),
			bottom: to(depth, scale.to(low)),
		}));
		if (rows.length < 2) return [];
		// Each value holds until the next.
		const edge = (of: "top" | "bottom") =>
			rows.flatMap((row, i) => {
				const before = rows[i - 1];
				return before ? [[row[of][0], before[of][1]], row[of]] : [row[of]];
			});
		return [
			{
				type: "polygon",
				shape: { points: [...edge("top"), ...edge("bottom").reverse()] },
				style: { fill: colour, opacity: 0.16 },
			},
			...nameOf(rows, text, area, {
				colour,
				page,
				taken: figure.limits.map((l) => to(0, scale.to(l.value))[1]),
			}),
		];
	});
}

// --- internal ---

function nameOf(
	rows: readonly { top: [number, number]; bottom: [number, number] }[],
	text: string,
	area: Area,
	{
		colour,
		page,
		taken,
	}: {
		readonly colour: string;
		readonly page: string;
		/** Heights of lines that have a text above them. */
		readonly taken: readonly number[];
	},
): Part[] {
	const open = rows.filter(({ top, bottom }) => bottom[1] - top[1] > 24);
	const [first] = open;
	if (first === undefined) return [];
	const clear = (top: number, bottom: number) =>
		taken.every((t) => top > t + 4 || bottom < t - 20);
	const place = (
		words: readonly string[],
		x: number,
		middle: number,
		align: "left" | "right",
	) =>
		words.map((line, i) =>
			label(line, [x, middle + (i - (words.length - 1) / 2) * 16 + 4], {
				colour,
				bold: true,
				align,
				halo: page,
			}),
		);
	const widest = open.reduce((a, b) =>
		b.bottom[1] - b.top[1] > a.bottom[1] - a.top[1] ? b : a,
	);
	/** At the middle of the gap, or as near to it as no limit is in the way. */
	const freeAt = (words: readonly string[]) => {
		const half = words.length * 8;
		const centre = (widest.top[1] + widest.bottom[1]) / 2;
		const free = [0, 20, -20, 40, -40, 60, -60, 80, -80]
			.map((by) => centre + by)
			.find((at) => clear(at - half, at + half));
		return free ?? centre;
	};

	// Curves rise: left of the gap, at its height, there is nothing.
	const left = Math.min(first.top[0], area.left + area.width) - area.left;
	if (left > 190) {
		const words = wrapped(text, left - 24, 4, 12 * BOLD);
		return place(words, first.top[0] - 10, freeAt(words), "right");
	}
	// Else below it, on the right, as far as the lower curve lets it.
	const edge = area.left + area.width - 8;
	for (const most of [1, 2, 3]) {
		const words = wrapped(
			text,
			(widthOf(text, 12 * BOLD) / most) * 1.15,
			most,
			12 * BOLD,
		);
		const width = Math.max(...words.map((w) => widthOf(w, 12 * BOLD)));
		const half = words.length * 8;
		const y = area.top + area.height - half - 10;
		const free = rows.every(
			({ bottom }) => bottom[0] < edge - width - 10 || bottom[1] < y - half - 8,
		);
		if (free && width < area.width && clear(y - half, y + half))
			return place(words, edge, y, "right");
	}
	const room = area.left + area.width - Math.max(first.top[0], area.left);
	const words = wrapped(text, Math.max(120, room - 24), 4, 12 * BOLD);
	return place(
		words,
		Math.max(first.top[0], area.left) + 12,
		freeAt(words),
		"left",
	);
}

/** Both curves where either has a point, as far as both go, where the upper one is above. */
function between(
	above: Curve,
	below: Curve,
): { depth: number; high: number; low: number }[] {
	const end = Math.min(
		above.points.at(-1)?.[0] ?? 0,
		below.points.at(-1)?.[0] ?? 0,
	);
	const ps = [...above.points, ...below.points]
		.map(([p]) => p)
		.filter((p) => p <= end);
	const at = (curve: Curve, p: number) =>
		curve.points.findLast((point) => point[0] <= p)?.[1] ?? 0;
	return [...new Set(ps)]
		.sort((a, b) => a - b)
		.map((p) => ({
			depth: depthOf(p),
			high: Math.max(at(above, p), at(below, p)),
			low: at(below, p),
		}));
}
