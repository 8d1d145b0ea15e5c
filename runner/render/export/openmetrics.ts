import { TALLIES, type Tally } from "../../model/tallies.ts";
import { COUNTS } from "../../result/fields.ts";
import type { ExportedFile, Known, Point } from "./points.ts";

/**
 * OpenMetrics 1.0 text for GitLab, text-file collectors and `promtool tsdb create-blocks-from openmetrics`. Weak percentiles have a label
 * `support`. Labels tell series apart, so none names a commit or run. Only samples of several reports have a time: GitLab wants none.
 */
export function exportOpenMetrics(points: readonly Point[]): ExportedFile[] {
	const dated = new Set(points.map(({ result }) => result)).size > 1;
	const inTime = [...points].sort((a, b) => a.atMs - b.atMs);
	const text = Object.entries(FAMILIES).flatMap(([family, help]) => {
		const name = `mqbench_${family}`;
		const unit = UNITS.find((one) => family.endsWith(`_${one}`));
		// The samples of a metric are next to each other, ordered by time.
		const metrics = new Map<string, string[]>();
		for (const point of inTime)
			for (const sample of samplesOf(point)) {
				if (sample.family !== family || sample.value == null) continue;
				const metric = `${name}${labelsOf(point, sample.labels)}`;
				const line = `${metric} ${sample.value}${dated ? ` ${point.atMs / 1000}` : ""}`;
				metrics.set(metric, [...(metrics.get(metric) ?? []), line]);
			}
		if (metrics.size === 0) return [];
		return [
			`# TYPE ${name} gauge`,
			...(unit === undefined ? [] : [`# UNIT ${name} ${unit}`]),
			`# HELP ${name} ${help}`,
			...[...metrics.values()].flat(),
		];
	});
	return [{ name: "metrics.txt", text: `${text.join("\n")}\n# EOF\n` }];
}

// --- internal ---

const UNITS = ["seconds", "messages_per_second", "messages", "bytes"];

const FAMILIES = {
	latency_seconds:
		"Percentile or max of a latency in the window. response and ack count from the intended send time, service from the send call. support=weak: few samples; at-least: the true value is larger.",
	latency_low_seconds: "Lower end of the 95 % interval of that percentile.",
	latency_high_seconds: "Upper end of the 95 % interval of that percentile; absent: it has none.",
	rate_messages_per_second:
		"Messages per second in the window; highest rate: the answer of a search.",
	time_seconds:
		"Time until a backlog was drained, or what the worst fault did. support=at-least: the true value is larger.",
	message_seconds: "CPU time per delivered message.",
	message_bytes: "Bytes per delivered message.",
	window_messages: "Messages of the window.",
	sla_met: "1: every SLA line was met; 0: one was breached.",
};

type Labels = Readonly<Record<string, string>>;

interface Sample {
	readonly family: keyof typeof FAMILIES;
	readonly labels: Labels;
	/** null and undefined are left out. */
	readonly value: number | null | undefined;
}

/** For a search its answer and verdict, not the counts of its runs. */
function samplesOf({ run, search, figures }: Point): Sample[] {
	const counts = search === null ? COUNTS : [];
	return [
		...figures.flatMap(figureSamples),
		...counts.map(
			(count): Sample => ({ family: "window_messages", labels: { count }, value: run[count] }),
		),
		{ family: "sla_met", labels: {}, value: (search ?? run).verdict === "pass" ? 1 : 0 },
	];
}

function figureSamples({ id, unit, metric, value, low, high, atLeast, weak }: Known): Sample[] {
	if (unit === "bytes") return [{ family: "message_bytes", labels: { figure: id }, value }];
	if (TALLIES[id as Tally]?.cost)
		return [{ family: "message_seconds", labels: { figure: id }, value: value / 1e9 }];
	if (unit !== "ns") return [{ family: "rate_messages_per_second", labels: { rate: id }, value }];
	const support = atLeast ? "at-least" : weak ? "weak" : null;
	const mark: Labels = support === null ? {} : { support };
	if (metric === null)
		return [{ family: "time_seconds", labels: { figure: id, ...mark }, value: value / 1e9 }];
	const labels = { metric, statistic: id.split(" ")[1] ?? "", ...mark };
	const seconds = (ns: number | null | undefined) => (ns == null ? null : ns / 1e9);
	return [
		{ family: "latency_seconds", labels, value: seconds(value) },
		{ family: "latency_low_seconds", labels, value: seconds(low) },
		{ family: "latency_high_seconds", labels, value: seconds(high) },
	];
}

function labelsOf({ result, run, search }: Point, own: Labels): string {
	const { system, case: name, repeat } = search ?? run;
	const labels = { scenario: result.scenario, system, case: name, repeat: `${repeat}`, ...own };
	const escaped = (text: string) =>
		text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
	const all = Object.entries(labels).map(([key, value]) => `${key}="${escaped(value)}"`);
	return `{${all.join(",")}}`;
}
