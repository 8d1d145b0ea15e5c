import type { ResourceLine } from "../model/resource-file.ts";

/**
 * The samples of this machine, with what the broker's nodes on hosts of their own have used until then, all of them together
 * (`resources-broker-<node>.jsonl`). They are sampled at other moments: counters grow evenly in between, and memory is what it was when they were sampled last. Before and after the samples of any of
 * them it is unknown.
 */
export function withBrokers(
	samples: readonly ResourceLine[],
	nodes: readonly (readonly ResourceLine[])[],
): readonly ResourceLine[] {
	if (nodes.length === 0) return samples;
	return samples.map((sample) => ({
		...sample,
		broker: sumOf(nodes.map((node) => usedAt(node, sample.unixMs))),
	}));
}

// --- internal ---

type Usage = NonNullable<ResourceLine["broker"]>;

/** null: nobody has looked at that time. */
function usedAt(samples: readonly ResourceLine[], unixMs: number): Usage | null {
	const next = samples.findIndex((one) => one.unixMs >= unixMs);
	const now = samples[next];
	const before = samples[next - 1] ?? now;
	if (!now?.broker || !before?.broker) return null;
	if (next === 0 && now.unixMs > unixMs) return null;
	const span = now.unixMs - before.unixMs;
	const part = span > 0 ? (unixMs - before.unixMs) / span : 1;
	const between = (a: number | null, b: number | null) =>
		a === null || b === null ? null : Math.round(a + (b - a) * part);
	const [was, is] = [before.broker, now.broker];
	return {
		cpuNs: between(was.cpuNs, is.cpuNs),
		waitNs: between(was.waitNs, is.waitNs),
		// It falls to 0 at once where a node ends: half of it was never there.
		rssBytes: part < 1 ? was.rssBytes : is.rssBytes,
		readBytes: between(was.readBytes, is.readBytes),
		writeBytes: between(was.writeBytes, is.writeBytes),
	};
}

/** A sum without one of them would be a wrong one. */
function sumOf(all: readonly (Usage | null)[]): Usage | null {
	if (all.some((one) => one === null)) return null;
	const sum = (of: (one: Usage) => number | null) =>
		all.reduce<number | null>((total, one) => {
			const value = one === null ? null : of(one);
			return total === null || value === null ? null : total + value;
		}, 0);
	return {
		cpuNs: sum((one) => one.cpuNs),
		waitNs: sum((one) => one.waitNs),
		rssBytes: sum((one) => one.rssBytes),
		readBytes: sum((one) => one.readBytes),
		writeBytes: sum((one) => one.writeBytes),
	};
}
