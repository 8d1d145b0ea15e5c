import type { MetricsSample } from "../evidence/broker-metrics.ts";
import type { Collected } from "../evidence/collect.ts";
import { largestOf } from "../extremes.ts";
import { grouped } from "../grouped.ts";
import { glob } from "../model/glob.ts";
import type { Run } from "../model/result.ts";

/** All series, in equal stretches: the result must not grow with the run, or with what a page has. Undefined if nothing was read. */
export function metricSeries({ brokerMetrics, t0Ms }: Collected): Run["series"]["brokerMetrics"] {
	if (brokerMetrics === null || t0Ms === null) return undefined;
	const { series, samples, show } = brokerMetrics;
	const names = show.map(glob);
	const nodes = [...samples].sort(([a], [b]) => a - b).filter(([, all]) => all.length > 1);
	const most = Math.max(FEWEST, Math.floor(MOST_VALUES / (series.length * nodes.length || 1)));
	const found = nodes.map(([node, all]) => {
		const size = Math.ceil((all.length - 1) / most);
		const stretches = [
			...grouped(all.slice(1).entries(), ([i]) => Math.floor(i / size)).values(),
		].map((part, i) => ({
			before: all[i * size] as MetricsSample,
			within: part.map(([, sample]) => sample),
		}));
		return {
			node,
			at: stretches.map(({ within }) => Math.round((within.at(-1)?.unixMs ?? 0) - t0Ms) / 1000),
			series: series.flatMap(({ name, counter }, number) => {
				const values = stretches.map((of) => (counter ? growth : largest)(of, number));
				if (values.every((value) => value === null)) return [];
				const bare = name.replace(/\{.*$/s, "");
				const shown = names.some((one) => one.test(bare) || one.test(name));
				return [{ name, counter, shown, values }];
			}),
		};
	});
	return found.length === 0 ? undefined : found;
}

// --- internal ---

/** Of all series together, and the fewest stretches of each. */
const MOST_VALUES = 100_000;
const FEWEST = 60;

type Stretch = { readonly before: MetricsSample; readonly within: readonly MetricsSample[] };

/** Per second. A counter that fell began anew. */
function growth({ before, within }: Stretch, number: number): number | null {
	const last = within.at(-1) ?? before;
	const [was, is] = [before.values[number], last.values[number]];
	const seconds = (last.unixMs - before.unixMs) / 1000;
	if (was == null || is == null || is < was || seconds <= 0) return null;
	return Number(((is - was) / seconds).toPrecision(6));
}

function largest({ within }: Stretch, number: number): number | null {
	const known = within.flatMap(({ values }) => values[number] ?? []);
	return known.length === 0 ? null : largestOf(known);
}
