import type { Metric, Metrics } from "../model/metrics-file.ts";

/** Prometheus' text format 0.0.4, and what OpenMetrics adds to it. Throws a sentence at the first line that is neither. */
export function parsePrometheus(text: string): Metrics {
	const types = new Map<string, string>();
	const found = new Map<string, Metric>();
	for (const [i, line] of text.split("\n").entries()) {
		const trimmed = line.trim();
		if (trimmed === "") continue;
		if (trimmed.startsWith("#")) {
			const [, name = "", type = ""] = /^#[ \t]+TYPE[ \t]+(\S+)[ \t]+(\w+)$/.exec(trimmed) ?? [];
			types.set(name.startsWith('"') ? unescaped(name.slice(1, -1)) : name, type);
			continue;
		}
		const sample = sampleOf(trimmed);
		if (sample === null) throw new Error(`line ${i + 1} of the answer is not Prometheus text`);
		const { name, labels, value } = sample;
		found.set(name + labels, { value, counter: isCounter(name, types) });
	}
	return found;
}

/** Numbers in JSON, by path: "jetstream.stats.memory". Its fields have no types: `counters` matches those that only grow. */
export function flatten(json: unknown, counters: RegExp): Metrics {
	const found = new Map<string, Metric>();
	const add = (value: unknown, path: string, depth: number) => {
		if (typeof value === "number") found.set(path, { value, counter: counters.test(path) });
		else if (
			typeof value === "object" &&
			value !== null &&
			!Array.isArray(value) &&
			depth < DEEPEST
		)
			for (const [key, part] of Object.entries(value))
				add(part, path === "" ? key : `${path}.${key}`, depth + 1);
	};
	add(json, "", 0);
	return found;
}

// --- internal ---

const DEEPEST = 6;
const QUOTED = String.raw`"(?:\\.|[^"\\])*"`;
/** Name, labels, value, and a timestamp and an exemplar, which do not count. */
const SAMPLE = new RegExp(
	String.raw`^([a-zA-Z_:][\w:]*)?[ \t]*(?:\{((?:[^"}]|${QUOTED})*)\})?[ \t]*([^\s{}"]+)(?:[ \t]+-?[\d.]+)?(?:[ \t]+#.*)?$`,
);
/** A name alone in quotes is the metric's. */
const LABEL = new RegExp(
	String.raw`[ \t]*(?:([a-zA-Z_]\w*|${QUOTED})[ \t]*=[ \t]*)?(${QUOTED})[ \t]*(?:,[ \t]*|$)`,
	"y",
);
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const NO_NUMBER = /^(?:[+-]?inf(?:inity)?|nan)$/i;

function sampleOf(line: string) {
	const [, bare, inBraces = "", number = ""] = SAMPLE.exec(line) ?? [];
	if (!NUMBER.test(number) && !NO_NUMBER.test(number)) return null;
	let name = bare;
	const labels: string[] = [];
	for (LABEL.lastIndex = 0; LABEL.lastIndex < inBraces.length; ) {
		const [, key, quoted = ""] = LABEL.exec(inBraces) ?? [];
		if (quoted === "") return null;
		if (key !== undefined) labels.push(`${key}=${quoted}`);
		else if (name === undefined) name = unescaped(quoted.slice(1, -1));
		else return null;
	}
	if (name === undefined) return null;
	const value = NUMBER.test(number) ? Number(number) : null;
	return { name, labels: labels.length === 0 ? "" : `{${labels.sort().join(",")}}`, value };
}

function unescaped(text: string): string {
	return text.replaceAll(/\\(.)/g, (_, sign) => (sign === "n" ? "\n" : sign));
}

function isCounter(name: string, types: ReadonlyMap<string, string>): boolean {
	const own = types.get(name);
	if (own !== undefined) return own === "counter";
	const [, base = "", part] = /^(.*)_(total|bucket|count|sum)$/s.exec(name) ?? [];
	const type = types.get(base);
	// Untyped: only the name tells.
	if (part === "total") return type === undefined || type === "counter";
	return type === "histogram" || type === "summary";
}
