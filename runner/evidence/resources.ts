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
export function numberedSamples(
	folder: string,
	name: string,
	seconds: number | undefined,
): { readonly number: number; readonly samples: ResourceLine[] }[] {
	return readdirSync(folder)
		.flatMap((file) => {
			const number = /^(\d+)\.jsonl$/.exec(file.slice(name.length))?.[1];
			return file.startsWith(name) && number !== undefined
				? [{ file, number: Number(number) }]
				: [];
		})
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

/** Null outside the samples. */
function usedAt(samples: readonly ResourceLine[], unixMs: number): Usage | null {
	const next = samples.findIndex((one) => one.unixMs >= unixMs);
	const now = samples[next];
	const before = samples[next - 1] ?? now;
	if (!now?.broker || !before?.broker) return null;
	if (next === 0 && now.unixMs > unixMs) return null;
	const span = now.unixMs - before.unixMs;
	const part = span > 0 ? (unixMs - before.unixMs) / span : 1;
	const [was, is] = [before.broker, now.broker];
	return usageOf((field) =>
		field === "rssBytes"
			? // Memory falls to 0 at once where a node ends: interpolated, half of it was never there.
				(part < 1 ? was : is).rssBytes
			: both(was[field], is[field], (a, b) => Math.round(a + (b - a) * part)),
	);
}
