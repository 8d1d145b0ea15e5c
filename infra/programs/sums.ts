import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { sha256OfFile } from "../../runner/sha256.ts";

/** The sha256 of files by their name. */
export type Sums = ReadonlyMap<string, string>;

/** A file in the folder with this name is wrong; `found` or `wanted` is null if there is none. */
export interface WrongFile {
	readonly file: string;
	readonly found: string | null;
	readonly wanted: string | null;
}

/** Parses the output of `sha256sum`: a sum and a name in each line. Lines that begin with # are comments. */
export function parseSums(text: string): Sums {
	return new Map(
		[...text.matchAll(/^([0-9a-f]{64}) [ *](.+)$/gm)].map(([, sum = "", file = ""]) => [file, sum]),
	);
}

/** As `sha256sum` prints them, in the order of their names. */
export function formatSums(sums: Sums): string {
	return [...sums]
		.sort(([a], [b]) => (a < b ? -1 : 1))
		.map(([file, sum]) => `${sum}  ${file}\n`)
		.join("");
}

/** Go's hash of these files (golang.org/x/mod/sumdb/dirhash, Hash1). */
export function h1Of(sums: Sums): string {
	return `h1:${createHash("sha256").update(formatSums(sums)).digest("base64")}`;
}

/** For these files of a folder, or all, also of folders in it. */
export async function sumsOf(folder: string, files?: readonly string[]): Promise<Sums> {
	const all = files ?? (await allIn(folder));
	return new Map(
		await Promise.all(
			all.map(async (file) => [file, await sha256OfFile(path.join(folder, file))] as const),
		),
	);
}

/** The first file of a folder that was exchanged, is missing, or does not belong there: Java loads any file next to the jars. */
export async function wrongFile(folder: string, wanted: Sums): Promise<WrongFile | null> {
	const found = await sumsOf(folder);
	const wrong = [...new Set([...wanted.keys(), ...found.keys()])]
		.sort()
		.find((file) => found.get(file) !== wanted.get(file));
	return wrong === undefined
		? null
		: { file: wrong, found: found.get(wrong) ?? null, wanted: wanted.get(wrong) ?? null };
}

// --- internal ---

async function allIn(folder: string): Promise<string[]> {
	const all = await readdir(folder, { recursive: true, withFileTypes: true });
	return all
		.filter((one) => !one.isDirectory())
		.map((one) => path.relative(folder, path.join(one.parentPath, one.name)));
}
