import { fill, type Names } from "../template.ts";
import { fileMistakes } from "./file-mistakes.ts";
import { loadMistakes } from "./load-mistakes.ts";
import { slaMistakes } from "./sla-mistakes.ts";
import { systemMistakes } from "./system-mistakes.ts";

/** Messages that no result keeps, mistakes above all: code -> sentence, with the names of its values in braces. */
const sentences = { ...fileMistakes, ...loadMistakes, ...slaMistakes, ...systemMistakes } as const;

export type Told = keyof typeof sentences;

export type Telling<C extends Told> =
	Names<(typeof sentences)[C]> extends never
		? []
		: [values: Readonly<Record<Names<(typeof sentences)[C]>, unknown>>];

export function tell<C extends Told>(code: C, ...[values = {}]: Telling<C>): string {
	return fill(sentences[code], values);
}
