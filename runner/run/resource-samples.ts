import { readdirSync } from "node:fs";
import { join } from "node:path";
import { sizeOfGiven } from "../given-folder.ts";
import { lines } from "../histogram/log-file.ts";
import { ResourceLine } from "../model/resource-file.ts";
import { lineParser } from "./json.ts";

/** A line that cannot be read ends the file: it may have been cut off. What is missing is unknown. */
export function readSamples(path: string): ResourceLine[] {
	const bytes = sizeOfGiven(path);
	if (bytes === null) return [];
	const samples: ResourceLine[] = [];
	const parse = lineParser(ResourceLine);
	for (const text of lines({ path, bytes })) {
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
): { readonly number: number; readonly samples: ResourceLine[] }[] {
	return readdirSync(folder)
		.flatMap((file) => {
			const number = /^(\d+)\.jsonl$/.exec(file.slice(name.length))?.[1];
			return file.startsWith(name) && number !== undefined
				? [{ file, number: Number(number) }]
				: [];
		})
		.sort((a, b) => a.number - b.number)
		.map(({ file, number }) => ({
			number,
			samples: readSamples(join(folder, file)),
		}));
}
