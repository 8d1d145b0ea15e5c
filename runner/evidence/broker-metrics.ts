import { sizeOfGiven } from "../given-folder.ts";
import { lines } from "../histogram/log-file.ts";
import { MetricsLine } from "../model/metrics-file.ts";
import { lineParser } from "./json.ts";

export interface MetricsSample {
	readonly unixMs: number;
	/** By the number of the series; null and undefined: not there. */
	readonly values: readonly (number | null | undefined)[];
}

/** With samples by node. Null without the file. Stops at the first unreadable line, which may have been cut off. */
export function readBrokerMetrics(path: string) {
	const bytes = sizeOfGiven(path);
	if (bytes === null) return null;
	let show: readonly string[] = [];
	const series: { name: string; counter: boolean }[] = [];
	const samples = new Map<number, MetricsSample[]>();
	const parse = lineParser(MetricsLine);
	for (const text of lines({ path, bytes })) {
		const { line } = parse(text);
		if (line === null) break;
		if (line.type === "show") show = line.names;
		else if (line.type === "series") series.push({ name: line.name, counter: line.counter });
		else {
			const all = samples.get(line.node) ?? [];
			const values = [...(all.at(-1)?.values ?? [])];
			for (const [number, value] of line.values) if (number < series.length) values[number] = value;
			all.push({ unixMs: line.unixMs, values });
			samples.set(line.node, all);
		}
	}
	return { show, series, samples };
}
