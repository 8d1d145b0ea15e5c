import { readdirSync } from "node:fs";
import { join } from "node:path";
import { sizeOfGiven } from "../given-folder.ts";
import { lines } from "../histogram/log-file.ts";
import { ResourceLine } from "../model/resource-file.ts";
import { lineParser } from "./json.ts";

/**
 * A line that cannot be read ends the file: it may have been cut off. What is missing is unknown. Of a run whose seconds are recorded several at a
 * time there is a sample for each of those, as counters tell the same.
 */
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

/** Of each file with this name and a number ("resources-2.jsonl"), in their order. */
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
