import type { Metric, Metrics } from "../model/metrics-file.ts";
import { isMap } from "../scenario/place.ts";

/** Prometheus' text format 0.0.4, and what OpenMetrics adds to it; labels as they are written. Throws a sentence at the first line that is neither. */
export function parsePrometheus(text: string): Metrics {
	const types = new Map<string, string>();
	const found = new Map<string, Metric>();
	for (const [i, line] of text.split("\n").entries()) {
		const trimmed = line.trim();
		if (trimmed === "") continue;
		if (trimmed.startsWith("#")) {
			const [, name = "", type = ""] = /^#[ \t]+TYPE[ \t]+(\S+)[ \t]+(\w+)$/.exec(trimmed) ?? [];
			types.set(name, type);
			continue;
		}
		const [, name = "", labels, number = ""] = SAMPLE.exec(trimmed) ?? [];
		if (!NUMBER.test(number) && !NO_NUMBER.test(number))
			throw new Error(`line ${i + 1} of the answer is not Prometheus text`);
		const value = NUMBER.test(number) ? Number(number) : null;
		found.set(labels ? `${name}{${labels}}` : name, { value, counter: isCounter(name, types) });
	}
	return found;
}

/** Numbers in JSON, by path: "jetstream.stats.memory". Its fields have no types: `counters` matches those that only grow. */
export function flatten(json: unknown, counters: RegExp): Metrics {
	const found = new Map<string, Metric>();
	const add = (value: unknown, path: string, depth: number) => {
		if (typeof value === "number") found.set(path, { value, counter: counters.test(path) });
		else if (isMap(value) && depth < DEEPEST)
			for (const [key, part] of Object.entries(value))
				add(part, path === "" ? key : `${path}.${key}`, depth + 1);
	};
	add(json, "", 0);
	return found;
}

// --- internal ---

const DEEPEST = 6;
/** Name, labels, value, and a timestamp and an exemplar, which do not count. */
const SAMPLE =
	/^([a-zA-Z_:][\w:]*)[ \t]*(?:\{((?:[ \t]*[a-zA-Z_]\w*[ \t]*=[ \t]*"(?:\\.|[^"\\])*"[ \t]*(?:,|(?=\})))*)[ \t]*\})?[ \t]*([^\s{}"]+)(?:[ \t]+-?[\d.]+)?(?:[ \t]+#.*)?$/;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const NO_NUMBER = /^(?:[+-]?inf(?:inity)?|nan)$/i;

function isCounter(name: string, types: ReadonlyMap<string, string>): boolean {
	const own = types.get(name);
	if (own !== undefined) return own === "counter";
	const [, base = "", part] = /^(.*)_(total|bucket|count|sum)$/s.exec(name) ?? [];
	const type = types.get(base);
	// Untyped: only the name tells.
	if (part === "total") return type === undefined || type === "counter";
	return type === "histogram" || type === "summary";
}
