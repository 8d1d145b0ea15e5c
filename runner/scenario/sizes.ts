import path from "node:path";
import { largestOf } from "../extremes.ts";
import type { Size } from "../model/field.ts";
import { CHECKSUM_BYTES, ENVELOPE_BYTES, MOST_BYTES, type WrittenSize } from "../model/load.ts";
import type { Sizes } from "../model/sizes.ts";
import { sum } from "../stats/sum.ts";
import { formatBytesExact, parseBytes, plural } from "../units.ts";
import type { Surroundings, Wrong } from "./problem.ts";

export type Files = Pick<Surroundings, "folder" | "fileBytes" | "fileText">;
export const NO_FILES: Files = { folder: ".", fileBytes: () => null, fileText: () => "" };

interface About extends Files {
	readonly leastBytes: number;
	readonly wrong: Wrong<"message">;
}

/** Undefined if it is wrong, which is reported. */
export function sizeOf(
	written: WrittenSize | undefined,
	checksum: boolean,
	files: Files,
	wrong: Wrong<"message">,
): Size | undefined {
	if (typeof written !== "object" || "aboveLimit" in written) return written;
	const about = { ...files, wrong, leastBytes: ENVELOPE_BYTES + (checksum ? CHECKSUM_BYTES : 0) };
	if ("median" in written) return lognormal(written, about);
	return "file" in written ? listed(written.file, about) : shared(written.shares, about);
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
const Z99 = 2.3263478740408408;
/** Beyond it are fewer than one in CYCLE. */
const Z_MOST = 5.5;

/** Powers of four are classes if there are many sizes. */
function sizesOf(
	text: string,
	shuffled: boolean,
	runs: Sizes["runs"],
	clamped = { below: 0, above: 0 },
): Sizes {
	const distinct = [...new Set(runs.flatMap(([bytes, count]) => (count > 0 ? bytes : [])))];
	const largest = largestOf(distinct);
	const power = (bytes: number) => Math.min(largest, 4 ** Math.ceil(Math.log2(bytes) / 2));
	const classes = distinct.length > MOST_CLASSES ? distinct.map(power) : distinct;
	const bytes = sum(runs.map(([own, count]) => own * count));
	return {
		text,
		runs,
		shuffled,
		classes: [...new Set(classes)].sort((a, b) => a - b),
		meanBytes: Math.round(bytes / sum(runs.map(([, count]) => count))),
		clamped,
	};
}

/** From cumulative shares, each rounded, whole numbers that add up to CYCLE. */
function counted(upTo: readonly (readonly [number, number])[]): [number, number][] {
	let before = 0;
	return upTo.map(([one, share]) => {
		const count = Math.round(share * CYCLE) - before;
		before += count;
		return [one, count];
	});
}

function shared(shares: Readonly<Record<string, number>>, { leastBytes, wrong }: About) {
	let all = 0;
	const upTo: [number, number][] = [];
	for (const [size, percent] of Object.entries(shares)) {
		const bytes = bytesIn(size, leastBytes);
		const bounds = { size, leastBytes, mostBytes: MOST_BYTES, least: LEAST_SHARE };
		if (bytes === null) return void wrong(["message", size], "size-of-share", bounds);
		if (percent < LEAST_SHARE) return void wrong(["message", size], "share-too-small", bounds);
		all += percent;
		upTo.push([bytes, all / 100]);
	}
	if (Math.abs(all - 100) > 1e-6)
		return void wrong("message", "shares-not-whole", { all: Number(all.toPrecision(6)) });
	const parts = Object.entries(shares).map(([size, percent]) => `${percent}% ${size.trim()}`);
	return sizesOf(parts.join(", "), true, counted(upTo));
}

/** In steps of equal ratio, of which median and p99 are exactly two; below the least message and above `max` it is clamped. */
function lognormal(
	{ median, p99, max }: Extract<WrittenSize, { median: number }>,
	{ leastBytes, wrong }: About,
) {
	let [low, lowBytes] = ["the least", leastBytes];
	for (const [high, highBytes] of Object.entries({ median, p99, max })) {
		if (lowBytes > highBytes)
			return void wrong("message", "sizes-descend", { low, lowBytes, high, highBytes });
		[low, lowBytes] = [high, highBytes];
	}
	const steps = Math.max(1, Math.ceil(Math.log2(p99 / median) * STEPS));
	const most = Math.ceil((Z_MOST * steps) / Z99);
	const upTo = Array.from({ length: 2 * most + 1 }, (_, k): [number, number] => [
		Math.round(median * (p99 / median) ** ((k - most) / steps)),
		k === 2 * most ? 1 : normal(((k - most + 0.5) * Z99) / steps),
	]);
	const runs = new Map<number, number>();
	const clamped = { below: 0, above: 0 };
	for (const [bytes, count] of counted(upTo)) {
		if (bytes < leastBytes) clamped.below += count;
		if (bytes > max) clamped.above += count;
		const kept = Math.min(Math.max(bytes, leastBytes), max);
		if (count > 0) runs.set(kept, (runs.get(kept) ?? 0) + count);
	}
	const [m, p, x] = [median, p99, max].map(formatBytesExact);
	return sizesOf(`median ${m}, p99 ${p}, max ${x}`, true, [...runs], clamped);
}

/** Nothing of its content is repeated: the file may be anything. */
function listed(name: string, { leastBytes, wrong, ...files }: About) {
	const full = path.resolve(files.folder, name);
	const size = files.fileBytes(full);
	const bounds = { file: name, leastBytes, mostBytes: MOST_BYTES, most: MOST_LINES };
	if (size === null) return void wrong(["message", "file"], "sizes-missing", bounds);
	const text = size === "folder" || size > MOST_FILE_BYTES ? "" : files.fileText(full);
	const runs: Sizes["runs"] = [];
	for (const [i, line] of text.split(/\r\n|\n|\r/).entries()) {
		if (line.trim() === "") continue;
		const bytes = bytesIn(/^\s*\d+\s*$/.test(line) ? `${line.trim()}B` : line, leastBytes);
		if (bytes === null)
			return void wrong(["message", "file"], "sizes-line", { ...bounds, line: i + 1 });
		runs.push([bytes, 1]);
	}
	if (runs.length === 0 || runs.length > MOST_LINES)
		return void wrong(["message", "file"], "sizes-in-file", bounds);
	return sizesOf(`${plural(runs.length, "size")} of ${path.basename(name)}`, false, runs);
}

function bytesIn(written: string, leastBytes: number): number | null {
	try {
		const bytes = parseBytes(written);
		return bytes < leastBytes || bytes > MOST_BYTES ? null : bytes;
	} catch {
		return null;
	}
}

/** The normal distribution up to z, by Marsaglia's series ("Evaluating the Normal Distribution", 2004). */
function normal(z: number): number {
	let [all, term, before] = [z, z, Number.NaN];
	for (let i = 3; all !== before; i += 2) {
		before = all;
		term *= (z * z) / i;
		all += term;
	}
	return 0.5 + (all * Math.exp((-z * z) / 2)) / Math.sqrt(2 * Math.PI);
}
