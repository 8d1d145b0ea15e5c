import { Markup, markup } from "./html/markup.ts";

/** Pieces of a chart. Coordinates are the viewBox's; colours come from the page's style by class. */

export interface Scale {
	/** Value to coordinate. */
	(value: number): number;
	readonly ticks: readonly number[];
}

/** The rectangle that curves are drawn in. */
export interface Area {
	readonly left: number;
	readonly right: number;
	readonly top: number;
	readonly bottom: number;
}

export type Point = readonly [x: number, y: number];

/** A latency axis from bottom to top: logarithmic when the values span more than a factor of 20. */
export function valueScale(
	values: readonly number[],
	area: Area,
): Scale & { readonly logarithmic: boolean } {
	const high = Math.max(1, ...values);
	const positive = values.filter((v) => v > 0);
	const low = Math.min(high, ...positive);
	const logarithmic = high / low > 20;
	const scale = logarithmic
		? logScale(low, high, area)
		: linearScale(high, area);
	return Object.assign(scale, { logarithmic });
}

/** From 0 to a round number above `high`, bottom to top, with about `parts` grid lines above 0. */
export function linearScale(high: number, area: Area, parts = 5): Scale {
	const step = roundStep(high / parts);
	const top = Math.ceil((high * 1.02) / step) * step;
	const ticks = Array.from(
		{ length: Math.round(top / step) + 1 },
		(_, i) => i * step,
	);
	const to = (v: number) => area.bottom - (v / top) * (area.bottom - area.top);
	return Object.assign(to, { ticks });
}

/** A path through the points; a gap wherever one is null. */
export function line(points: readonly (Point | null)[], name: string): Markup {
	let pen = "M";
	let d = "";
	for (const point of points) {
		if (point === null) pen = "M";
		else {
			d += `${pen}${round(point[0])} ${round(point[1])}`;
			pen = "L";
		}
	}
	return d === "" ? new Markup("") : markup`<path class="${name}" d="${d}"/>`;
}

/** As `line`, but each value holds until the next, as counts per second and percentiles do. */
export function steps(points: readonly Point[], name: string): Markup {
	const [first, ...rest] = points;
	if (first === undefined) return new Markup("");
	let [x, y] = first.map(round) as [number, number];
	let d = `M${x} ${y}`;
	for (const point of rest) {
		const [toX, toY] = point.map(round) as [number, number];
		if (toX !== x) d += `H${toX}`;
		if (toY !== y) d += `V${toY}`;
		[x, y] = [toX, toY];
	}
	return markup`<path class="${name}" d="${d}"/>`;
}

export function label(
	text: string,
	[x, y]: Point,
	anchor: "start" | "middle" | "end" = "start",
	name = "label",
): Markup {
	return markup`<text class="${name}" x="${round(x)}" y="${round(y)}" text-anchor="${anchor}">${text}</text>`;
}

/** Horizontal grid lines with their labels to the left. */
export function valueAxis(
	scale: Scale,
	area: Area,
	text: (value: number) => string,
): Markup {
	return markup`${scale.ticks.map(
		(tick) =>
			markup`${line(
				[
					[area.left, scale(tick)],
					[area.right, scale(tick)],
				],
				"grid",
			)}${label(text(tick), [area.left - 6, scale(tick) + 4], "end")}`,
	)}`;
}

export interface Caption {
	/** Its name, for those who do not see it. */
	readonly title: string;
	/** Stands above it: who shows the picture elsewhere takes along what was measured, with which durability, and where. */
	readonly facts: string;
	readonly description: string;
}

/** A picture with its facts, and a name and a description for those who do not see it. */
export function picture(
	id: string,
	size: { readonly width: number; readonly height: number },
	{ title, facts, description }: Caption,
	content: Markup,
): Markup {
	return markup`<svg viewBox="0 -${FACTS} ${size.width} ${size.height + FACTS}" role="img" aria-labelledby="${id}-t ${id}-d">
<title id="${id}-t">${title}</title><desc id="${id}-d">${description}</desc>
${label(shortened(facts), [2, 14 - FACTS])}
${content}
</svg>`;
}

// --- internal ---

/** Room for a line of text above. */
const FACTS = 22;
/** Characters of 12 px that fit into 720. */
const MOST_FACTS = 118;

function shortened(text: string): string {
	return text.length > MOST_FACTS
		? `${text.slice(0, MOST_FACTS - 3)}...`
		: text;
}

function logScale(low: number, high: number, area: Area): Scale {
	const from = Math.floor(Math.log10(low) * 10 - 0.5) / 10;
	const to = Math.ceil(Math.log10(high) * 10 + 0.5) / 10;
	const decades = to - from;
	const digits = decades <= 2.2 ? [1, 2, 5] : decades <= 7 ? [1] : [];
	const ticks: number[] = [];
	for (let e = Math.floor(from); e <= to; e++)
		for (const digit of digits.length > 0 || e % 2 === 0
			? digits.length > 0
				? digits
				: [1]
			: []) {
			const tick = digit * 10 ** e;
			if (Math.log10(tick) >= from && Math.log10(tick) <= to) ticks.push(tick);
		}
	const scale = (v: number) =>
		area.bottom -
		((Math.log10(Math.max(v, 10 ** from)) - from) / decades) *
			(area.bottom - area.top);
	return Object.assign(scale, { ticks });
}

/** 1, 2 or 5 times a power of ten, not below `step`. */
function roundStep(step: number): number {
	const power = 10 ** Math.floor(Math.log10(step));
	return (
		power * ([1, 2, 5, 10].find((digit) => digit * power >= step - 1e-9) ?? 10)
	);
}

/** A tenth of a unit is finer than a screen shows, and keeps the file small. */
function round(x: number): number {
	return Math.round(x * 10) / 10;
}
