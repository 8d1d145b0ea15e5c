import path from "node:path";
import { largestOf } from "../extremes.ts";
import type { Size, WrittenSize } from "../model/field.ts";
import { CHECKSUM_BYTES, ENVELOPE_BYTES, MOST_BYTES } from "../model/load.ts";
import type { Sizes } from "../model/sizes.ts";
import { formatBytesExact, parseBytes, plural } from "../units.ts";
import type { Surroundings, Wrong } from "./problem.ts";

export type Files = Pick<Surroundings, "folder" | "fileBytes" | "fileText">;
export const NO_FILES: Files = { folder: ".", fileBytes: () => null, fileText: () => "" };
type Report = Wrong<"message">;

/** Undefined if it is wrong, which is reported. */
export function sizeOf(
	written: WrittenSize | undefined,
	checksum: boolean,
	files: Files,
	wrong: Report,
): Size | undefined {
	if (typeof written !== "object" || "aboveLimit" in written) return written;
	if ("median" in written) return lognormal(written, checksum, wrong);
	return "file" in written ? listed(written.file, files, wrong) : shared(written.shares, wrong);
}

// --- internal ---

/** A prime: each of several producers, which take messages in turn, gets all sizes. Shares are exact to one in so many. */
const CYCLE = 262_139;
/** In percent: 26 messages of the cycle. */
const LEAST_SHARE = 0.01;
const MOST_CLASSES = 8;
const MOST_LINES = 100_000;
const MOST_FILE_BYTES = 4 * 1024 ** 2;
/** Steps of a lognormal distribution per octave, 2.2 % from size to size. */
const STEPS = 32;
/** 99th percentile of the normal distribution. */
const Z99 = 2.3263478740408408;
/** Beyond it are fewer than one in CYCLE. */
const Z_MOST = 5.5;

type Shares = Extract<WrittenSize, { shares: unknown }>["shares"];

/** Powers of four are classes if there are many sizes. */
function sizesOf(
	runs: Sizes["runs"],
	kind: Pick<Sizes, "text" | "shuffled"> & Partial<Sizes>,
): Sizes {
	const distinct = new Set(runs.flatMap(([bytes, count]) => (count > 0 ? bytes : [])));
	const largest = largestOf([...distinct]);
	const classOf = (bytes: number) =>
		distinct.size > MOST_CLASSES ? Math.min(largest, 4 ** Math.ceil(Math.log2(bytes) / 2)) : bytes;
	const classes = [...new Set([...distinct].map(classOf))].sort((a, b) => a - b);
	return { clamped: { below: 0, above: 0 }, ...kind, runs, classes };
}

/** Whole numbers that add up to CYCLE: each cumulative share is rounded. */
function counted<T>(upTo: readonly (readonly [T, number])[]): [T, number][] {
	let before = 0;
	return upTo.map(([one, share]) => {
		const count = Math.round(share * CYCLE) - before;
		before += count;
		return [one, count];
	});
}

function shared(shares: Shares, wrong: Report): Sizes | undefined {
	const small = shares.find(({ percent }) => percent < LEAST_SHARE);
	if (small !== undefined)
		return void wrong(["message", small.size], "share-too-small", {
			size: small.size,
			least: LEAST_SHARE,
		});
	let all = 0;
	const upTo = shares.map(({ bytes, percent }) => {
		all += percent;
		return [bytes, all / 100] as const;
	});
	if (Math.abs(all - 100) > 1e-6)
		return void wrong("message", "shares-not-whole", { all: Number(all.toPrecision(6)) });
	const text = shares
		.map(({ bytes, percent }) => `${percent}% ${formatBytesExact(bytes)}`)
		.join(", ");
	return sizesOf(counted(upTo), { text, shuffled: true });
}

/** In steps of equal ratio, of which median and p99 are exactly two; below the least message and above `max` it is clamped. */
function lognormal(
	{ median, p99, max }: Extract<WrittenSize, { median: number }>,
	checksum: boolean,
	wrong: Report,
): Sizes | undefined {
	const least = ENVELOPE_BYTES + (checksum ? CHECKSUM_BYTES : 0);
	const ascending = [least, median, p99, max];
	const at = ascending.findIndex((bytes, i) => bytes < (ascending[i - 1] ?? 0));
	if (at > 0) {
		const names = ["the least message", "median", "p99", "max"];
		const [low, high] = [names[at - 1], names[at]];
		const [lowBytes, highBytes] = [ascending[at - 1], ascending[at]];
		return void wrong("message", "sizes-descend", { low, lowBytes, high, highBytes });
	}
	const steps = Math.max(1, Math.ceil(Math.log2(p99 / median) * STEPS));
	const most = Math.ceil((Z_MOST * steps) / Z99);
	const each = Array.from({ length: 2 * most + 1 }, (_, k) => k - most);
	const size = (k: number) => Math.round(median * (p99 / median) ** (k / steps));
	const upTo = each.map((k) => [k, k === most ? 1 : normal(((k + 0.5) * Z99) / steps)] as const);
	const runs = new Map<number, number>();
	const clamped = { below: 0, above: 0 };
	for (const [k, count] of counted(upTo)) {
		const bytes = size(k);
		if (bytes < least) clamped.below += count;
		if (bytes > max) clamped.above += count;
		const kept = Math.min(Math.max(bytes, least), max);
		if (count > 0) runs.set(kept, (runs.get(kept) ?? 0) + count);
	}
	const text = `median ${formatBytesExact(median)}, p99 ${formatBytesExact(p99)}, max ${formatBytesExact(max)}`;
	return sizesOf([...runs], { text, shuffled: true, clamped });
}

/** The file is a stranger's: nothing of its content is repeated. */
function listed(name: string, { folder, ...files }: Files, wrong: Report): Sizes | undefined {
	const file = path.resolve(folder, name);
	const size = files.fileBytes(file);
	if (size === null) return void wrong(["message", "file"], "sizes-missing", { file: name });
	const lines =
		size === "folder" || size > MOST_FILE_BYTES ? [] : files.fileText(file).split(/\r\n|\n|\r/);
	const runs: Sizes["runs"] = [];
	for (const [i, line] of lines.entries()) {
		const written = line.trim();
		if (written === "") continue;
		const bytes = bytesIn(written);
		if (bytes === null)
			return void wrong(["message", "file"], "sizes-line", {
				file: name,
				line: i + 1,
				leastBytes: ENVELOPE_BYTES,
				mostBytes: MOST_BYTES,
			});
		const last = runs.at(-1);
		if (last?.[0] === bytes) last[1]++;
		else runs.push([bytes, 1]);
	}
	const count = runs.reduce((all, [, times]) => all + times, 0);
	if (count === 0 || count > MOST_LINES)
		return void wrong(["message", "file"], "sizes-in-file", { file: name, most: MOST_LINES });
	return sizesOf(runs, {
		text: `${plural(count, "size")} of ${path.basename(name)}`,
		shuffled: false,
	});
}

/** The normal distribution up to z, by Marsaglia's series ("Evaluating the Normal Distribution", 2004). */
function normal(z: number): number {
	let [sum, term, before] = [z, z, Number.NaN];
	for (let i = 3; sum !== before; i += 2) {
		before = sum;
		term *= (z * z) / i;
		sum += term;
	}
	return 0.5 + (sum * Math.exp((-z * z) / 2)) / Math.sqrt(2 * Math.PI);
}

function bytesIn(written: string): number | null {
	try {
		const bytes = /^\d+$/.test(written) ? Number(written) : parseBytes(written);
		return bytes < ENVELOPE_BYTES || bytes > MOST_BYTES ? null : bytes;
	} catch {
		return null;
	}
}
