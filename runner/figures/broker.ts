import type { Datum, Figure } from "../chart/figure.ts";
import { largestOf } from "../extremes.ts";
import { grouped } from "../grouped.ts";
import { plural, type Unit } from "../units.ts";
import { panelOf, type Subject, seriesOf } from "./facts.ts";
import { secondsAxis, stretch, warmUp, worst } from "./stretches.ts";

/** The broker's own view: a panel for each metric, a line for each of its labels and nodes; a longer stretch shows the most. */
export function brokerFigure(of: Subject, points: number): Figure | null {
	const { run } = of;
	const nodes = run.series.brokerMetrics ?? [];
	// A long run, or a large page of metrics, is read less often.
	const apart = nodes.map(
		({ at }) => ((at.at(-1) ?? 0) - (at[0] ?? 0)) / Math.max(1, at.length - 1),
	);
	const size = Math.max(stretch(run, points), Math.round(largestOf([1, ...apart])));
	const { startNs, endNs } = run.window;
	const lines = nodes.flatMap(({ node, at, series }) =>
		series.flatMap(({ name, counter, shown, values }): Line[] => {
			if (!shown) return [];
			const [, metric = name, labels = ""] = /^(.*?)\{(.*)\}$/s.exec(name) ?? [];
			const within = at.flatMap((end, i) => {
				const second = Math.round(end) - 1;
				return second >= 0 && second < endNs / 1e9
					? [[second - startNs / 1e9, values[i]] as const]
					: [];
			});
			const data = worst(within, size);
			const largest = largestOf([0, ...data.map(({ y }) => y ?? 0)]);
			return [{ metric, labels, node, counter, data, largest }];
		}),
	);
	// Rates first.
	const sorted = lines.toSorted((a, b) => Number(b.counter) - Number(a.counter));
	const every = [...grouped(sorted, ({ metric }) => metric)];
	const isUsed = (all: readonly Line[]) =>
		all.some(({ data }) => data.some(({ y }) => y !== null && y !== 0));
	const quiet = every.flatMap(([metric, all]) => (isUsed(all) ? [] : metric)).slice(0, MOST_PANELS);
	const metrics = every
		.map(([, all]) => all)
		.filter(isUsed)
		.slice(0, MOST_PANELS);
	const panels = metrics.map((all) => {
		const [first] = all as [Line];
		const largest = all.toSorted((a, b) => b.largest - a.largest).slice(0, MOST_LINES);
		const left = all.length - largest.length;
		const more = left > 0 ? `; without ${plural(left, "smaller line")}` : "";
		const title = `${first.metric}${first.counter ? " per second" : ""}${more}`;
		const own = largest.map(({ labels, node, data }, dash) => {
			const name = [labels, nodes.length > 1 ? `node ${node}` : ""].filter(Boolean).join(" ");
			const color = dash === 0 ? of.color : -1;
			return seriesOf(name || first.metric, data, { color, dash, draw: "step" });
		});
		return panelOf(unitOf(first), own, [], title);
	});
	if (panels.length === 0) return null;
	const all = lines.flatMap(({ data }) => data.map(({ x }) => x));
	return {
		id: `${of.id}-broker`,
		title: `The broker's own view: ${of.title}`,
		facts: [of.facts, ...(quiet.length > 0 ? [`always 0: ${quiet.join(", ")}`] : [])].join("; "),
		x: secondsAxis(run, size, all),
		panels,
		spans: warmUp(run),
	};
}

// --- internal ---

/** More cannot be read. */
const MOST_PANELS = 8;
const MOST_LINES = 6;

interface Line {
	readonly metric: string;
	/** `queue="a"` */
	readonly labels: string;
	readonly node: number;
	readonly counter: boolean;
	readonly data: readonly Datum[];
	readonly largest: number;
}

/** Only its name tells. */
function unitOf({ metric, counter, data }: Line): Unit {
	const bytes =
		/bytes|storage|(^|[._])mem(ory)?([._]|$)/i.test(metric) && !/ratio|percent/i.test(metric);
	if (bytes) return counter ? "bytes/s" : "bytes";
	if (counter) return "messages/s";
	return data.some(({ y }) => y !== null && !Number.isInteger(y)) ? "cores" : "messages";
}
