import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sizeOfGiven } from "../given-folder.ts";
import { ResourceLine } from "../model/resource-file.ts";
import { parsed } from "./json.ts";

/** A line that cannot be read ends the file: it may have been cut off. What is missing is unknown. */
export function readSamples(path: string): ResourceLine[] {
	if (sizeOfGiven(path) === null) return [];
	const lines: ResourceLine[] = [];
	for (const text of readFileSync(path, "utf8").split("\n")) {
		const line = ResourceLine.safeParse(parsed(text));
		if (!line.success) break;
		lines.push(line.data);
	}
	return lines;
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
