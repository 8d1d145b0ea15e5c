import { lines, type Part } from "./axes.ts";
import type { PartsFigure, SeriesKey, View } from "./figure.ts";
import { frame, headHeight, heading, place, shown } from "./frame.ts";
import { COLOURS } from "./theme.ts";

/** What the response times around each percentile are made of, as shares stacked beside each other; their mean stands at the end. */

export function partsOption(figure: PartsFigure, view: View): Part {
	const top = headHeight(figure, view, []) + 34;
	const colours = COLOURS[view.theme];
	const around = frame(figure, view, []);
	const narrow = view.width < 500;
	return {
		...around,
		title: [
			around.title,
			heading("queued, lag, service", { left: 8, top: top - 23, width: view.width - 16 }, view),
		],
		grid: [
			{
				left: 64,
				right: narrow ? 76 : 110,
				top,
				height: figure.rows.length * ROW,
				outerBoundsMode: "none",
			},
		],
		xAxis: [
			{
				...lines(0, view),
				type: "value",
				min: 0,
				max: 100,
				interval: 25,
				axisLabel: { color: colours.soft, formatter: (share: number) => `${share} %` },
			},
		],
		yAxis: [
			{
				...lines(0, view),
				type: "category",
				inverse: true,
				data: figure.rows.map(({ name }) => shown(name)),
				axisLine: { show: false },
				axisTick: { show: false },
				axisLabel: { color: colours.ink },
			},
		],
		series: PARTS.map((part, i) => ({
			...place(0),
			type: "bar",
			name: part,
			stack: "response",
			barWidth: 18,
			silent: true,
			emphasis: { disabled: true },
			itemStyle: {
				color: { queued: colours.hidden, lag: colours.grey, service: colours.service }[part],
			},
			label: {
				show: true,
				color: colours.page,
				fontSize: 11,
				formatter: ({ value }: { value: number }) =>
					value * (view.width - 174) > 100 * (part.length + 5) * 7
						? `${part} ${Number(value.toPrecision(3))} %`
						: "",
			},
			data: figure.rows.map(({ shares }) => shares[i] ?? 0),
			...(i < PARTS.length - 1
				? {}
				: {
						markPoint: {
							silent: true,
							animation: false,
							symbol: "rect",
							symbolSize: 0,
							label: { position: "right", color: colours.ink, formatter: "{b}" },
							data: figure.rows.map(({ text }, row) => ({ coord: [100, row], name: shown(text) })),
						},
					}),
		})),
	};
}

export function partsHeight(figure: PartsFigure, view: Omit<View, "height">): number {
	return headHeight(figure, view, []) + 34 + figure.rows.length * ROW + 34;
}

/** No line has switches: the parts are one whole. */
export const NO_KEYS: readonly SeriesKey[] = [];

// --- internal ---

const PARTS = ["queued", "lag", "service"] as const;
const ROW = 28;
