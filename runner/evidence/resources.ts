import { readdirSync } from "node:fs";
import { join } from "node:path";
import { sizeOfGiven } from "../given-folder.ts";
import { lines } from "../histogram/log-file.ts";
import { ResourceLine, type Usage, usageOf } from "../model/resource-file.ts";
import type { Run } from "../model/result.ts";
import { lineParser } from "./json.ts";

/** Stops at the first unreadable line, which may have been cut off. Where `seconds` are recorded as one, keeps one sample for each. */
export function readSamples(path: string, seconds = 1): ResourceLine[] {
	const bytes = sizeOfGiven(path);
	if (bytes === null) return [];
	const samples: ResourceLine[] = [];
	const parse = lineParser(ResourceLine);
	let nextMs = 0;
	for (const text of lines({ path, bytes })) {
		const atMs = Number(/"unixMs":(\d+)/.exec(text)?.[1]);
		if (seconds > 1 && atMs < nextMs) continue;
		nextMs = atMs + (seconds - 0.5) * 1000;
		const { line } = parse(text);
		if (line === null) break;
		samples.push(line);
	}
	return samples;
}

/** Samples of each file with this name and a number ("resources-2.jsonl"), in order. */
export function numberedSamples(folder: string, name: string, seconds: number | undefined) {
	const form = new RegExp(`^${name}(\\d+)\\.jsonl$`);
	const found = readdirSync(folder).map((file) => ({ file, number: Number(form.exec(file)?.[1]) }));
	return found
		.filter(({ number }) => !Number.isNaN(number))
		.sort((a, b) => a.number - b.number)
		.map(({ file, number }) => ({ number, samples: readSamples(join(folder, file), seconds) }));
}

/** Adds the sum of broker nodes on other hosts, sampled at other moments: counters are interpolated, memory is the last sample's. */
export function withBrokers(
	samples: readonly ResourceLine[],
	nodes: readonly (readonly ResourceLine[])[],
): readonly ResourceLine[] {
	if (nodes.length === 0) return samples;
	return samples.map((sample) => {
		const used = nodes.map((node) => usedAt(node, sample.unixMs));
		// A sum without one of them would be wrong.
		const broker = used.includes(null)
			? null
			: usageOf((field) =>
					used.reduce((sum, one) => both(sum, one?.[field] ?? null, (a, b) => a + b), 0 as Known),
				);
		return { ...sample, broker };
	});
}

/**
 * Growth of a counter between two moments. Null outside the samples, or if unread. `within`: how far off it may be, because it is
 * interpolated between samples, and there load may begin or end: of a part p of the time between two, p (1 - p) counts on the wrong side.
 */
export function grownBetween(
	samples: readonly ResourceLine[],
	[fromMs, toMs]: readonly [number, number],
	counter: (line: ResourceLine) => number | null | undefined,
): { readonly by: number; readonly within: number } | null {
	const at = (unixMs: number) => {
		const { was, is, part } = around(samples, unixMs) ?? {};
		const [a, b] = [was && counter(was), is && counter(is)];
		if (!was || !is || part === undefined || a == null || b == null || b < a) return null;
		const spanMs = is.unixMs - was.unixMs;
		return { value: a + (b - a) * part, spanMs, grew: b - a, off: part * (1 - part) };
	};
	const [from, to] = [at(fromMs), at(toMs)];
	if (from === null || to === null || to.value < from.value) return null;
	const by = to.value - from.value;
	const within = ({ spanMs, grew, off }: typeof from) =>
		off * Math.max(grew, (spanMs * by) / Math.max(1, toMs - fromMs));
	return { by, within: within(from) + within(to) };
}

type Use = Omit<Run["series"]["resources"][number], "at">;

/** Use between two samples, null if they are too close. A counter that fell is null too, because its processes ended or restarted. */
export function useBetween(before: ResourceLine | undefined, now: ResourceLine): Use | null {
	const seconds = before ? (now.unixMs - before.unixMs) / 1000 : 0;
	if (!before || seconds < SHORTEST_S) return null;
	const perSecond = (was: Known, is: Known, unit = 1) =>
		was === null || is === null || is < was
			? null
			: Number(((is - was) / unit / seconds).toPrecision(6));
	const usage = (was: Usage | null, is: Usage | null) =>
		was && is
			? {
					cores: perSecond(was.cpuNs, is.cpuNs, 1e9),
					rssBytes: is.rssBytes,
					readBytesPerSecond: perSecond(was.readBytes, is.readBytes),
					writeBytesPerSecond: perSecond(was.writeBytes, is.writeBytes),
				}
			: null;
	const busy = ({ machine: { cpuNs, idleNs } }: ResourceLine) =>
		both(cpuNs, idleNs, (a, b) => a - b);
	const [was, is] = [before.network, now.network];
	return {
		generator: usage(before.generator, now.generator),
		broker: usage(before.broker, now.broker),
		machine: {
			busyCores: perSecond(busy(before), busy(now), 1e9),
			stealCores: perSecond(before.machine.stealNs, now.machine.stealNs, 1e9),
		},
		network: was &&
			is && {
				rxBytesPerSecond: perSecond(was.rxBytes, is.rxBytes),
				txBytesPerSecond: perSecond(was.txBytes, is.txBytes),
			},
	};
}

// --- internal ---

/** /proc counts CPU in hundredths of a second: over a shorter time it is mostly rounding. */
const SHORTEST_S = 0.1;
type Known = number | null;
function both(a: Known, b: Known, of: (a: number, b: number) => number): Known {
	return a === null || b === null ? null : of(a, b);
}

/** The samples around a moment, and how far it is from the first to the second. Null outside the samples. */
function around(samples: readonly ResourceLine[], unixMs: number) {
	const next = samples.findIndex((one) => one.unixMs >= unixMs);
	const is = samples[next];
	if (is === undefined || (next === 0 && is.unixMs > unixMs)) return null;
	const was = samples[next - 1] ?? is;
	const span = is.unixMs - was.unixMs;
	return { was, is, part: span > 0 ? (unixMs - was.unixMs) / span : 1 };
}

function usedAt(samples: readonly ResourceLine[], unixMs: number): Usage | null {
	const found = around(samples, unixMs);
	if (!found?.was.broker || !found.is.broker) return null;
	const [was, is] = [found.was.broker, found.is.broker];
	return usageOf((field) => {
		// Memory falls to 0 at once where a node ends: interpolated, half of it was never there.
		if (field === "rssBytes") return (found.part < 1 ? was : is).rssBytes;
		return both(was[field], is[field], (a, b) => Math.round(a + (b - a) * found.part));
	});
}
