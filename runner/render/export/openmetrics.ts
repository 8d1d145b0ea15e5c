import { HIGHEST_RATE } from "../../compare/figures.ts";
import { tell } from "../../text/tell.ts";
import type { ExportedFile, Figure, Point } from "./points.ts";

/**
 * OpenMetrics 1.0 text: for `artifacts:reports:metrics` of GitLab, for a collector of text files, for `promtool tsdb create-blocks-from
 * openmetrics`. All metrics of a run are in it, the weak percentiles too: they have the label `support`. Labels name no commit and no run, because
 * they tell one series from another. Samples of several reports have the time of their run; those of one have none, which is what GitLab and
 * collectors want.
 */
export function exportOpenMetrics(points: readonly Point[]): ExportedFile[] {
	const dated = new Set(points.map(({ source }) => source)).size > 1;
	const inTime = [...points].sort((a, b) => a.atMs - b.atMs);
	const text = Object.entries(FAMILIES).flatMap(([name, family]) => {
		// What is one metric stands together, its samples in the order of time.
		const metrics = new Map<string, string[]>();
		for (const point of inTime)
			for (const { labels, value } of family.samples(point)) {
				const metric = `${name}${labelsOf({ ...pointLabels(point), ...labels })}`;
				const time = dated ? ` ${point.atMs / 1000}` : "";
				const lines = metrics.get(metric) ?? [];
				lines.push(`${metric} ${value}${time}`);
				metrics.set(metric, lines);
			}
		if (metrics.size === 0) return [];
		return [
			`# TYPE ${name} gauge`,
			...(family.unit === null ? [] : [`# UNIT ${name} ${family.unit}`]),
			`# HELP ${name} ${escaped(family.help)}`,
			...[...metrics.values()].flat(),
		];
	});
	return [{ name: "metrics.txt", text: `${text.join("\n")}\n# EOF\n` }];
}

// --- internal ---

interface Family {
	/** The end of its name; null: it counts nothing. */
	readonly unit: string | null;
	readonly help: string;
	samples(
		point: Point,
	): { readonly labels: Readonly<Record<string, string>>; readonly value: number }[];
}

const FAMILIES: Readonly<Record<string, Family>> = {
	mqbench_latency_seconds: {
		unit: "seconds",
		help: tell("openmetrics-latency"),
		samples: latencies(({ value }) => value),
	},
	mqbench_latency_low_seconds: {
		unit: "seconds",
		help: tell("openmetrics-low"),
		samples: latencies(({ low }) => low),
	},
	mqbench_latency_high_seconds: {
		unit: "seconds",
		help: tell("openmetrics-high"),
		samples: latencies(({ high }) => high),
	},
	mqbench_rate_messages_per_second: {
		unit: "messages_per_second",
		help: tell("openmetrics-rate"),
		samples: ({ figures }) =>
			figures
				.filter(({ unit }) => unit === "messages/s")
				.map(({ name, value }) => ({ labels: { rate: name }, value })),
	},
	mqbench_drain_seconds: {
		unit: "seconds",
		help: tell("openmetrics-drain"),
		samples: ({ figures }) =>
			figures
				.filter(({ name }) => name === "drainTime")
				.map(({ value }) => ({ labels: {}, value: value / 1e9 })),
	},
	mqbench_fault_seconds: {
		unit: "seconds",
		help: tell("openmetrics-fault"),
		samples: ({ figures }) =>
			figures
				.filter(({ name }) => name === "unavailable" || name === "drained")
				.map(({ name, value, support }) => ({
					labels: { figure: name, ...markOf(support) },
					value: value / 1e9,
				})),
	},
	mqbench_window_messages: {
		unit: "messages",
		help: tell("openmetrics-messages"),
		samples: countsOf,
	},
	mqbench_sla_met: {
		unit: null,
		help: tell("openmetrics-sla"),
		samples: ({ run, search }) => [
			{ labels: {}, value: (search ?? run).verdict === "pass" ? 1 : 0 },
		],
	},
};

function latencies(of: (figure: Figure) => number | null): Family["samples"] {
	return ({ figures }) =>
		figures.flatMap((figure) => {
			const { metric, statistic, support } = figure;
			const ns = of(figure);
			if (metric === null || statistic === null || ns === null) return [];
			const labels = { metric, statistic, ...markOf(support) };
			return [{ labels, value: ns / 1e9 }];
		});
}

function markOf(support: Figure["support"]) {
	return support === "ok" ? {} : { support };
}

/** Of the window; what was not counted is left out. The runs of a search are not its answer. */
function countsOf({ run, figures }: Point): ReturnType<Family["samples"]> {
	if (figures.some(({ name }) => name === HIGHEST_RATE)) return [];
	const names = Object.keys(run.warmup) as (keyof typeof run.warmup)[];
	return names.flatMap((count) => {
		const value = run[count];
		return value === null ? [] : [{ labels: { count }, value }];
	});
}

function pointLabels({ source, system, case: name, repeat }: Point) {
	const { scenario } = source.result;
	return { scenario, system, case: name, repeat: String(repeat) };
}

function labelsOf(labels: Readonly<Record<string, string>>): string {
	const all = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
	return `{${all.join(",")}}`;
}

function escaped(text: string): string {
	return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
