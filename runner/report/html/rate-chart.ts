import { formatCount, formatDuration } from "../../units.ts";
import {
	type Area,
	label,
	line,
	linearScale,
	type Point,
	picture,
	valueAxis,
	valueScale,
} from "../svg.ts";
import { type Markup, markup } from "./markup.ts";

/** Latency at one rate, ns and messages per second; null: not measured, or not carried by the samples. */
export interface AtRate {
	readonly rate: number;
	readonly p50: number | null;
	readonly p99: number | null;
	readonly max: number | null;
}

/** A chart of latency over offered rate. null where there are not two different rates, or no latencies. */
export function latencyByRate(
	id: string,
	text: {
		readonly metric: string;
		readonly title: string;
		readonly facts: string;
	},
	points: readonly AtRate[],
): Markup | null {
	const all = points.toSorted((a, b) => a.rate - b.rate);
	const [lowest, highest] = [all[0]?.rate ?? 0, all.at(-1)?.rate ?? 0];
	if (highest <= lowest) return null;
	const values = all.flatMap((at) =>
		LINES.map(([, key]) => at[key]).filter((v) => v !== null),
	);
	if (values.length === 0) return null;
	const y = valueScale(values, AREA);
	// From left to right as the other axis goes from bottom to top.
	const turned = { left: 0, right: 0, top: AREA.left, bottom: AREA.right };
	const scale = linearScale(highest, turned, 6);
	const x = (rate: number) => AREA.left + AREA.right - scale(rate);
	const curve = (key: "max" | "p99" | "p50") =>
		all.map((at): Point | null => {
			const value = at[key];
			return value === null ? null : [x(at.rate), y(value)];
		});
	const chart = picture(
		id,
		SIZE,
		{
			title: text.title,
			facts: text.facts,
			description: all
				.map(
					(at) =>
						`${formatCount(at.rate)}/s: p99 ${at.p99 === null ? "n/a" : formatDuration(at.p99)}`,
				)
				.join(". "),
		},
		markup`${valueAxis(y, AREA, formatDuration)}
${scale.ticks.map((tick) => label(formatCount(tick), [x(tick), AREA.bottom + 18], "middle"))}
${LINES.map(([name, key]) => markup`<g class="${name}">${line(curve(key), "curve")}${curve(key).map((point) => point && markup`<circle r="3" cx="${point[0].toFixed(1)}" cy="${point[1].toFixed(1)}"/>`)}</g>`)}
${label(`${text.metric}${y.logarithmic ? ", logarithmic" : ""}`, [AREA.left, 14])}
${label("scheduled messages per second", [AREA.right, SIZE.height - 4], "end")}`,
	);
	return markup`<figure><div class="wide">${chart}</div><figcaption>${LINES.map(
		([name, key]) =>
			markup`<span class="key"><svg viewBox="0 0 26 8" aria-hidden="true"><g class="${name}"><path class="curve" d="M0 4H26"/></g></svg>${key}</span>`,
	)}</figcaption></figure>`;
}

// --- internal ---

const SIZE = { width: 720, height: 272 };
const AREA: Area = { left: 62, right: 690, top: 24, bottom: 228 };
const LINES = [
	["max-line", "max"],
	["response", "p99"],
	["median", "p50"],
] as const;
