import { COUNTS } from "../../result/fields.ts";
import { type ExportedFile, type Known, type Point, supportOf } from "./points.ts";

/**
 * OpenMetrics 1.0 text: for `artifacts:reports:metrics` of GitLab, for a collector of text files, for `promtool tsdb create-blocks-from
 * openmetrics`. All metrics of a run are in it, the weak percentiles too: they have the label `support`. Labels name no commit and no run, because
 * they tell one series from another. Samples of several reports have the time of their run; those of one have none, which is what GitLab and
 * collectors want.
 */
export function exportOpenMetrics(points: readonly Point[]): ExportedFile[] {
	const dated = new Set(points.map(({ source }) => source)).size > 1;
	const inTime = [...points].sort((a, b) => a.atMs - b.atMs);
	const text = FAMILIES.flatMap(([name, help, samples]) => {
		const unit = UNITS.find((one) => name.endsWith(`_${one}`));
		// What is one metric stands together, its samples in the order of time.
		const metrics = new Map<string, string[]>();
		for (const point of inTime)
			for (const { labels, value } of samples(point)) {
				const metric = `${name}${labelsOf({ ...pointLabels(point), ...labels })}`;
				const time = dated ? ` ${point.atMs / 1000}` : "";
				const lines = metrics.get(metric) ?? [];
				lines.push(`${metric} ${value}${time}`);
				metrics.set(metric, lines);
			}
		if (metrics.size === 0) return [];
		return [
			`# TYPE ${name} gauge`,
			...(unit === undefined ? [] : [`# UNIT ${name} ${unit}`]),
			`# HELP ${name} ${escaped(help)}`,
			...[...metrics.values()].flat(),
		];
	});
	return [{ name: "metrics.txt", text: `${text.join("\n")}\n# EOF\n` }];
}

// --- internal ---

type Samples = (point: Point) => { readonly labels: Labels; readonly value: number }[];

const UNITS = ["seconds", "messages_per_second", "messages"];

const FAMILIES: readonly (readonly [name: string, help: string, samples: Samples])[] = [
	[
		"mqbench_latency_seconds",
		"Percentile or max of a latency in the window. response and ack count from the intended send time, service from the send call. support=weak: few samples; beyond-timeout: the true value is larger.",
		figures(isLatency, latencyLabels),
	],
	[
		"mqbench_latency_low_seconds",
		"Lower end of the 95 % interval of that percentile.",
		figures(isLatency, latencyLabels, ({ low }) => low),
	],
	[
		"mqbench_latency_high_seconds",
		"Upper end of the 95 % interval of that percentile; absent: it has none.",
		figures(isLatency, latencyLabels, ({ high }) => high),
	],
	[
		"mqbench_rate_messages_per_second",
		"Messages per second in the window; highest rate: the answer of a search.",
		figures(
			({ unit }) => unit === "messages/s",
			({ id }) => ({ rate: id }),
		),
	],
	[
		"mqbench_drain_seconds",
		"Time until a backlog was drained.",
		figures(
			({ id }) => id === "drainTime",
			() => ({}),
		),
	],
	[
		"mqbench_fault_seconds",
		"The worst fault of a run: unavailable, nothing completed; drained, until no more were in flight than before it. support=more-than: the true value is larger.",
		figures(
			({ id }) => id === "unavailable" || id === "drained",
			(figure) => ({ figure: figure.id, ...markOf(figure) }),
		),
	],
	["mqbench_window_messages", "Messages of the window.", countsOf],
	["mqbench_sla_met", "1: every SLA line was met; 0: one was breached.", slaMet],
];

type Labels = Readonly<Record<string, string>>;

/** Some figures of a point; times in seconds. */
function figures(
	some: (figure: Known) => boolean,
	labels: (figure: Known) => Labels,
	of: (figure: Known) => number | null | undefined = ({ value }) => value,
): Samples {
	return (point) =>
		point.figures.filter(some).flatMap((figure) => {
			const value = of(figure);
			const scale = figure.unit === "ns" ? 1e9 : 1;
			return value == null ? [] : [{ labels: labels(figure), value: value / scale }];
		});
}

function isLatency({ metric }: Known): boolean {
	return metric !== null;
}

function latencyLabels(figure: Known): Labels {
	const [metric = "", statistic = ""] = figure.id.split(" ");
	return { metric, statistic, ...markOf(figure) };
}

function markOf(figure: Known): Labels {
	const support = supportOf(figure);
	return support === "ok" ? {} : { support };
}

/** What was not counted is left out. The runs of a search are not its answer. */
function countsOf({ run, search }: Point): ReturnType<Samples> {
	return COUNTS.flatMap((count) => {
		const value = search === null ? run[count] : null;
		return value === null ? [] : [{ labels: { count }, value }];
	});
}

function slaMet({ run, search }: Point): ReturnType<Samples> {
	return [{ labels: {}, value: (search ?? run).verdict === "pass" ? 1 : 0 }];
}

function pointLabels({ source, system, case: name, repeat }: Point) {
	const { scenario } = source.result;
	return { scenario, system, case: name, repeat: String(repeat) };
}

function labelsOf(labels: Labels): string {
	const all = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
	return `{${all.join(",")}}`;
}

function escaped(text: string): string {
	return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
